import { SvcError } from "../../contract/errors.ts";
import type { Mirror } from "../mirror/mirror.ts";
import type { Engine } from "../run/engine.ts";
import type { Objects } from "./objects.ts";
import { findEntry } from "./tree.ts";

/**
 * The bytes of a regular file of a commit; null when the path is missing or is a directory, symbolic link or submodule.
 * @throws SvcError `merge_engine_failed` when it is larger than `maxBytes`
 */
export async function readCommitFile(
  engine: Engine,
  mirror: Mirror,
  commit: string,
  path: string,
  maxBytes: number,
): Promise<Uint8Array | null> {
  if (!isPlainPath(path)) return null;
  const entry = await findEntry(engine, mirror, commit, Buffer.from(path));
  if (entry?.type !== "file" || entry.size === null) return null;
  if (entry.size > maxBytes) {
    throw new SvcError("merge_engine_failed", `The file ${path} is larger than ${maxBytes} bytes.`);
  }
  return await mirror.objects.contents(entry.id);
}

/**
 * Whether a directory of a commit holds a regular file of this name: `cat-file` shows a symbolic link as a blob too,
 * so the tree's own entry decides. Paths are bytes in latin1.
 */
export async function isPlainFile(
  objects: Objects,
  commit: string,
  directory: string,
  name: string,
): Promise<boolean> {
  const tree = Buffer.from((await objects.contents(`${commit}:${directory}`)) ?? []);
  const idLength = commit.length / 2;
  for (let at = 0; at < tree.length; ) {
    const end = tree.indexOf(0, at);
    if (end < 0) return false;
    const entry = tree.toString("latin1", at, end);
    const space = entry.indexOf(" ");
    if (entry.slice(space + 1) === name) return PLAIN_FILE_MODE.test(entry.slice(0, space));
    at = end + 1 + idLength;
  }
  return false;
}

/** Whether git reads a path relative to the root of a commit (not `./x`), and any file system can hold it. */
export function isPlainPath(path: string): boolean {
  return (
    path.split("/").every((part) => !["", ".", ".."].includes(part) && !/^\.git$/i.test(part)) &&
    !path.includes("\0")
  );
}

const PLAIN_FILE_MODE = /^100[0-7]{3}$/;
