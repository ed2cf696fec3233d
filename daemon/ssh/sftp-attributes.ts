import { constants, type Stats } from "node:fs";
import { chmod, type FileHandle, truncate, utimes } from "node:fs/promises";
import ssh2, { type Attributes, type FileEntry } from "ssh2";

const { OPEN_MODE, STATUS_CODE } = ssh2.utils.sftp;

/** The flags of open(2). */
export function flagsOf(mode: number): number {
  const has = (flag: number) => (mode & flag) !== 0;
  const access = has(OPEN_MODE.WRITE)
    ? has(OPEN_MODE.READ)
      ? constants.O_RDWR
      : constants.O_WRONLY
    : constants.O_RDONLY;
  return (
    access |
    (has(OPEN_MODE.APPEND) ? constants.O_APPEND : 0) |
    (has(OPEN_MODE.CREAT) ? constants.O_CREAT : 0) |
    (has(OPEN_MODE.TRUNC) ? constants.O_TRUNC : 0) |
    (has(OPEN_MODE.EXCL) ? constants.O_EXCL : 0)
  );
}

export const NO_ATTRIBUTES: Attributes = { mode: 0, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 };

/** One name in an answer. */
export function entryOf(filename: string, attrs: Attributes, longname = filename): FileEntry {
  return { filename, longname, attrs };
}

/** A line of `ls -l`, which clients show as it is. */
export function longName(name: string, { mode, nlink, uid, gid, size, mtime }: Stats): string {
  const type = TYPES.find(([bits]) => (mode & constants.S_IFMT) === bits)?.[1] ?? "?";
  const rights = [..."rwxrwxrwx"].map((letter, at) => ((mode >> (8 - at)) & 1 ? letter : "-")).join("");
  const day = mtime.toISOString().slice(0, "2026-01-01".length);
  return `${type}${rights} ${nlink} ${uid} ${gid} ${size} ${day} ${name}`;
}

const TYPES = [
  [constants.S_IFREG, "-"],
  [constants.S_IFDIR, "d"],
  [constants.S_IFLNK, "l"],
  [constants.S_IFIFO, "p"],
  [constants.S_IFSOCK, "s"],
  [constants.S_IFCHR, "c"],
  [constants.S_IFBLK, "b"],
] as const;

/** Attributes of version 3, in whole seconds. */
export function toAttributes({ mode, uid, gid, size, atimeMs, mtimeMs }: Stats): Attributes {
  const seconds = (ms: number) => Math.max(0, Math.trunc(ms / 1000));
  return { mode, uid, gid, size, atime: seconds(atimeMs), mtime: seconds(mtimeMs) };
}

/** The permissions that a client wants; undefined if it does not say. */
export function modeOf({ mode }: Partial<Attributes>): number | undefined {
  return mode === undefined ? undefined : mode & 0o7777;
}

/** Changes what is given. The owner is left alone: the agent's user may not give files away. */
export async function change(of: string | FileHandle, attributes: Partial<Attributes>): Promise<void> {
  const { size, atime, mtime } = attributes;
  const mode = modeOf(attributes);
  const isPath = typeof of === "string";
  if (size !== undefined) await (isPath ? truncate(of, size) : of.truncate(size));
  if (mode !== undefined) await (isPath ? chmod(of, mode) : of.chmod(mode));
  if (atime !== undefined && mtime !== undefined)
    await (isPath ? utimes(of, atime, mtime) : of.utimes(atime, mtime));
}

/** The status for an error of the system. */
export function statusOf(error: unknown): number {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") return STATUS_CODE.NO_SUCH_FILE;
  if (code === "EACCES" || code === "EPERM") return STATUS_CODE.PERMISSION_DENIED;
  return STATUS_CODE.FAILURE;
}
