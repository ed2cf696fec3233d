import { constants } from "node:fs";
import { lstat, open, realpath } from "node:fs/promises";
import { basename, join, sep } from "node:path";
import { systemCode } from "../../failure.ts";

/** What stands where a file is to be written. */
export type Found =
  | { state: "missing" /** Where it goes, with no link on the way. */; target: string }
  | { state: "same"; target: string }
  | { state: "other"; target: string; text: string }
  /** Nothing can be written there, or had better be. A sentence's end, which begins with the path. */
  | { state: "blocked"; why: string };

/** Larger than anything that svc writes, by far: what it says is not looked at. */
const TEXT_MAX_BYTES = 1024 * 1024;

/**
 * Looks where a file is to be written. No link is followed that leads out of `root`, and none is replaced.
 * @param root a real path
 * @param path below it, with `/`
 */
export async function look(root: string, path: string, text: string): Promise<Found> {
  try {
    const folder = await realFolder(root, path);
    if (folder.blocked !== undefined) return { state: "blocked", why: folder.blocked };
    return await lookAt(root, path, join(folder.real, basename(path)), text);
  } catch (error) {
    return { state: "blocked", why: `${path} cannot be looked at (${systemCode(error) ?? "unknown error"})` };
  }
}

/** The folder that the file goes into, as far as it is there without a link, and the rest as it will be made. */
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
      const led = await realpath(next).catch(() => null);
      if (led === null) return { blocked: `${shown} is a symbolic link that leads nowhere` };
      if (!isWithin(root, led)) return { blocked: `${shown} is a symbolic link that leads out of ${root}` };
      real = led;
      if ((await lstat(real)).isDirectory()) continue;
    } else if (entry.isDirectory()) {
      real = next;
      continue;
    }
    return { blocked: `${shown} is no folder` };
  }
  return { real };
}

async function lookAt(root: string, path: string, target: string, text: string): Promise<Found> {
  const entry = await entryOf(target);
  if (entry === null) return { state: "missing", target };
  if (entry.isSymbolicLink()) {
    const led = await realpath(target).catch(() => null);
    const isSame = led !== null && isWithin(root, led) && (await readText(led)) === text;
    return isSame ? { state: "same", target } : { state: "blocked", why: `${path} is a symbolic link` };
  }
  if (!entry.isFile()) return { state: "blocked", why: `${path} is no plain file` };
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

/** A file's text with plain line endings, as git may have changed them; its beginning, where it is large. */
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
