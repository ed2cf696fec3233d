/**
 * Changes after which the program does the same, or nothing that a user could see: the path, and the line as it
 * becomes. Each block says why.
 */
export const SAME: ReadonlySet<string> = new Set([
  // a chunk's size is read before its content is counted
  "src/splice/body.ts: let left = 1;",
]);
