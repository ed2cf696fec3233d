/** Git's framing: four hex digits of length, then that many bytes less four (gitprotocol-common, "pkt-line format"). */

export const FLUSH: Uint8Array = Buffer.from("0000");

/** Bytes that one packet can carry. */
const PAYLOAD_MAX = 65_516;

/** @throws RangeError past 65,516 bytes */
export function packet(payload: string | Uint8Array): Uint8Array {
  const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
  if (bytes.byteLength > PAYLOAD_MAX) throw new RangeError("a packet holds at most 65,516 bytes");
  const length = (bytes.byteLength + 4).toString(16).padStart(4, "0");
  return Buffer.concat([Buffer.from(length), bytes]);
}

/** What goes into a side band (gitprotocol-capabilities, "side-band-64k"): 1 is the answer, 2 is progress for the user. */
export function banded(band: 1 | 2, bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  for (let at = 0; at < bytes.byteLength; at += PAYLOAD_MAX - 1) {
    parts.push(packet(Buffer.concat([Buffer.from([band]), bytes.subarray(at, at + PAYLOAD_MAX - 1)])));
  }
  return Buffer.concat(parts);
}

/** An empty packet of the answer, which keeps the connection alive. */
export const KEEP_ALIVE: Uint8Array = packet(Buffer.from([1]));

/** Length of the next packet with its four digits; below 4 for a flush or another special packet; null when they are invalid. */
export function packetLength(digits: Uint8Array): number | null {
  const text = Buffer.from(digits).toString("latin1");
  return /^[0-9a-f]{4}$/i.test(text) ? Number.parseInt(text, 16) : null;
}
