/** What tells a terminal how to show text (ECMA-48): colours, cursors, titles. A page shows the text alone. */
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

export const withoutColours = (text: string): string => text.replace(SEQUENCES, "");
