/**
 * Changes after which the program does the same, or nothing that a user could see: the path, and the line as it
 * becomes. Each block says why.
 */
export const SAME: ReadonlySet<string> = new Set([
  // a chunk's size is read before its content is counted
  "src/splice/body.ts: let left = 1;",
  // how much of a long line is awaited before it is read; what it says stands before that
  "src/git/patch.ts: const WHOLE_HEAD_BYTES = 9 * PATH_MAX_BYTES + HEAD_BYTES;",
  "src/git/patch.ts: if (lineEnd < 0 && stop - at <= headBytes) break;",
]);
