import { SvcError } from "./errors.ts";

/** What the system says of a disk, or a quota, that has no room left. */
const WORDS = /no space left on device|disk quota exceeded/i;

/** Whether the words of a program say that the disk is full. */
export function saysDiskFull(words: string): boolean {
  return WORDS.test(words);
}

/** The answer to a request that could not be stored. */
export function diskFull(): SvcError {
  return new SvcError(
    "disk_full",
    "The server's disk is full, so nothing was stored. Try again when an operator has freed space.",
  );
}
