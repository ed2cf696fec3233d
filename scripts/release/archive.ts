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

/** How to compress: for everything that unpacks xz, or smaller for one kind of code. */
export type Compression = "common" | "x64" | "arm64";

/** What the default of the xz command uses, `-6`: the "normal" mode, binary trees of 4 bytes, matches of 64 bytes. */
const SEARCH = { mode: 2, mf: 0x14, niceLen: 64 };
/** Larger than the repeated parts of a program are apart. Decoding takes this much memory; busybox allows no more. */
const LARGE_DICTIONARY = 64 * 1024 ** 2;
/**
 * "common" is the default of the xz command. The filter for x86 makes the targets of calls absolute; busybox lacks it, and
 * the xz of Ubuntu 22.04 lacks the one for ARM64, whose instructions are aligned to 4 bytes.
 */
const FILTERS: Readonly<Record<Compression, readonly object[]>> = {
  common: [lzma2({ dictSize: 8 * 1024 ** 2 })],
  x64: [{ id: lzma.FILTER_X86 }, lzma2({ dictSize: LARGE_DICTIONARY })],
  arm64: [lzma2({ dictSize: LARGE_DICTIONARY, lc: 2, lp: 2, pb: 2 })],
};
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
export async function xz(bytes: Buffer, compression: Compression): Promise<Buffer> {
  const filters = FILTERS[compression];
  const key = createHash("sha256")
    .update(`${lzma.versionString()} ${JSON.stringify(filters)}\0`)
    .update(bytes);
  const cached = join(CACHE, `${key.digest("hex")}.xz`);
  if (existsSync(cached)) return Buffer.from(await Bun.file(cached).bytes());
  const encoder = lzma.createStream("streamEncoder", { filters, check: lzma.CHECK_CRC32 });
  const output = buffer(encoder);
  encoder.end(bytes);
  const compressed = await output;
  mkdirSync(CACHE, { recursive: true });
  await Bun.write(`${cached}.${process.pid}`, compressed);
  renameSync(`${cached}.${process.pid}`, cached);
  return compressed;
}

/** Compresses without a name, a time or a system in the header. */
export function gzip(bytes: Uint8Array, level = 9): Buffer {
  const output = gzipSync(bytes, { level });
  output[GZIP_SYSTEM_AT] = GZIP_SYSTEM_UNKNOWN;
  return output;
}

function lzma2(options: Readonly<Record<string, number>>): object {
  return { id: lzma.FILTER_LZMA2, options: { ...SEARCH, ...options } };
}
