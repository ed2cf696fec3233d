import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { readDotenv } from "../../dotenv.ts";
import { CliError, systemCode } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/self-host-care.ts";
import { readBackup, settingsFileOf } from "./archive.ts";
import { findEngine } from "./engine.ts";
import { type Env, readEnv, writeEnv } from "./env-file.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { dataOf } from "./prepare.ts";
import { freePort } from "./probe.ts";
import { providePrograms } from "./provide-programs.ts";
import { firstSettings } from "./settings.ts";
import { type Stack, stackOf } from "./stack.ts";
import { prepareContainers } from "./start-containers.ts";
import { readState, type State, writeState } from "./state.ts";
import { stopContainers } from "./stop-stack.ts";

export const restore: Handler<typeof table.restore> = async (context, { args, flags }) => {
  notInSandbox(context);
  const { system, out } = context;
  const stack = stackOf(system);
  await requireNone(stack);
  const archive = resolve(system.cwd, args.file);
  const mode = flags.native ? "native" : "compose";
  const env = await settingsFor(system, stack, mode, archive);
  const state: State = {
    mode,
    service: null,
    created_at: new Date(system.now()).toISOString(),
    started_at: null,
    version: "",
    settings: null,
  };
  // of a restore that was interrupted
  if (mode === "compose" && existsSync(stack.composeFile)) await stopContainers(system, stack, "down");
  await writeEnv(stack, env);
  const version = await providePrograms(context, stack, flags["api-binary"], mode);
  if (mode === "compose") await restoreContainers(context, stack, state, env, archive);
  else await restoreNative(context, stack, state, archive);
  // last: without it the folder is no server, and the command can be repeated
  await writeState(stack, { ...state, version });
  const answer = { mode, folder: stack.dir, version };
  await out.result(answer, () => `The backup is restored in ${stack.dir}.\n`);
  await out.note(
    `Next: svc self-host start. Stop the old server before, if it still runs: both would use the same sandboxes and repositories.`,
  );
};

/** @throws CliError `self_host` if there is a server */
async function requireNone(stack: Stack): Promise<void> {
  if ((await readState(stack)) === null && !existsSync(`${stack.data}/server-id`)) return;
  throw new CliError(
    "self_host",
    `There is a server in ${stack.dir} already; a restore would replace its data.`,
    {
      hint: "Set SVC_SELF_HOST_DIR to another folder, or move that one away.",
    },
  );
}

async function restoreNative({ system, out }: Context, stack: Stack, state: State, archive: string) {
  await out.note(`Restoring ${archive} …`);
  await readBackup(system, stack, state, archive);
}

/** Compose starts the database for the restore; nothing of the server runs after it. */
async function restoreContainers(context: Context, stack: Stack, state: State, env: Env, archive: string) {
  const { system, out } = context;
  await prepareContainers(system, stack, env, await findEngine(system), (text) => out.note(text));
  await out.note(`Restoring ${archive} …`);
  try {
    await readBackup(system, stack, state, archive);
  } catch (error) {
    await stopContainers(system, stack, "down").catch(() => {});
    throw error;
  }
  await stopContainers(system, stack, "down");
}

/**
 * The settings of the backup, except those that belong to the way in which the server ran.
 * @throws CliError `self_host` if there is a database whose password is not known
 */
async function settingsFor(
  system: Context["system"],
  stack: Stack,
  mode: State["mode"],
  archive: string,
): Promise<Map<string, string>> {
  const file = settingsFileOf(archive);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CliError("file", `The settings of the backup cannot be read: ${file} (${systemCode(error)}).`, {
      hint: "`svc self-host backup` writes them beside the archive. Both files are required.",
    });
  });
  const read = readDotenv(text);
  if (!("values" in read)) throw new CliError("file", `${file}, line ${read.line}: ${read.reason}.`);
  const settings = firstSettings(mode, mode === "compose" ? await freePort() : null);
  // a restore that failed has created the database with its password
  const own = mode === "compose" ? await ownSettings(system, stack) : [];
  for (const [name, value] of own) settings.set(name, value);
  for (const [name, value] of read.values) if (!isOwn(name)) settings.set(name, value);
  if (!read.values.has("SVC_MASTER_KEY")) {
    throw new CliError("self_host", `The backup has no master key: ${file} does not set SVC_MASTER_KEY.`, {
      hint: "Add the line SVC_MASTER_KEY=<the key of that server> to it.",
    });
  }
  return settings;
}

/** Whether a setting belongs to the containers of one server. */
const isOwn = (name: string): boolean => /^(?:POSTGRES_|SVC_SELF_HOST_)/.test(name);

async function ownSettings(system: Context["system"], stack: Stack): Promise<[string, string][]> {
  const stored = await readEnv(stack);
  if (stored !== null) return [...stored].filter(([name]) => isOwn(name));
  const data = await dataOf(system, stack, "compose");
  if (data === null) return [];
  throw new CliError("self_host", `There is data of an earlier server already: ${data}.`, {
    hint: `If you do not need it: docker volume rm ${stack.project}_db ${stack.project}_data. Otherwise set SVC_SELF_HOST_DIR to another folder.`,
  });
}
