import { SvcError } from "./errors.ts";

/** Messages of the system about a full disk or quota. */
const WORDS = /no space left on device|disk quota exceeded/i;
/** Error codes of the system, SQLite and Postgres (disk_full) for the same. */
const CODES: ReadonlySet<unknown> = new Set(["ENOSPC", "EDQUOT", "SQLITE_FULL", "53100"]);
/** ENOSPC and EDQUOT in WebAssembly. The file system of the embedded database throws these, not an `Error`. */
const WASM_ERRNOS: ReadonlySet<unknown> = new Set([51, 19]);
/** Limits a cycle of causes. */
const CAUSES_MAX = 8;

/** The reason for a rejected push. */
export const DISK_FULL = "the server's disk is full: try again when an operator has freed space";

/** Whether the output of a program says that the disk is full. */
export function isDiskFullMessage(output: string): boolean {
  return WORDS.test(output);
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

/** The error for a request that cannot be stored. */
export function diskFull(): SvcError {
  return new SvcError(
    "disk_full",
    "The server's disk is full, so nothing was stored. Try again when an operator has freed space.",
  );
}
