/** The largest chunk of LZMA2 without compression. */
const CHUNK_BYTES_MAX = 65_536;
/** LZMA2 without compression: the first chunk resets the dictionary, the others continue. */
const [FIRST_CHUNK, NEXT_CHUNK, END_OF_CHUNKS] = [1, 2, 0];
/** Check: CRC32. */
const STREAM_FLAGS = [0, 1];
/** One filter, LZMA2, with the smallest dictionary; the header has 12 bytes. */
const BLOCK_HEADER = [2, 0, 0x21, 1, 0, 0, 0, 0];

/**
 * Writes bytes as an xz file without compressing them, which takes no time: for trying a release.
 * Source: the .xz file format, version 1.2.1.
 */
export function storeAsXz(bytes: Uint8Array): Buffer {
  const flags = Buffer.from(STREAM_FLAGS);
  const header = Buffer.concat([Buffer.from("\xfd7zXZ\0", "latin1"), flags, crc32(flags)]);
  const blockHeader = Buffer.from(BLOCK_HEADER);
  const data = Buffer.concat([blockHeader, crc32(blockHeader), ...chunksOf(bytes)]);
  const check = crc32(bytes);
  const records = Buffer.concat([
    Buffer.from([0, 1]),
    variable(data.length + check.length),
    variable(bytes.length),
  ]);
  const index = padded(records);
  const size = Buffer.alloc(4);
  size.writeUInt32LE((index.length + 4) / 4 - 1);
  const footer = Buffer.concat([crc32(Buffer.concat([size, flags])), size, flags, Buffer.from("YZ")]);
  return Buffer.concat([header, padded(data), check, index, crc32(index), footer]);
}

function* chunksOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES_MAX) {
    const chunk = bytes.subarray(at, at + CHUNK_BYTES_MAX);
    const size = chunk.length - 1;
    yield Buffer.from([at === 0 ? FIRST_CHUNK : NEXT_CHUNK, size >> 8, size & 0xff]);
    yield chunk;
  }
  yield Buffer.from([END_OF_CHUNKS]);
}

function crc32(bytes: Uint8Array): Buffer {
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(Bun.hash.crc32(bytes));
  return sum;
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

/** Seven bits a byte, the lowest first; a set high bit means that another follows. */
function variable(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
