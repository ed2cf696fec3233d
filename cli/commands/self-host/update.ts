import { rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { compareVersions, isVersion } from "../../../src/contract/release.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/self-host-care.ts";
import { readBackup, writeBackup } from "./archive.ts";
import { newArchive } from "./backup.ts";
import { type Env, requireEnv } from "./env-file.ts";
import { isRunning, look } from "./look.ts";
import { notInSandbox } from "./not-in-sandbox.ts";
import { providePrograms } from "./provide-programs.ts";
import { previousOf, type Stack, stackOf } from "./stack.ts";
import { startServer } from "./start.ts";
import { removeOldImages } from "./start-containers.ts";
import { requireState, type State } from "./state.ts";
import { stopStack } from "./stop-stack.ts";

export const update: Handler<typeof table.update> = async (context, { flags }) => {
  notInSandbox(context);
  const { system, out } = context;
  const stack = stackOf(system);
  const state = await requireState(stack);
  const env = await requireEnv(stack);
  const wasRunning = isRunning(await look(system, stack, state));
  if (!wasRunning && state.mode === "compose") {
    throw new CliError("self_host", "The server is stopped, and its database with it.", {
      hint: "svc self-host start",
    });
  }
  const next: Stack = { ...stack, bin: `${stack.bin}.next` };
  await rm(next.bin, { recursive: true, force: true });
  try {
    const to = await providePrograms(context, next, flags["api-binary"], state.mode);
    if (refuseOlder(state.version, to) === "same" && !flags.force) {
      const answer = { from: state.version, to, backup: null, updated: false };
      return await out.result(answer, () => `The server has version ${to} already.\n`);
    }
    const archive = newArchive(system, stack, state.version, "before-update");
    await out.note(`Backing up to ${archive} …`);
    await writeBackup(system, stack, state, env, { archive, withKey: true });
    await replaceAndStart(context, { stack, next, state, env, archive });
    if (state.mode === "compose") await removeOldImages(system, stack);
    const answer = { from: state.version, to, backup: archive, updated: true };
    await out.result(
      answer,
      () => `The server was updated from ${state.version || "an unknown version"} to ${to}.\n`,
    );
  } finally {
    await rm(next.bin, { recursive: true, force: true });
  }
};

interface Update {
  stack: Stack;
  /** The same stack, with the folder of the new programs. */
  next: Stack;
  state: State;
  env: Map<string, string>;
  archive: string;
}

/** @throws CliError `self_host` for a downgrade: an older server refuses the tables of a newer one */
function refuseOlder(from: string, to: string): "same" | "newer" {
  if (!isVersion(from) || !isVersion(to)) return from === to ? "same" : "newer";
  const difference = compareVersions(to, from);
  if (difference >= 0) return difference === 0 ? "same" : "newer";
  throw new CliError("self_host", `The server has version ${from}, which is newer than ${to}.`, {
    hint: "An older version cannot read its data. Update svc first (svc update), or restore a backup of that version.",
  });
}

/** @throws CliError `self_host` when the new version does not start; then the old one runs again, if that is possible */
async function replaceAndStart(context: Context, update: Update): Promise<void> {
  const { stack, next, state, env } = update;
  const old = previousOf(stack);
  await stopStack(context.system, stack, state);
  await rm(old, { recursive: true, force: true });
  await rename(stack.bin, old);
  await rename(next.bin, stack.bin);
  try {
    await startServer(context, stack, state, env, flagsFor(stack, state));
  } catch (error) {
    await rollBack(context, update, old, error);
  }
}

async function rollBack(context: Context, update: Update, old: string, cause: unknown): Promise<never> {
  const { system, out } = context;
  const { stack, state, env, archive } = update;
  const reason = cause instanceof CliError ? cause : new CliError("self_host", String(cause));
  await out.note("The new version does not start. Putting the old one back …");
  try {
    await stopStack(system, stack, state);
    await rm(stack.bin, { recursive: true, force: true });
    await rename(old, stack.bin);
    if (hasOwnData(state, env)) {
      const aside = `${stack.data}.failed-${system.now()}`;
      await rename(stack.data, aside);
      try {
        await readBackup(system, stack, state, archive);
      } catch (error) {
        await rm(stack.data, { recursive: true, force: true });
        await rename(aside, stack.data);
        throw error;
      }
      // the archive has it all, as it was before
      await rm(aside, { recursive: true, force: true });
    }
    await startServer(context, stack, state, env, flagsFor(stack, state));
  } catch (error) {
    throw new CliError(
      "self_host",
      `The update failed, and so did the way back: ${error instanceof Error ? error.message : error} The update: ${reason.message}`,
      { ...reason.extra, hint: `The backup from before the update is ${archive}. See docs/backup.md.` },
    );
  }
  throw new CliError("self_host", `The update failed, and the old version runs again. ${reason.message}`, {
    ...reason.extra,
    hint: `The backup from before the update stays: ${archive}`,
  });
}

/** Whether all data is in the stack's folder, so that it can be put back. */
const hasOwnData = ({ mode }: State, env: Env): boolean => mode === "native" && !env.get("DATABASE_URL");

const flagsFor = ({ bin }: Stack, { service }: State) => ({
  "api-binary": join(bin, "svc-api"),
  "no-service": service === "process",
});
