import { createHash } from "node:crypto";

/** The hexadecimal digits at the end of a message's id in the runtime. */
const END_DIGITS = 14;

/** The end of the id that a prompt's message has in the runtime, by which it is found there. */
export function messageEndOf(promptId: string): string {
  return createHash("sha256").update(promptId).digest("hex").slice(0, END_DIGITS);
}
