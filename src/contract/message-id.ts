/** The time in an id of the runtime: milliseconds × 4096, the lowest 48 bits. */
const TIME_BITS = 48;
const STEPS_PER_MS = 4096n;

/**
 * Creates an id for a message to the agent runtime, which accepts each id only once, so that a prompt can be resent. The
 * runtime orders messages by id: create the id when the prompt is sent, because with an older one the run may hang after
 * its first tool call.
 * @param now milliseconds since 1970 by the runtime's clock: with an id from its future the run hangs, too
 * @param end 14 hexadecimal digits that identify the message
 */
export function newMessageId(now: number, end = randomHex(7)): string {
  const time = BigInt.asUintN(TIME_BITS, BigInt(now) * STEPS_PER_MS);
  return `msg_${time.toString(16).padStart(TIME_BITS / 4, "0")}${end}`;
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
