import type { DiffEntry } from "../git.ts";

export interface RawReader {
  /** The files so far; counts are 0 and filled in by the patch reader. */
  files: DiffEntry[];
  /** git's letter for each: A, D, M, R, or T (its kind changed: file, symbolic link, submodule). */
  kinds: string[];
  /** The list has ended; what follows is the patch. */
  done: boolean;
  /** There are more than `maxFiles`. */
  truncated: boolean;
  /** @returns what follows the list; empty before it has ended */
  take(chunk: Uint8Array): Uint8Array;
}

/**
 * Reads `--raw -z`: `:<modes and ids> <letter> NUL <path> NUL`, and one more NUL before the patch. A renamed file has a score
 * after the letter, and two paths.
 */
export function createRawReader(maxFiles: number): RawReader {
  let pending: Buffer = Buffer.alloc(0);
  const reader: RawReader = { files: [], kinds: [], done: false, truncated: false, take };
  return reader;

  function take(chunk: Uint8Array): Uint8Array {
    const bytes = pending.length > 0 ? Buffer.concat([pending, chunk]) : Buffer.from(chunk);
    let at = 0;
    while (at < bytes.length) {
      if (bytes[at] === 0) {
        reader.done = true;
        pending = Buffer.alloc(0);
        return bytes.subarray(at + 1);
      }
      const fieldEnd = bytes.indexOf(0, at);
      const firstEnd = fieldEnd < 0 ? -1 : bytes.indexOf(0, fieldEnd + 1);
      if (firstEnd < 0) break;
      const kind = String.fromCharCode(bytes[bytes.lastIndexOf(SPACE, fieldEnd) + 1] ?? 0);
      const pathEnd = kind === RENAMED ? bytes.indexOf(0, firstEnd + 1) : firstEnd;
      if (pathEnd < 0) break;
      if (reader.files.length >= maxFiles) {
        reader.truncated = true;
        break;
      }
      const first = Uint8Array.from(bytes.subarray(fieldEnd + 1, firstEnd));
      reader.files.push({
        ...(kind === RENAMED
          ? { path: Uint8Array.from(bytes.subarray(firstEnd + 1, pathEnd)), from: first }
          : { path: first }),
        status: STATUS[kind] ?? "modified",
        additions: 0,
        deletions: 0,
        binary: false,
      });
      reader.kinds.push(kind);
      at = pathEnd + 1;
    }
    pending = bytes.subarray(at);
    return new Uint8Array();
  }
}

const SPACE = 0x20;
const RENAMED = "R";

const STATUS: Record<string, DiffEntry["status"]> = {
  A: "added",
  D: "deleted",
  M: "modified",
  T: "modified",
  R: "renamed",
};
