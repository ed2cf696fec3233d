import { chmod, lchown, mkdir, open, symlink, utimes } from "node:fs/promises";
import type { Header } from "tar-stream";
import { isRoot, UNPRIVILEGED } from "../sandboxes/local/bubblewrap.ts";
import { entriesOf } from "../sandboxes/tar.ts";
import { DamagedError } from "./format.ts";

/** Errors of a name that is there twice, or whose folder is not there. */
const MISPLACED = ["EEXIST", "ENOENT", "ENOTDIR", "EISDIR"];

/**
 * Extracts what `packVolume` packed into a new folder, for the user of sandboxes. Links come last, so that nothing is written
 * through one.
 * @throws DamagedError for an entry that svc never writes
 */
export async function unpackVolume(source: AsyncIterable<Uint8Array>, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await own(folder);
  const folders: { path: Buffer; mode: number }[] = [];
  const links: { path: Buffer; target: Buffer }[] = [];
  for await (const { header, pieces } of entriesOf(source)) {
    const path = pathOf(folder, header);
    const mode = (header.mode ?? 0) & 0o777;
    if (header.type === "directory") {
      await placed(header, mkdir(path, { mode: 0o700 }));
      await own(path);
      folders.push({ path, mode });
    } else if (header.type === "file") {
      await placed(header, write(path, pieces));
      await own(path);
      await chmod(path, mode);
      if (header.mtime) await utimes(path, header.mtime, header.mtime);
    } else if (header.type === "symlink" && isBytes(header.linkname ?? "")) {
      links.push({ path, target: Buffer.from(header.linkname ?? "", "latin1") });
    } else throw notOurs(header);
    for await (const _ of pieces) {
      // folders and links have no content
    }
  }
  for (const { path, target } of links) {
    await symlink(target, path);
    await own(path);
  }
  for (const { path, mode } of folders.reverse()) await chmod(path, mode);
}

/** @throws DamagedError for a path that leaves the folder */
function pathOf(folder: string, header: Header): Buffer {
  const { name } = header;
  // tars end the names of folders with a slash
  const parts = name.replace(/\/$/, "").split("/");
  if (!isBytes(name) || parts.some((part) => part === "" || part === "." || part === ".."))
    throw notOurs(header);
  return Buffer.concat([Buffer.from(`${folder}/`), Buffer.from(parts.join("/"), "latin1")]);
}

function isBytes(text: string): boolean {
  return /^[\x01-\xff]+$/.test(text);
}

async function write(path: Buffer, pieces: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    for await (const piece of pieces) await file.writeFile(piece);
  } finally {
    await file.close();
  }
}

async function placed(header: Header, work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), "code");
    if (typeof code === "string" && MISPLACED.includes(code)) throw notOurs(header);
    throw error;
  }
}

function notOurs({ name }: Header): DamagedError {
  return new DamagedError(
    `a volume has an entry that svc does not write: ${JSON.stringify(name.slice(0, 200))}`,
  );
}

async function own(path: Buffer | string): Promise<void> {
  if (isRoot()) await lchown(path, UNPRIVILEGED, UNPRIVILEGED);
}
