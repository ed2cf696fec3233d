import { copyFile, link, mkdir, open, rename, rm, rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { CliError, systemCode } from "../../failure.ts";
import { oneLine } from "../../text.ts";

export interface Write {
  target: string;
  text: string;
  /** Whether a file that is there gives way. */
  replaces: boolean;
}

/**
 * Writes all of the files, or none: each beside its place first, then all into their places. A file that has come
 * meanwhile is not overwritten.
 * @throws CliError `file`, and everything is as it was
 */
export async function writeAll(writes: readonly Write[]): Promise<void> {
  const mark = `.svc-${crypto.randomUUID().slice(0, 8)}`;
  /** What takes back each step so far. */
  const undo: (() => Promise<unknown>)[] = [];
  let at = "";
  try {
    for (const { target, text } of writes) {
      at = target;
      await makeFolder(dirname(target), undo);
      undo.push(() => rm(`${target}${mark}`, { force: true }));
      await writeNew(`${target}${mark}`, text);
    }
    for (const write of writes) {
      at = write.target;
      await place(write, mark, undo);
    }
  } catch (error) {
    for (const step of undo.reverse()) await step().catch(() => {});
    throw cannotWrite(at, error);
  }
  await Promise.all(writes.map(({ target }) => rm(`${target}${mark}.old`, { force: true })));
}

async function makeFolder(path: string, undo: (() => Promise<unknown>)[]): Promise<void> {
  try {
    await mkdir(path);
    // one that holds something else by then stays
    undo.push(() => rmdir(path));
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST") return;
    if (code !== "ENOENT") throw error;
    await makeFolder(dirname(path), undo);
    await makeFolder(path, undo);
  }
}

async function writeNew(path: string, text: string): Promise<void> {
  const file = await open(path, "wx", 0o644);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function place(
  { target, replaces }: Write,
  mark: string,
  undo: (() => Promise<unknown>)[],
): Promise<void> {
  const [staged, old] = [`${target}${mark}`, `${target}${mark}.old`];
  if (replaces) {
    undo.push(() => rm(old, { force: true }));
    await copyFile(target, old);
    await rename(staged, target);
    undo.push(() => rename(old, target));
    return;
  }
  try {
    await link(staged, target);
    undo.push(() => rm(target, { force: true }));
    await rm(staged);
  } catch (error) {
    // a file system without links
    if (systemCode(error) === "EEXIST") throw error;
    await rename(staged, target);
    undo.push(() => rm(target, { force: true }));
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "it is on a read-only file system",
  EACCES: "you may not write there",
  EPERM: "you may not write there",
  EEXIST: "a file of this name has just been made",
};

function cannotWrite(path: string, error: unknown): CliError {
  const code = systemCode(error) ?? "unknown error";
  const why = REASONS[code] ?? code;
  return new CliError("file", `${oneLine(path)} cannot be written: ${why}. Nothing was changed.`);
}
