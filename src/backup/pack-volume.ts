import { constants } from "node:fs";
import { type FileHandle, lstat, open, readdir, readlink } from "node:fs/promises";
import type { Pack } from "tar-stream";
import { writeEntry } from "../sandboxes/tar.ts";

/** Levels of folders: each keeps a file descriptor open. Deeper ones are left out. */
const DEPTH_MAX = 200;
const PIECE_BYTES = 256 * 1024;
const SLASH = Buffer.from("/");
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Packs the folders, files and symbolic links of a volume, while its program may change them: a name is any bytes, and each
 * folder is read through its descriptor, so that a link that takes its place does not lead out of the volume.
 */
export async function packVolume(tar: Pack, folder: string): Promise<void> {
  await packFolder(tar, Buffer.from(folder), [], 0);
  tar.finalize();
}

async function packFolder(tar: Pack, path: Buffer, name: Buffer[], depth: number): Promise<void> {
  const handle = await openIfThere(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (handle === null) return;
  try {
    const at = process.platform === "linux" ? Buffer.from(`/proc/self/fd/${handle.fd}`) : path;
    for (const entry of (await readdir(at, { encoding: "buffer" })).sort(Buffer.compare))
      await packEntry(tar, Buffer.concat([at, SLASH, entry]), [...name, entry], depth);
  } finally {
    await handle.close();
  }
}

async function packEntry(tar: Pack, path: Buffer, name: Buffer[], depth: number): Promise<void> {
  const found = await lstat(path).catch(() => null);
  if (found === null) return;
  // one character for each byte: a tar has text
  const header = { name: nameOf(name), mode: found.mode & 0o777, mtime: found.mtime };
  if (found.isDirectory()) {
    tar.entry({ ...header, type: "directory" });
    if (depth < DEPTH_MAX) await packFolder(tar, path, name, depth + 1);
  } else if (found.isSymbolicLink()) {
    const target = await readlink(path, { encoding: "buffer" }).catch(() => null);
    if (target) tar.entry({ ...header, type: "symlink", linkname: target.toString("latin1") });
  } else if (found.isFile()) await packFile(tar, path, header);
}

function nameOf(parts: Buffer[]): string {
  return parts.map((part) => part.toString("latin1")).join("/");
}

async function packFile(
  tar: Pack,
  path: Buffer,
  header: { name: string; mode: number; mtime: Date },
): Promise<void> {
  // a pipe that takes its place does not block
  const handle = await openIfThere(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  if (handle === null) return;
  try {
    const found = await handle.stat();
    if (found.isFile()) await writeEntry(tar, { ...header, size: found.size }, exactly(handle, found.size));
  } finally {
    await handle.close();
  }
}

/** So many bytes of a file: zeros if it is shorter by now. */
async function* exactly(handle: FileHandle, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < size; ) {
    const piece = Buffer.alloc(Math.min(PIECE_BYTES, size - at));
    const { bytesRead } = await handle.read(piece, 0, piece.length, at);
    const read = bytesRead === 0 ? piece : piece.subarray(0, bytesRead);
    at += read.length;
    yield read;
  }
}

/** @returns null for what was removed or replaced meanwhile */
async function openIfThere(path: Buffer, flags: number): Promise<FileHandle | null> {
  return await open(path, flags).catch(() => null);
}
