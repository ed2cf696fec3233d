import { FormatError, parseFormat, viewOf } from "./bytes.ts";

/** Bun's data in a program ends with a table of 32 bytes and this text. */
const END = Buffer.from("\n---- Bun! ----\n");
const TABLE_BYTES = 32;
/** In that table: the size of the data, and where in it the list of modules begins and how long it is. */
const [DATA_SIZE_AT, MODULES_AT, MODULES_SIZE_AT] = [0, 8, 12];
/** A module: six pairs of offset and size, then flags; the third pair is the source map. */
const [MODULE_BYTES, MAP_AT] = [52, 16];
/** A source map begins with the number of sources and the size of the mappings, then has a pair for each name and each text. */
const [MAP_HEADER_BYTES, PAIR_BYTES] = [8, 8];
const ZSTD_MAGIC = 0xfd2fb528;
/** zstd of nothing (RFC 8878): one segment of 0 bytes, whose only block is empty. */
const EMPTY_ZSTD = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, 0, 1, 0, 0]);

/**
 * Empties the texts of the sources in the source maps of a compiled program, which are a tenth of its archive. Stack traces
 * keep their files and lines: these are in the mappings. The layout is that of the pinned Bun.
 * @returns a copy of the program, as long as it was
 * @throws FormatError
 */
export function withoutSourceTexts(program: Uint8Array): Uint8Array {
  return parseFormat("program of Bun", () => {
    const bytes = Buffer.from(program);
    const end = bytes.lastIndexOf(END);
    if (end < 0) throw new FormatError("not a program of Bun");
    const table = end - TABLE_BYTES;
    const base = table - bytes.readUInt32LE(table + DATA_SIZE_AT);
    const modules = base + bytes.readUInt32LE(table + MODULES_AT);
    const size = bytes.readUInt32LE(table + MODULES_SIZE_AT);
    if (size % MODULE_BYTES !== 0) throw new FormatError("the modules of Bun's data have another size");
    for (let at = modules; at < modules + size; at += MODULE_BYTES) {
      const start = base + bytes.readUInt32LE(at + MAP_AT);
      const length = bytes.readUInt32LE(at + MAP_AT + 4);
      if (length > 0) emptyTexts(bytes.subarray(start, start + length));
    }
    return bytes;
  });
}

function emptyTexts(map: Buffer): void {
  const view = viewOf(map);
  const sources = view.getUint32(0, true);
  const pairs = MAP_HEADER_BYTES + sources * PAIR_BYTES;
  for (let at = pairs; at < pairs + sources * PAIR_BYTES; at += PAIR_BYTES) {
    const start = view.getUint32(at, true);
    const length = view.getUint32(at + 4, true);
    if (view.getUint32(start, true) !== ZSTD_MAGIC || start + length > map.length)
      throw new FormatError("a source map has another layout");
    map.fill(0, start, start + length);
    EMPTY_ZSTD.copy(map, start);
    view.setUint32(at + 4, EMPTY_ZSTD.length, true);
  }
}
