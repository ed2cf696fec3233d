import { entriesOf } from "../sandboxes/tar.ts";
import {
  CHECKSUMS_PART,
  CHUNK_BYTES,
  type Checksums,
  DamagedError,
  parseChecksums,
  parseEntryName,
  SMALL_PART_MAX_BYTES,
} from "./format.ts";

interface Chunk {
  part: string;
  bytes: Uint8Array;
}

/** Parts in one archive, so that their list stays small. */
const PARTS_MAX = 1_000_000;

/**
 * Reads an archive from beginning to end, and compares the checksum of every part.
 * @param take reads one part; it must not keep its effects unless this function returns
 * @throws DamagedError with the name of the damaged part; what the source and `take` throw
 */
export async function readArchive(
  source: AsyncIterable<Uint8Array>,
  take: (part: string, content: AsyncIterable<Uint8Array>) => Promise<void>,
): Promise<void> {
  const chunks = chunksOf(source);
  const found: Checksums["parts"] = [];
  let isEnded = false;
  try {
    let next = await chunks.next();
    while (!next.done) {
      const { part } = next.value;
      if (found.length >= PARTS_MAX || isEnded) throw new DamagedError("it has parts after its end");
      const hash = new Bun.CryptoHasher("sha256");
      let size = 0;
      const content = (async function* () {
        while (!next.done && next.value.part === part) {
          const { bytes } = next.value;
          hash.update(bytes);
          size += bytes.byteLength;
          if (bytes.byteLength > 0) yield bytes;
          next = await chunks.next();
        }
      })();
      if (part === CHECKSUMS_PART) compare(found, parseChecksums(await collect(part, content)));
      else await take(part, content);
      for await (const _ of content) {
        // a part that is not read is still compared
      }
      isEnded = part === CHECKSUMS_PART;
      found.push({ name: part, bytes: size, sha256: hash.digest("hex") });
    }
  } finally {
    await chunks.return(undefined);
  }
  if (!isEnded) throw new DamagedError("its end is missing");
}

/** The content of a small part. */
export async function collect(part: string, content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of content) {
    size += piece.byteLength;
    if (size > SMALL_PART_MAX_BYTES) throw new DamagedError(`"${part}" is too large`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function compare(found: Checksums["parts"], { parts }: Checksums): void {
  for (const [index, part] of found.entries()) {
    const expected = parts[index];
    if (expected?.name !== part.name)
      throw new DamagedError(`"${part.name}" is not in its list of checksums`);
    if (expected.bytes !== part.bytes || expected.sha256 !== part.sha256)
      throw new DamagedError(`the checksum of "${part.name}" does not match`);
  }
  const missing = parts[found.length];
  if (missing) throw new DamagedError(`"${missing.name}" is missing`);
}

/** The entries of the tar: regular files with the names that svc writes, in the order of their numbers. */
async function* chunksOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<Chunk> {
  const failure: { cause?: unknown } = {};
  let [last, count] = ["", 0];
  try {
    for await (const { header, pieces } of entriesOf(remember(source, failure))) {
      const name = parseEntryName(header.name);
      const { type, size = 0 } = header;
      if (!name || type !== "file" || size > CHUNK_BYTES)
        throw new DamagedError("it has an entry that is not a part of a backup");
      count = name.part === last ? count + 1 : 1;
      if (name.index !== count) throw new DamagedError(`"${name.part}" is not complete`);
      last = name.part;
      const read: Uint8Array[] = [];
      for await (const piece of pieces) read.push(piece);
      yield { part: name.part, bytes: Buffer.concat(read) };
    }
  } catch (error) {
    if ("cause" in failure) throw failure.cause;
    throw error instanceof DamagedError ? error : new DamagedError("it ends too early, or is not a tar");
  }
}

/** The reader of the tar would report an error of the source as its own. */
async function* remember(
  source: AsyncIterable<Uint8Array>,
  failure: { cause?: unknown },
): AsyncGenerator<Uint8Array> {
  try {
    yield* source;
  } catch (error) {
    failure.cause = error;
    throw error;
  }
}
