/** The length of a text in UTF-8, which is what the server's limits count. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
