import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync } from "node:fs";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import lzma from "lzma-native";
import { pack } from "tar-stream";
import { ROOT } from "../binaries.ts";

/** A file of an archive; `linkTo` is the name of an earlier file that this one is a hard link to. */
export type ArchiveFile = { name: string; isProgram: boolean } & ({ bytes: Uint8Array } | { linkTo: string });

/** The default of the xz command. */
const PRESET = 6;
/** Archives that were compressed before, by their contents: an unchanged program is not compressed again. */
const CACHE = join(ROOT, "node_modules/.cache/svc/release");
/** The byte of gzip's header that names the system, and "unknown" (RFC 1952, 2.3.1). */
const [GZIP_SYSTEM_AT, GZIP_SYSTEM_UNKNOWN] = [9, 255];

/** A tar that depends only on the names and contents of its files: no times, no owners. */
export async function tar(files: readonly ArchiveFile[]): Promise<Buffer> {
  const archive = pack();
  const bytes = buffer(archive);
  for (const file of files) {
    const header = {
      name: file.name,
      mode: file.isProgram ? 0o755 : 0o644,
      mtime: new Date(0),
      uid: 0,
      gid: 0,
    };
    if ("linkTo" in file) archive.entry({ ...header, type: "link", linkname: file.linkTo });
    else archive.entry(header, Buffer.from(file.bytes));
  }
  archive.finalize();
  return bytes;
}

/** Compresses with the pinned liblzma, so that equal inputs give equal bytes on every machine. */
export async function xz(bytes: Buffer): Promise<Buffer> {
  const key = createHash("sha256").update(`${lzma.versionString()} ${PRESET}\0`).update(bytes).digest("hex");
  const cached = join(CACHE, `${key}.xz`);
  if (existsSync(cached)) return Buffer.from(await Bun.file(cached).bytes());
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  lzma.compress(bytes, { preset: PRESET, threads: 1 }, (output, error) =>
    output ? resolve(output) : reject(error),
  );
  const output = await promise;
  mkdirSync(CACHE, { recursive: true });
  await Bun.write(`${cached}.${process.pid}`, output);
  renameSync(`${cached}.${process.pid}`, cached);
  return output;
}

/** Compresses without a name, a time or a system in the header. */
export function gzip(bytes: Uint8Array, level = 9): Buffer {
  const output = gzipSync(bytes, { level });
  output[GZIP_SYSTEM_AT] = GZIP_SYSTEM_UNKNOWN;
  return output;
}
