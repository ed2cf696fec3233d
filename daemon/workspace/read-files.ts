import { constants, lstatSync } from "node:fs";
import { open, readdir } from "node:fs/promises";
import type { DaemonFilePart, DaemonFolder, DaemonNotRead } from "../../src/contract/daemon.ts";
import { FOLDER_ENTRIES_MAX } from "../../src/contract/limits.ts";

/** Entries whose type is looked up, so that folders come first. Those of a larger folder are in the order of their names. */
const LOOKED_UP_MAX = 50_000;
const PIECE_BYTES = 128 * 1024;

class NotRead extends Error {
  readonly reason: DaemonNotRead["error"];

  constructor(reason: DaemonNotRead["error"]) {
    super(reason);
    this.reason = reason;
  }
}

/**
 * `svc-agent read-workspace folder|file <workspace> <path> [<from> <to>]`: prints a line of JSON, and the bytes of a file. The
 * path is in base64. The daemon runs it as the agent, whose files these are. No symbolic link is followed, and nothing but
 * files and folders is opened.
 * @returns the exit status
 */
export async function runReadWorkspace(words: readonly string[]): Promise<number> {
  const [verb, root = "", path = "", from = "0", to = ""] = words;
  try {
    const place = find(Buffer.from(root), Buffer.from(path, "base64"));
    if (verb === "folder") await print(await readFolder(place));
    else await printFile(place, Number(from), to === "" ? null : Number(to));
    return 0;
  } catch (error) {
    await print({ error: reasonOf(error) } satisfies DaemonNotRead);
    return 1;
  }
}

async function print(line: DaemonFolder | DaemonFilePart | DaemonNotRead): Promise<void> {
  await Bun.write(Bun.stdout, `${JSON.stringify(line)}\n`);
}

function reasonOf(error: unknown): DaemonNotRead["error"] {
  if (error instanceof NotRead) return error.reason;
  const code = error instanceof Error && "code" in error ? error.code : "";
  // a path through something that is no folder, or is a link
  if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENAMETOOLONG")
    return "not_found";
  return "unreadable";
}

/** The place of a path below the root, to which only folders lead. @throws NotRead, or an error of the system */
function find(root: Buffer, path: Buffer): Buffer {
  let place = root;
  const parts = path.length === 0 ? [] : path.toString("latin1").split("/");
  for (const [at, part] of parts.entries()) {
    if (["", ".", ".."].includes(part) || part.includes("\0")) throw new NotRead("not_found");
    if (at > 0 && !lstatSync(place).isDirectory()) throw new NotRead("not_found");
    place = join(place, Buffer.from(part, "latin1"));
  }
  return place;
}

function join(folder: Buffer, name: Uint8Array): Buffer {
  return Buffer.concat([folder, Buffer.from("/"), name]);
}

interface Entry {
  name: Buffer;
  type: string;
  size: number | null;
}

async function readFolder(place: Buffer): Promise<DaemonFolder> {
  if (!lstatSync(place).isDirectory()) throw new NotRead("not_a_folder");
  const names = (await readdir(place, { encoding: "buffer" }))
    .map((name) => Buffer.from(name))
    .filter((name) => name.toString("latin1") !== ".git")
    .toSorted(Buffer.compare);
  const isLarge = names.length > LOOKED_UP_MAX;
  const looked = names.slice(0, isLarge ? FOLDER_ENTRIES_MAX : LOOKED_UP_MAX);
  const entries = looked.flatMap((name) => lookUp(place, name) ?? []);
  const folders = entries.filter(({ type }) => type === "directory");
  const ordered = isLarge ? entries : [...folders, ...entries.filter(({ type }) => type !== "directory")];
  const shown = ordered.slice(0, FOLDER_ENTRIES_MAX);
  return {
    entries: shown.map(({ name, type, size }) => [name.toString("base64"), type, size]),
    more: names.length - looked.length + ordered.length - shown.length,
  };
}

/** Null: it has been removed meanwhile. */
function lookUp(folder: Buffer, name: Buffer): Entry | null {
  const stats = lstatSync(join(folder, name), { throwIfNoEntry: false });
  if (!stats) return null;
  if (stats.isFile()) return { name, type: "file", size: stats.size };
  return {
    name,
    type: stats.isDirectory() ? "directory" : stats.isSymbolicLink() ? "symlink" : "other",
    size: null,
  };
}

/** Opening a pipe or a device may wait or have effects, so it is looked at before, and again once it is open. */
async function printFile(place: Buffer, from: number, to: number | null): Promise<void> {
  if (!lstatSync(place).isFile()) throw new NotRead("not_a_file");
  const file = await open(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new NotRead("not_a_file");
    const { size } = stats;
    // a part that begins after the end is not there: the whole file is
    const first = from < size ? from : 0;
    const end = from < size && to !== null ? Math.min(to + 1, size) : size;
    await print({ size, from: first, to: end });
    const output = Bun.stdout.writer();
    const piece = Buffer.alloc(PIECE_BYTES);
    for (let at = first; at < end; ) {
      const { bytesRead } = await file.read(piece, 0, Math.min(piece.length, end - at), at);
      // it has become shorter: the reader notices
      if (bytesRead === 0) break;
      output.write(piece.subarray(0, bytesRead));
      await output.flush();
      at += bytesRead;
    }
    await output.end();
  } finally {
    await file.close();
  }
}
