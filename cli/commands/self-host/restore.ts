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
import { type Env, writeEnv } from "./env-file.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { freePort } from "./probe.ts";
import { providePrograms } from "./provide-programs.ts";
import { firstSettings } from "./settings.ts";
import { type Stack, stackOf } from "./stack.ts";
import { prepareContainers } from "./start-containers.ts";
import { readState, type State, writeState } from "./state.ts";

export const restore: Handler<typeof table.restore> = async (context, { args, flags }) => {
  notInSandbox(context);
  const { system, out } = context;
  const stack = stackOf(system);
  await requireNone(stack);
  const archive = resolve(system.cwd, args.file);
  const mode = flags.native ? "native" : "compose";
  const env = await settingsFor(mode, archive);
  const state: State = {
    mode,
    service: null,
    created_at: new Date(system.now()).toISOString(),
    started_at: null,
    version: "",
    settings: null,
  };
  await writeEnv(stack, env);
  const version = await providePrograms(context, stack, flags["api-binary"], mode);
  if (mode === "compose") await prepare(context, stack, env);
  await out.note(`Restoring ${archive} …`);
  await readBackup(system, stack, state, archive);
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

async function prepare({ system, out }: Context, stack: Stack, env: Env): Promise<void> {
  await prepareContainers(system, stack, env, await findEngine(system), (text) => out.note(text));
}

/** The settings of the backup, except those that belong to the way in which the server ran. */
async function settingsFor(mode: State["mode"], archive: string): Promise<Map<string, string>> {
  const file = settingsFileOf(archive);
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new CliError("file", `The settings of the backup cannot be read: ${file} (${systemCode(error)}).`, {
      hint: "`svc self-host backup` writes them beside the archive. Both files are required.",
    });
  });
  const read = readDotenv(text);
  if (!("values" in read)) throw new CliError("file", `${file}, line ${read.line}: ${read.reason}.`);
  const settings = firstSettings(mode, mode === "compose" ? await freePort() : null);
  for (const [name, value] of read.values) {
    if (!/^(?:POSTGRES_|SVC_SELF_HOST_)/.test(name)) settings.set(name, value);
  }
  if (!read.values.has("SVC_MASTER_KEY")) {
    throw new CliError("self_host", `The backup has no master key: ${file} does not set SVC_MASTER_KEY.`, {
      hint: "Add the line SVC_MASTER_KEY=<the key of that server> to it.",
    });
  }
  return settings;
}
