import { accessSync, constants, existsSync, lstatSync, realpathSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

/** How `svc` is found in another terminal. */
export type Command =
  | { state: "found" }
  /** The link that would make it found: its folder is on the PATH, and has no `svc`. */
  | { state: "linkable"; link: string }
  | { state: "missing" };

/** Whether `svc` on the PATH is this program. */
export function findCommand(program: string, env: Record<string, string | undefined>): Command {
  const found = Bun.which("svc", { PATH: env["PATH"] ?? "" });
  if (found !== null)
    return realpathSync(found) === realpathSync(program) ? { state: "found" } : { state: "missing" };
  const folder = join(env["HOME"] || homedir(), ".local", "bin");
  const link = join(folder, "svc");
  const isOnPath = (env["PATH"] ?? "").split(delimiter).includes(folder);
  return isOnPath && isWritable(folder) && lstatSync(link, { throwIfNoEntry: false }) === undefined
    ? { state: "linkable", link }
    : { state: "missing" };
}

/** @returns whether the link was made */
export function linkCommand(program: string, link: string): boolean {
  try {
    symlinkSync(program, link);
    return existsSync(link);
  } catch {
    return false;
  }
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
