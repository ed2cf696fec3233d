/** Length in bytes of UTF-8, the unit of the server's limits. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
