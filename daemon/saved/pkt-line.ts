import { SaveError } from "./save-error.ts";

/** Encodes pkt-lines, with a flush packet at the end (gitprotocol-common, "pkt-line format"). */
export function encodePktLines(payloads: readonly string[]): Uint8Array {
  const framed = payloads.map((payload) => {
    const bytes = Buffer.from(payload);
    return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
  });
  return Buffer.concat([...framed, Buffer.from("0000")]);
}

/** Parses pkt-lines into payloads, without flush packets. @throws SaveError */
export function parsePktLines(bytes: Buffer): string[] {
  const payloads: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const digits = bytes.toString("latin1", at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (length === 0) at += 4;
    else if (length >= 4 && at + length <= bytes.length) {
      payloads.push(bytes.toString("latin1", at + 4, at + length));
      at += length;
    } else throw new SaveError("svc's git gateway returned an invalid response.");
  }
  return payloads;
}
