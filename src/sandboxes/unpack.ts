import { createWriteStream } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { entriesOf } from "./tar.ts";

/** Limits of a site. */
const SITE_LIMITS = { bytes: 512 * 1024 * 1024, files: 20_000 } as const;

/** A site is too large. The message is for users. */
export class SiteError extends Error {
  override readonly name = "SiteError";
}

/**
 * Extracts the files of a tar into a folder, atomically. Links, devices and paths outside the folder are skipped.
 * @throws SiteError when it is too large; what the source throws
 */
export async function unpack(
  source: AsyncIterable<Uint8Array>,
  folder: string,
  limits: { bytes: number; files: number } = SITE_LIMITS,
): Promise<void> {
  const staging = `${folder}.new`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true, mode: 0o700 });
  let files = 0;
  let bytes = 0;
  const count = (piece: Uint8Array) => {
    bytes += piece.length;
    if (bytes > limits.bytes) throw new SiteError(`The site has more than ${limits.bytes / 1024 ** 2} MiB.`);
  };
  try {
    for await (const { header, pieces } of entriesOf(source)) {
      const path = header.type === "file" ? insideOf(header.name) : null;
      if (path === null) {
        for await (const piece of pieces) count(piece);
        continue;
      }
      files++;
      if (files > limits.files) throw new SiteError(`The site has more than ${limits.files} files.`);
      const target = join(staging, path);
      await mkdir(dirname(target), { recursive: true });
      await pipeline(counted(pieces, count), createWriteStream(target, { mode: 0o600 }));
    }
    await rm(folder, { recursive: true, force: true });
    await rename(staging, folder);
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
}

/** The relative path of a tar's entry; null for a path outside the folder. */
function insideOf(name: string): string | null {
  const parts = name.split("/").filter((part) => part !== "" && part !== ".");
  return parts.length === 0 || parts.includes("..") || name.includes("\0") ? null : parts.join("/");
}

async function* counted(
  pieces: AsyncIterable<Uint8Array>,
  count: (piece: Uint8Array) => void,
): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    count(piece);
    yield piece;
  }
}
