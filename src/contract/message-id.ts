/** Of the time, as the runtime writes it: milliseconds × 4096, the lowest 48 bits. */
const TIME_BITS = 48;
const STEPS_PER_MS = 4096n;

/**
 * An id for a message to the agent runtime, by which it takes a prompt once, however often it is said. The runtime
 * compares ids to know what came after what: one that is not of now, made when the prompt is sent, may leave the run
 * hanging after its first tool call.
 * @param now milliseconds since 1970 by the runtime's clock: an id of its future leaves the run hanging, too
 * @param end 14 hexadecimal digits, by which it is known again
 */
export function newMessageId(now: number, end = randomHex(7)): string {
  const time = BigInt.asUintN(TIME_BITS, BigInt(now) * STEPS_PER_MS);
  return `msg_${time.toString(16).padStart(TIME_BITS / 4, "0")}${end}`;
}

function randomHex(bytes: number): string {
  const random = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(random, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
