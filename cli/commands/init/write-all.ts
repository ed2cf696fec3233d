import { copyFile, link, mkdir, open, rename, rm, rmdir } from "node:fs/promises";
import { dirname } from "node:path";
import { CliError, systemCode } from "../../failure.ts";
import { oneLine } from "../../text.ts";

export interface Write {
  target: string;
  text: string;
  /** Whether it replaces an existing file. */
  replaces: boolean;
}

/**
 * Writes all of the files or none: first under temporary names, then renamed. A file that was created in the meantime is not
 * overwritten.
 * @throws CliError `file`, after a rollback
 */
export async function writeAll(writes: readonly Write[]): Promise<void> {
  const mark = `.svc-${crypto.randomUUID().slice(0, 8)}`;
  /** Reverts each step so far. */
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
    // fails if the folder has other files by then
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
    // the file system has no hard links
    if (systemCode(error) === "EEXIST") throw error;
    await rename(staged, target);
    undo.push(() => rm(target, { force: true }));
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "it is on a read-only file system",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EEXIST: "a file of this name was just created",
};

function cannotWrite(path: string, error: unknown): CliError {
  const code = systemCode(error) ?? "unknown error";
  const why = REASONS[code] ?? code;
  return new CliError("file", `${oneLine(path)} cannot be written: ${why}. Nothing was changed.`);
}
