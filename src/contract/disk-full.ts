import { SvcError } from "./errors.ts";

/** What the system says of a disk, or a quota, that has no room left. */
const WORDS = /no space left on device|disk quota exceeded/i;
/** The same as the code of an error of the system, of SQLite and of Postgres (disk_full). */
const CODES: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "SQLITE_FULL", "53100"]);
/** ENOSPC and EDQUOT as WebAssembly counts them: the embedded database's file system throws these, and no `Error`. */
const WASM_ERRNOS: ReadonlySet<unknown> = new Set([51, 19]);
/** Errors that wrap each other more often than this are a circle. */
const CAUSES_MAX = 8;

/** Why something was not taken, as a pusher reads it. */
export const DISK_FULL = "the server's disk is full: try again when an operator has freed space";

/** Whether the words of a program say that the disk is full. */
export function saysDiskFull(words: string): boolean {
  return WORDS.test(words);
}

/** Whether an error, or one of its causes, comes from a full disk. */
export function isDiskFull(error: unknown): boolean {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && typeof cause === "object" && cause !== null; depth++) {
    if (CODES.has(Reflect.get(cause, "code"))) return true;
    if (Reflect.get(cause, "name") === "ErrnoError" && WASM_ERRNOS.has(Reflect.get(cause, "errno")))
      return true;
    cause = Reflect.get(cause, "cause");
  }
  return false;
}

/** The answer to a request that could not be stored. */
export function diskFull(): SvcError {
  return new SvcError(
    "disk_full",
    "The server's disk is full, so nothing was stored. Try again when an operator has freed space.",
  );
}
