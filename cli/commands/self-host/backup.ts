import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { CliError, usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/self-host-care.ts";
import { settingsFileOf, writeBackup } from "./archive.ts";
import { requireEnv } from "./env-file.ts";
import { isRunning, look } from "./look.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { type Stack, stackOf } from "./stack.ts";
import { requireState } from "./state.ts";

export const backup: Handler<typeof table.backup> = async (context, { args, flags }) => {
  notInSandbox(context);
  const { system, out } = context;
  const stack = stackOf(system);
  const state = await requireState(stack);
  const env = await requireEnv(stack);
  const archive =
    args.file === undefined ? newArchive(system, stack, state.version) : resolve(system.cwd, args.file);
  if (!archive.endsWith(".tar")) throw usage("The name of the archive must end in .tar.");
  if (state.mode === "compose" && !isRunning(await look(system, stack, state))) {
    throw new CliError("self_host", "The server is stopped, and its database with it.", {
      hint: "svc self-host start",
    });
  }
  await out.note(`Backing up to ${archive} …`);
  await writeBackup(system, stack, state, env, { archive, withKey: !flags["without-key"] });
  const answer = {
    archive,
    settings: settingsFileOf(archive),
    bytes: (await stat(archive)).size,
    version: state.version,
    has_key: !flags["without-key"],
  };
  await out.result(answer, () => `${answer.archive}\n${answer.settings}\n`);
  await out.note(
    answer.has_key
      ? "Keep both files as secret as the server: they contain the master key."
      : "Keep SVC_MASTER_KEY in another place: without it the backup cannot be restored.",
  );
};

/** A new name in the folder of the server: its version and the time. */
export function newArchive(
  system: { now(): number },
  { backups }: Stack,
  version: string,
  kind = "svc",
): string {
  const time = new Date(system.now()).toISOString().replace(/[-:]|\.\d+/g, "");
  return join(backups, `${kind}-${version || "unknown"}-${time}.tar`);
}
