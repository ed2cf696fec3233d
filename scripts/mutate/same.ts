/**
 * Changes after which the program does the same, or nothing that a user could see: the path, and the line as it
 * becomes. Each block says why.
 */
export const SAME: ReadonlySet<string> = new Set([]);
