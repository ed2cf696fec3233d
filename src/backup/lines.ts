import { DamagedError } from "./format.ts";

/** A row with its longest columns; a few megabytes are the largest that svc writes. */
const LINE_MAX_BYTES = 256 * 1024 * 1024;

/** The lines of a stream of UTF-8, without their ends. */
export async function* linesOf(content: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    let start = 0;
    for (let end = piece.indexOf(0x0a); end >= 0; end = piece.indexOf(0x0a, start)) {
      yield Buffer.concat([...pieces, piece.subarray(start, end)]).toString("utf8");
      [pieces, size, start] = [[], 0, end + 1];
    }
    if (start === piece.byteLength) continue;
    pieces.push(piece.subarray(start));
    size += piece.byteLength - start;
    if (size > LINE_MAX_BYTES) throw new DamagedError("it has a row that is too long");
  }
  if (size > 0) yield Buffer.concat(pieces).toString("utf8");
}
