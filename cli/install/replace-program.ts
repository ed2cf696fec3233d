import { copyFile, link, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder } from "../config-write.ts";
import { requireVersion, versionOf } from "./version-of.ts";

/** The steps of an update. Killed after any of them, the program is the old or the new one, and runs. */
export const UPDATE_STEPS = ["written", "tried", "kept", "replaced", "confirmed"] as const;
type UpdateStep = (typeof UPDATE_STEPS)[number];
type Checkpoint = (step: UpdateStep) => void | Promise<void>;

/** Names in the program's folder that only an interrupted update leaves behind. */
export const LEFTOVER = /^\.svc\.new-/;

/** A new name beside the program: a rename between file systems is not atomic. */
export function besides(program: string, suffix = ""): string {
  return join(dirname(program), `.svc.new-${process.pid}-${crypto.randomUUID().slice(0, 8)}${suffix}`);
}

export const previousOf = (program: string): string => `${program}.prev`;

/**
 * Replaces the program: starts the new one under another name, keeps the old one as `svc.prev`, renames, and starts the new
 * one again where it is. A rename replaces a running program in one step.
 * @throws CliError `update_failed`; then the old program is in its place
 */
export async function replaceProgram(
  program: string,
  bytes: Uint8Array,
  version: string,
  checkpoint: Checkpoint = () => {},
): Promise<void> {
  const fresh = besides(program);
  try {
    await writeExecutable(fresh, bytes);
    await checkpoint("written");
    await requireVersion(fresh, version);
    await checkpoint("tried");
    await putCopy(program, previousOf(program));
    await checkpoint("kept");
    await rename(fresh, program);
    await syncFolder(dirname(program));
    await checkpoint("replaced");
    try {
      await requireVersion(program, version);
    } catch (error) {
      await putCopy(previousOf(program), program);
      throw error;
    }
    await checkpoint("confirmed");
  } finally {
    await rm(fresh, { force: true });
  }
}

/**
 * Exchanges the program and `svc.prev`.
 * @returns the version that is installed then
 * @throws CliError `update_failed` if the earlier program does not start; then nothing has changed
 */
export async function exchangePrevious(program: string): Promise<string> {
  const previous = previousOf(program);
  const version = await versionOf(previous);
  const current = besides(program);
  try {
    await linkOrCopy(program, current);
    await putCopy(previous, program);
    await rename(current, previous);
    await syncFolder(dirname(program));
    return version;
  } finally {
    await rm(current, { force: true });
  }
}

async function writeExecutable(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx", 0o755);
  try {
    await file.writeFile(bytes);
    await file.chmod(0o755);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Puts the file `from` under the name `to` as well, replacing what is there in one step. */
async function putCopy(from: string, to: string): Promise<void> {
  const temporary = besides(to);
  try {
    await linkOrCopy(from, temporary);
    await rename(temporary, to);
  } finally {
    // a rename of two links to one file leaves both
    await rm(temporary, { force: true });
  }
}

/** Some file systems have no hard links. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}
