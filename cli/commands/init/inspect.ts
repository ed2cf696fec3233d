import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { systemCode } from "../../failure.ts";

/** The state of the path of a file that is to be written. */
export type Found =
  | { state: "missing" /** The path, with symbolic links resolved. */; target: string }
  | { state: "same"; target: string }
  | { state: "other"; target: string; text: string }
  /** The file cannot or must not be written. `why` starts with the path. */
  | { state: "blocked"; why: string };

/** Larger than any file that svc writes: the rest is not read. */
const TEXT_MAX_BYTES = 1024 * 1024;

/**
 * Inspects the path of a file that is to be written. Symbolic links out of `root` are not followed, and none is replaced.
 * @param root a real path
 * @param path below it, with `/`
 */
export async function inspect(root: string, path: string, text: string): Promise<Found> {
  try {
    const folder = await realFolder(root, path);
    if (folder.blocked !== undefined) return { state: "blocked", why: folder.blocked };
    return await inspectFile(root, path, join(folder.real, basename(path)), text);
  } catch (error) {
    return { state: "blocked", why: `${path} cannot be read (${systemCode(error) ?? "unknown error"})` };
  }
}

/** The real path of the file's folder; folders that do not exist are appended. */
async function realFolder(
  root: string,
  path: string,
): Promise<{ real: string; blocked?: never } | { blocked: string }> {
  let real = root;
  let shown = "";
  for (const name of path.split("/").slice(0, -1)) {
    shown = shown === "" ? name : `${shown}/${name}`;
    const next = join(real, name);
    const entry = await entryOf(next);
    if (entry === null) {
      real = next;
      continue;
    }
    if (entry.isSymbolicLink()) {
      const resolved = await realpath(next).catch(() => null);
      if (resolved === null) return { blocked: `${shown} is a broken symbolic link` };
      if (!isWithin(root, resolved)) return { blocked: `${shown} is a symbolic link out of ${root}` };
      real = resolved;
      if ((await lstat(real)).isDirectory()) continue;
    } else if (entry.isDirectory()) {
      real = next;
      continue;
    }
    return { blocked: `${shown} is not a folder` };
  }
  return { real };
}

async function inspectFile(root: string, path: string, target: string, text: string): Promise<Found> {
  const entry = await entryOf(target);
  if (entry === null) return { state: "missing", target };
  if (entry.isSymbolicLink()) {
    const resolved = await realpath(target).catch(() => null);
    const isSame = resolved !== null && isWithin(root, resolved) && (await readText(resolved)) === text;
    return isSame ? { state: "same", target } : { state: "blocked", why: `${path} is a symbolic link` };
  }
  if (!entry.isFile()) return { state: "blocked", why: `${path} is not a regular file` };
  const there = await readText(target);
  return there === text ? { state: "same", target } : { state: "other", target, text: there };
}

async function entryOf(path: string) {
  try {
    return await lstat(path);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw error;
  }
}

const isWithin = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith(sep) ? root : `${root}${sep}`);

/** A file's text with LF line endings, because git may have converted them; only the start of a large file. */
async function readText(path: string): Promise<string> {
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(TEXT_MAX_BYTES), 0);
    return buffer.toString("utf8", 0, bytesRead).replaceAll("\r\n", "\n");
  } finally {
    await file.close();
  }
}
