import { chmod, mkdir, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { replace } from "../../config-write.ts";
import { CliError, systemCode } from "../../failure.ts";
import type { System } from "../../system.ts";
import { runApi } from "./api-program.ts";
import { API_SERVICE, compose } from "./compose.ts";
import { lastLine } from "./engine.ts";
import { type Env, renderEnv, requireEnv } from "./env-file.ts";
import { runProgram } from "./run-program.ts";
import { serverEnvironment } from "./server-environment.ts";
import type { Stack } from "./stack.ts";
import type { State } from "./state.ts";

type Shell = Pick<System, "env" | "stderr">;

/** A server with many large repositories. */
const ARCHIVE_MS = 12 * 3_600_000;
const MASTER_KEY = "SVC_MASTER_KEY";
const OWN_PREFIX = "svc-api: ";

/** The settings of a backup are beside its archive. */
export const settingsFileOf = (archive: string): string => `${archive.replace(/\.tar$/, "")}.env`;

/**
 * Writes a backup: the archive, and the settings beside it. Neither is left incomplete.
 * @throws CliError `self_host` with the last line of svc-api
 */
export async function writeBackup(
  system: Shell,
  stack: Stack,
  state: State,
  env: Env,
  { archive, withKey }: { archive: string; withKey: boolean },
): Promise<void> {
  const keyFlags = withKey ? [] : ["--without-key"];
  await mkdir(dirname(archive), { recursive: true, mode: 0o700 });
  await (state.mode === "compose"
    ? backUpContainer(system, stack, archive, keyFlags)
    : backUpNative(system, stack, state, archive, keyFlags));
  const settings = new Map([...env].filter(([name]) => withKey || name !== MASTER_KEY));
  await replace(settingsFileOf(archive), renderEnv(settings));
}

async function backUpNative(system: Shell, stack: Stack, state: State, archive: string, flags: string[]) {
  const ended = await runApi(system, stack, state, ["backup", "--out", archive, ...flags], {
    ms: ARCHIVE_MS,
  });
  if (ended.code !== 0) throw failure("The backup failed", ended.err);
}

/** The container streams the archive: it cannot write to this machine's folders. */
async function backUpContainer(system: Shell, stack: Stack, archive: string, flags: string[]): Promise<void> {
  if ((await stat(archive).catch(() => null)) !== null) {
    throw new CliError("file", `The file ${archive} already exists.`, { hint: "Choose another name." });
  }
  const unfinished = `${archive}.${process.pid}.unfinished`;
  const file = await open(unfinished, "wx", 0o600).catch((error: unknown) => {
    throw new CliError("file", `Cannot write ${archive} (${systemCode(error) ?? "unknown error"}).`);
  });
  try {
    const command = ["exec", "-T", API_SERVICE, "svc-api", "backup", "--out", "-", ...flags];
    const ended = await compose(system, stack, command, { ms: ARCHIVE_MS, stdout: file.fd });
    if (/no space left|ENOSPC/i.test(ended.err)) {
      throw new CliError("self_host", `The backup failed: the disk of ${dirname(archive)} is full.`, {
        hint: "Free some space, or write it to another disk: svc self-host backup <file>",
      });
    }
    if (ended.code !== 0) throw failure("The backup failed", ended.err);
    await file.sync();
    await rename(unfinished, archive);
  } finally {
    await file.close();
    await rm(unfinished, { force: true });
  }
}

/**
 * Restores an archive into the empty data of the stack, whose programs and Compose file are there.
 * @throws CliError `self_host` with the last line of svc-api; nothing was restored then
 */
export async function readBackup(system: Shell, stack: Stack, state: State, archive: string): Promise<void> {
  const file = await open(archive, "r").catch((error: unknown) => {
    throw new CliError("file", `Cannot read ${archive} (${systemCode(error) ?? "unknown error"}).`);
  });
  try {
    const options = { ms: ARCHIVE_MS, stdin: file.fd };
    const ended =
      state.mode === "compose"
        ? await compose(
            system,
            stack,
            ["run", "--rm", "-T", API_SERVICE, "svc-api", "restore", "--from", "-"],
            options,
          )
        : await runProgram(
            { ...system, env: serverEnvironment(system.env, stack, await requireEnv(stack)) },
            [`${stack.bin}/svc-api`, "restore", "--from", archive],
            { ms: ARCHIVE_MS, cwd: stack.dir },
          );
    if (ended.code !== 0) throw failure("The restore failed", ended.err);
    if (state.mode === "native") await chmod(stack.data, 0o700);
  } finally {
    await file.close();
  }
}

/** The last line of svc-api is its error; Compose may write others after it. */
function failure(what: string, output: string): CliError {
  const lines = output.split("\n").filter((each) => each.startsWith(OWN_PREFIX));
  const line = lines.at(-1)?.slice(OWN_PREFIX.length) ?? lastLine(output);
  return new CliError("self_host", `${what}: ${line || "svc-api ended without a reason."}`, {
    hint: "docs/backup.md lists the causes.",
  });
}
