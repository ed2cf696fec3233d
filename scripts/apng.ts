import { crc32 } from "node:zlib";

/** A picture of a moving one. */
export interface Frame {
  /** A PNG that is not interlaced. */
  png: Uint8Array;
  /** How long it is shown. */
  ms: number;
}

interface Chunk {
  type: string;
  data: Uint8Array;
}

/** Bytes before the first chunk. */
const SIGNATURE = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** Type, sequence number of frame, etc.: the length of an fcTL chunk. */
const CONTROL_BYTES = 26;

/**
 * Joins PNGs to one that moves (APNG, PNG Third Edition, 11.3.5), which repeats for ever. Their compressed pixels are
 * copied as they are.
 * @throws RangeError if they differ in size or format
 */
export function animate(frames: readonly Frame[]): Uint8Array {
  const chunks = frames.map(({ png }) => readChunks(png));
  const header = chunks[0]?.find(({ type }) => type === "IHDR")?.data;
  if (!header) throw new RangeError("no frames");
  const out: Chunk[] = [{ type: "IHDR", data: header }];
  out.push({ type: "acTL", data: numbers(frames.length, 0) });
  let sequence = 0;
  for (const [at, { ms }] of frames.entries()) {
    const of = chunks[at] ?? [];
    if (!Buffer.from(header).equals(of.find(({ type }) => type === "IHDR")?.data ?? new Uint8Array())) {
      throw new RangeError(`frame ${at} has another size or format than the first`);
    }
    out.push({ type: "fcTL", data: control(sequence++, header, ms) });
    for (const { type, data } of of) {
      if (type !== "IDAT") continue;
      if (at === 0) out.push({ type, data });
      else out.push({ type: "fdAT", data: Buffer.concat([numbers(sequence++), data]) });
    }
  }
  out.push({ type: "IEND", data: new Uint8Array() });
  return Buffer.concat([SIGNATURE, ...out.map(encode)]);
}

export function readChunks(png: Uint8Array): Chunk[] {
  const bytes = Buffer.from(png);
  if (!bytes.subarray(0, SIGNATURE.length).equals(SIGNATURE)) throw new RangeError("not a PNG");
  const chunks: Chunk[] = [];
  for (let at = SIGNATURE.length; at < bytes.length; ) {
    const length = bytes.readUInt32BE(at);
    chunks.push({
      type: bytes.toString("latin1", at + 4, at + 8),
      data: bytes.subarray(at + 8, at + 8 + length),
    });
    at += length + 12;
  }
  return chunks;
}

function encode({ type, data }: Chunk): Uint8Array {
  const typed = Buffer.concat([Buffer.from(type, "latin1"), data]);
  return Buffer.concat([numbers(data.length), typed, numbers(crc32(typed))]);
}

/** A whole picture at the top left, which replaces the one before. */
function control(sequence: number, header: Uint8Array, ms: number): Uint8Array {
  const size = Buffer.from(header).subarray(0, 8);
  const data = Buffer.alloc(CONTROL_BYTES);
  data.writeUInt32BE(sequence, 0);
  size.copy(data, 4);
  data.writeUInt16BE(ms, 20);
  data.writeUInt16BE(1000, 22);
  return data;
}

function numbers(...values: number[]): Buffer {
  const data = Buffer.alloc(values.length * 4);
  for (const [at, value] of values.entries()) data.writeUInt32BE(value, at * 4);
  return data;
}
