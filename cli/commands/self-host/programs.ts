import type { Stats } from "node:fs";
import { access, constants, copyFile, link, mkdir, rename, rm, stat, utimes } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { CliError, systemCode } from "../../failure.ts";
import type { System } from "../../system.ts";
import { runProgram } from "./run-program.ts";
import type { Stack } from "./stack.ts";

/** The programs of a server: itself, and those that it copies into sandboxes. */
export const PROGRAMS = ["svc-api", "svc-agent", "svc-entrypoint", "svc"] as const;
const DISK_FULL = "The disk is full: free some space, or set SVC_SELF_HOST_DIR to a folder on another disk.";
const VERSION_MS = 20_000;

/** The path of each program that was found. */
export type Programs = ReadonlyMap<(typeof PROGRAMS)[number], string>;

/**
 * Finds the programs on this machine: `--api-binary`, then beside this svc, then on the PATH. The others are expected
 * beside svc-api, or beside this svc.
 * @returns null if there is no svc-api
 * @throws CliError `file` if `--api-binary` is not a program
 */
export async function findPrograms(
  { env, cwd, self }: Pick<System, "env" | "cwd" | "self">,
  apiBinary: string | undefined,
): Promise<Programs | null> {
  const own = self.length === 1 && self[0] !== undefined ? dirname(self[0]) : null;
  const api = apiBinary === undefined ? await search(own, env) : await given(resolve(cwd, apiBinary));
  if (api === null) return null;
  const found = new Map([["svc-api" as (typeof PROGRAMS)[number], api]]);
  for (const name of PROGRAMS) {
    for (const folder of [dirname(api), own]) {
      const path = folder === null ? null : join(folder, name);
      if (path !== null && !found.has(name) && (await isProgram(path))) found.set(name, path);
    }
  }
  return found;
}

/** Puts the programs into the stack's `bin`, each by a rename: a running server keeps the one that it has. */
export async function installPrograms(stack: Stack, programs: Programs): Promise<void> {
  await mkdir(stack.bin, { recursive: true, mode: 0o700 });
  for (const [name, source] of programs) await install(source, join(stack.bin, name));
}

/** The version that an `svc-api` prints. @throws CliError `self_host` if it does not run here */
export async function versionOf(system: Pick<System, "env" | "stderr">, program: string): Promise<string> {
  const { code, out, err } = await runProgram(system, [program, "version"], { ms: VERSION_MS });
  const version = /^svc-api (\S+)/.exec(out)?.[1];
  if (code === 0 && version !== undefined) return version;
  throw new CliError(
    "self_host",
    `svc-api does not run on this machine: ${(err || out).trim().slice(-500)}`,
    {
      hint: "Check that it is built for this system: `--api-binary <path>` names another one.",
    },
  );
}

async function search(own: string | null, env: System["env"]): Promise<string | null> {
  const beside = own === null ? null : join(own, "svc-api");
  if (beside !== null && (await isProgram(beside))) return beside;
  const onPath = Bun.which("svc-api", { PATH: env["PATH"] ?? "" });
  return onPath !== null && isAbsolute(onPath) ? onPath : null;
}

async function given(path: string): Promise<string> {
  if (await isProgram(path)) return path;
  throw new CliError("file", `--api-binary: ${path} is not a program.`, {
    hint: "Name the file svc-api of a release, or of `npm run build`.",
  });
}

async function isProgram(path: string): Promise<boolean> {
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
  return (
    isFile &&
    access(path, constants.X_OK).then(
      () => true,
      () => false,
    )
  );
}

async function install(source: string, target: string): Promise<void> {
  const [from, to] = await Promise.all([stat(source), stat(target).catch(() => null)]);
  if (to !== null && isSame(from, to)) return;
  const temporary = `${target}.${process.pid}.new`;
  try {
    await rm(temporary, { force: true });
    // a link, where the file system has them: the programs are large
    await link(source, temporary).catch(() => copy(source, temporary, from));
    await rename(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    const code = systemCode(error) ?? "unknown error";
    throw new CliError("file", `Cannot write ${target} (${code}).`, {
      hint: code === "ENOSPC" ? DISK_FULL : undefined,
    });
  }
}

/** The same file, or a copy of it: a new one would change the image of svc-api, which is built from the programs. */
const isSame = (from: Stats, to: Stats): boolean =>
  (from.ino === to.ino && from.dev === to.dev) ||
  (from.size === to.size && Math.trunc(from.mtimeMs) === Math.trunc(to.mtimeMs));

async function copy(source: string, target: string, { mtimeMs }: Stats): Promise<void> {
  await copyFile(source, target, constants.COPYFILE_FICLONE);
  const time = new Date(Math.trunc(mtimeMs));
  await utimes(target, time, time);
}
