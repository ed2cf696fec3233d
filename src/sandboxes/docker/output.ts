/**
 * Decodes the output of a container without a terminal: frames of eight bytes (stream, three zeros, length in big endian)
 * and the text (Engine API, "Attach to a container", Stream format).
 * @returns the last `maxBytes` at most
 */
export function outputOf(framed: Uint8Array, maxBytes: number): Buffer {
  const bytes = Buffer.from(framed.buffer, framed.byteOffset, framed.byteLength);
  const pieces: Buffer[] = [];
  for (let at = 0; at + HEADER_BYTES <= bytes.length; ) {
    const length = bytes.readUInt32BE(at + 4);
    pieces.push(bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + length));
    at += HEADER_BYTES + length;
  }
  const whole = Buffer.concat(pieces);
  return whole.subarray(Math.max(0, whole.length - maxBytes));
}

export function textOf(framed: Uint8Array, maxBytes: number): string {
  return outputOf(framed, maxBytes).toString("utf8");
}

const HEADER_BYTES = 8;

/**
 * Reads a log until it contains a word or ends, and then closes it.
 * @returns what was read, at most about `maxBytes`
 */
export async function readUntil(
  stream: NodeJS.ReadableStream,
  word: string,
  maxBytes: number,
): Promise<string> {
  let framed = Buffer.alloc(0);
  for await (const piece of stream) {
    framed = Buffer.concat([framed, Buffer.from(piece)]);
    if (framed.includes(word) || framed.length > maxBytes) break;
  }
  return textOf(framed, maxBytes);
}
