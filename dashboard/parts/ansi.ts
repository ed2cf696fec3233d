/** Control sequences of a terminal (ECMA-48): colours, cursor movements, titles. A page shows only the text. */
const SEQUENCES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\^_])/g;

export const withoutColours = (text: string): string => text.replace(SEQUENCES, "");
