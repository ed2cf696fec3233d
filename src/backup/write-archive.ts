import { pack } from "tar-stream";
import { streamOf, writeEntry } from "../sandboxes/tar.ts";
import { CHECKSUMS_PART, CHUNK_BYTES, type Checksums, entryName } from "./format.ts";

/** Adds one part. */
export type AddPart = (
  name: string,
  content: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
) => Promise<void>;

/**
 * Writes an archive: a tar whose entries are chunks of parts, with the checksums of all parts at the end. An archive
 * without that end is not complete.
 * @param compose adds the parts; the archive is produced no faster than it is read
 */
export async function* writeArchive(compose: (add: AddPart) => Promise<void>): AsyncGenerator<Uint8Array> {
  const tar = pack();
  const checksums: Checksums = { parts: [] };
  const add: AddPart = async (name, content) => {
    const hash = new Bun.CryptoHasher("sha256");
    let [bytes, index] = [0, 0];
    for await (const chunk of chunksOf(content)) {
      hash.update(chunk);
      bytes += chunk.byteLength;
      const header = { name: entryName(name, ++index), size: chunk.byteLength, mode: 0o600 };
      await writeEntry(tar, header, once(chunk));
    }
    checksums.parts.push({ name, bytes, sha256: hash.digest("hex") });
  };
  const composed = (async () => {
    await compose(add);
    await add(CHECKSUMS_PART, [`${JSON.stringify(checksums)}\n`]);
    tar.finalize();
  })();
  composed.catch((error: unknown) => tar.destroy(error instanceof Error ? error : new Error(String(error))));
  try {
    yield* streamOf(tar);
    await composed;
  } finally {
    tar.destroy();
    await composed.catch(() => {});
  }
}

/** Pieces of the full size, but for the last. An empty content is one empty piece, so that the part exists. */
async function* chunksOf(
  content: AsyncIterable<Uint8Array | string> | Iterable<Uint8Array | string>,
): AsyncGenerator<Uint8Array> {
  let [pieces, size, isEmpty]: [Uint8Array[], number, boolean] = [[], 0, true];
  for await (const piece of content) {
    for (let rest = typeof piece === "string" ? Buffer.from(piece) : piece; rest.byteLength > 0; ) {
      const taken = rest.subarray(0, CHUNK_BYTES - size);
      pieces.push(taken);
      size += taken.byteLength;
      rest = rest.subarray(taken.byteLength);
      if (size < CHUNK_BYTES) continue;
      yield Buffer.concat(pieces);
      [pieces, size, isEmpty] = [[], 0, false];
    }
  }
  if (size > 0 || isEmpty) yield Buffer.concat(pieces);
}

async function* once(chunk: Uint8Array): AsyncGenerator<Uint8Array> {
  yield chunk;
}
