import { createReadStream, createWriteStream, type WriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { entriesOf } from "../tar.ts";
import { InstallError } from "./install-error.ts";
import type { Package } from "./packages.ts";

/** Between two chunks of a download. */
const STALL_MS = 30_000;
const TRIES = 3;
const BACKOFF_MS = 2_000;

/** Downloads a package from a registry, with retries. @throws InstallError; the signal's reason */
export async function fetchPackage(
  registry: string,
  pack: Package,
  file: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const url = `${registry}/${pack.name}/-/${pack.name.split("/").at(-1)}-${pack.version}.tgz`;
  for (let left = TRIES; ; left--) {
    try {
      return await download(url, pack, file, signal, onBytes);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof InstallError || left <= 1) throw error;
      await Bun.sleep(BACKOFF_MS);
    }
  }
}

/** @throws InstallError when the registry has no such package, or one with another digest */
async function download(
  url: string,
  pack: Package,
  file: string,
  signal: AbortSignal,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const stalled = new AbortController();
  let timer = setTimeout(() => stalled.abort(), STALL_MS);
  const out = createWriteStream(file);
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, stalled.signal]) });
    if (response.status === 404 || response.status === 410)
      throw new InstallError(`${new URL(url).host} has no ${pack.name} ${pack.version}.`);
    if (!response.ok || !response.body) throw new Error(`HTTP status ${response.status}`);
    const hash = new Bun.CryptoHasher("sha512");
    let bytes = 0;
    for await (const piece of response.body) {
      clearTimeout(timer);
      timer = setTimeout(() => stalled.abort(), STALL_MS);
      bytes += piece.length;
      if (bytes > pack.bytes) break;
      hash.update(piece);
      await write(out, piece);
      onBytes(bytes);
    }
    if (bytes < pack.bytes) throw new Error("the response is incomplete");
    if (`sha512-${hash.digest("base64")}` !== pack.integrity)
      throw new InstallError(
        `${pack.name} ${pack.version} from ${new URL(url).host} is not the package that svc was built for. It was deleted.`,
      );
  } catch (error) {
    if (stalled.signal.aborted) throw new Error("timed out");
    throw error;
  } finally {
    clearTimeout(timer);
    await new Promise((closed) => out.end(closed));
  }
}

async function write(out: WriteStream, piece: Uint8Array): Promise<void> {
  await new Promise<void>((resolve, reject) =>
    out.write(piece, (error) => (error ? reject(error) : resolve())),
  );
}

/** Extracts the files of a tarball from npm, which are in one top-level folder. @throws InstallError */
export async function unpack(file: string, into: string): Promise<void> {
  const source = createReadStream(file).pipe(createGunzip());
  for await (const { header, pieces } of entriesOf(source)) {
    const path = header.name.split("/").slice(1);
    const isWanted = header.type === "file" && !header.name.endsWith(".map");
    if (path.some((part) => ["", ".", ".."].includes(part) || part.includes("\\")))
      throw new InstallError("A package contains a file with an invalid name.");
    if (!isWanted) {
      for await (const _ of pieces);
      continue;
    }
    const target = join(into, ...path);
    await mkdir(dirname(target), { recursive: true });
    const mode = (header.mode ?? 0) & 0o100 ? 0o755 : 0o644;
    await pipeline(pieces, createWriteStream(target, { mode }));
  }
}
