import { Readable } from "node:stream";
import { extract, type Header, type Pack } from "tar-stream";

/** An entry of a tar. It must be read to its end before the next one. */
export interface TarEntry {
  header: Header;
  pieces: AsyncIterable<Uint8Array>;
}

/** Reads a tar as a stream. @throws what the source throws; an Error when it is not a tar */
export async function* entriesOf(source: AsyncIterable<Uint8Array>): AsyncGenerator<TarEntry> {
  const reader = extract();
  const feeding = feed(source, reader).catch((error: Error) => reader.destroy(error));
  for await (const entry of reader) yield { header: entry.header, pieces: bytesOf(entry) };
  await feeding;
}

/** @returns null when the text is longer than `maxBytes` */
export async function textOf(pieces: AsyncIterable<Uint8Array>, maxBytes: number): Promise<string | null> {
  const read: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > maxBytes) return null;
    read.push(piece);
  }
  return Buffer.concat(read).toString("utf8");
}

/** Writes one entry from a stream. @throws when the tar is destroyed meanwhile */
export async function writeEntry(
  tar: Pack,
  header: Parameters<Pack["entry"]>[0],
  pieces: AsyncIterable<Uint8Array>,
): Promise<void> {
  const { promise: written, resolve, reject } = Promise.withResolvers<void>();
  const sink = tar.entry(header, (error) => (error ? reject(error) : resolve()));
  await Promise.race([feed(pieces, sink), written]);
  await written;
}

/** A tar as a stream of Node. */
export function streamOf(tar: Pack): Readable {
  return Readable.from(bytesOf(tar), { objectMode: false });
}

type Sink = Pick<ReturnType<Pack["entry"]>, "write" | "end" | "once" | "off">;

async function feed(pieces: AsyncIterable<Uint8Array>, sink: Sink): Promise<void> {
  for await (const piece of pieces) if (!sink.write(piece)) await drained(sink);
  sink.end(null);
}

/** Waits for `drain`. A closed stream emits none, so this rejects on `close`. */
async function drained(sink: Sink): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onClose = () => reject(new Error("the stream has ended"));
  sink.once("drain", resolve);
  sink.once("close", onClose);
  await promise.finally(() => {
    sink.off("drain", resolve);
    sink.off("close", onClose);
  });
}

async function* bytesOf(stream: AsyncIterable<unknown>): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) if (piece instanceof Uint8Array) yield piece;
}
