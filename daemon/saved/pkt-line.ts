import { SaveError } from "./save-error.ts";

/** Packets with a flush behind them (gitprotocol-common, "pkt-line format"). */
export function encodePktLines(payloads: readonly string[]): Uint8Array {
  const framed = payloads.map((payload) => {
    const bytes = Buffer.from(payload);
    return Buffer.concat([Buffer.from((bytes.length + 4).toString(16).padStart(4, "0")), bytes]);
  });
  return Buffer.concat([...framed, Buffer.from("0000")]);
}

/** The payloads of packets, without the flushes. @throws SaveError */
export function parsePktLines(bytes: Buffer): string[] {
  const payloads: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const digits = bytes.toString("latin1", at, at + 4);
    const length = /^[0-9a-f]{4}$/i.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
    if (length === 0) at += 4;
    else if (length >= 4 && at + length <= bytes.length) {
      payloads.push(bytes.toString("latin1", at + 4, at + length));
      at += length;
    } else throw new SaveError("svc's git gateway does not answer as git does.");
  }
  return payloads;
}
