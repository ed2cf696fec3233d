import { createHash } from "node:crypto";
import type { Wall } from "../../../contract/session.ts";
import type { DaemonSetup, DaemonSetupStatus, SetupCheckout } from "../../../contract/setup.ts";
import { VERSION } from "../../../contract/version.ts";
import type { Deps } from "../../../deps.ts";
import type { Daemon } from "../../../sandboxes/daemon.ts";
import { decideSetup, readSetup, restoreSetup } from "../../../sandboxes/daemon-setup.ts";
import type { Provider } from "../../../sandboxes/provider.ts";
import type { RunRow } from "../../runs/row.ts";
import type { SandboxConfig } from "../../runs/sandbox-config.ts";
import type { OpenSecrets } from "../../secrets/open.ts";
import { findKept, keepArchive, keptFolder } from "./kept.ts";

/** A start of a session whose setup waits for svc. */
export interface SetupStart {
  projectId: string;
  config: Pick<SandboxConfig, "setup" | "build" | "environment" | "tip">;
  /** Of its secrets: the command may write any of them into a file. */
  secretsRevision: string;
  provider: Pick<Provider, "name" | "programs">;
  /** Whether the sandbox has nothing of an earlier one. */
  isNew: boolean;
}

/** Serves the setup of one start. It does not reject, and may be called repeatedly. */
export type SetupKeeper = (daemon: Daemon, status: DaemonSetupStatus, signal: AbortSignal) => Promise<void>;

/** Increment it when the contents of archives change. */
const FORMAT = 1;

/** The setup command of a start, and what serves it; null: it has none, or svc keeps nothing of it. */
export async function planSetup(
  deps: Deps,
  {
    run,
    config,
    secrets,
    isNew,
  }: Pick<SetupStart, "isNew"> & { run: RunRow; config: SandboxConfig; secrets: OpenSecrets },
): Promise<{ setup: DaemonSetup | null; onSetup: SetupKeeper | null }> {
  if (config.setup === null) return { setup: null, onSetup: null };
  const provider = deps.sandboxes.get(run.provider);
  // an agent without isolation could change what is kept
  const walls: readonly Wall[] = (await provider?.walls().catch(() => [])) ?? [];
  // what the command does in a service, such as a database, ends with it
  const hasServices = config.services.length > 0 && run.provider === "docker";
  const isKept = walls.includes("files") && !hasServices;
  const setup = { ...config.setup, isKept };
  if (!provider || !isKept) return { setup, onSetup: null };
  const { projectId } = run;
  const secretsRevision = secrets.revision;
  return { setup, onSetup: createSetupKeeper(deps, { projectId, config, secretsRevision, provider, isNew }) };
}

/**
 * Keeps what setup commands add, so that the next session of the project starts without the command.
 *
 * An archive is taken right after the command, before the agent starts, and only of the tip of the default branch: what a
 * command of another commit writes reaches no other session. All sessions of the project get it whose command, lockfiles,
 * image and secrets are the same.
 */
export function createSetupKeeper(deps: Pick<Deps, "config" | "log">, start: SetupStart): SetupKeeper {
  const folder = keptFolder(deps.config.dataDir);
  let key: string | null = null;
  let isTaken = false;

  return async (daemon, { state, checkout }, signal) => {
    try {
      if (state === "waiting" && checkout && key === null) {
        key = keyOf(start, checkout);
        await decide(daemon, key, checkout, signal);
      } else if (state === "keeping" && key !== null && !isTaken) {
        isTaken = true;
        await keepArchive(folder, start.projectId, key, await readSetup(daemon, signal));
      }
    } catch (error) {
      if (!signal.aborted)
        deps.log.warn({ session: daemon.sessionId, err: error }, "a setup was not kept or restored");
    }
  };

  async function decide(
    daemon: Daemon,
    key: string,
    checkout: SetupCheckout,
    signal: AbortSignal,
  ): Promise<void> {
    const archive = await findKept(folder, start.projectId, key);
    if (archive !== null) return await restoreSetup(daemon, Bun.file(archive), signal);
    await decideSetup(daemon, mayKeep(start, checkout) ? "run-and-keep" : "run", signal);
  }
}

/** An unmerged commit may have commands that write anything, under the lockfiles of the default branch. */
export function mayKeep(
  { config, isNew }: Pick<SetupStart, "config" | "isNew">,
  { commit, isClean }: SetupCheckout,
): boolean {
  return isNew && isClean && config.tip !== null && commit === config.tip;
}

/** Names the archive: 64 hex digits. */
export function keyOf(
  { projectId, config: { setup, build, environment }, secretsRevision, provider }: SetupStart,
  { lockfiles }: SetupCheckout,
): string {
  const image = build ? [build.hash, build.dockerfile, build.user ?? ""] : [VERSION];
  const parts = [
    ...[FORMAT, projectId, setup?.command, lockfiles, secretsRevision, Object.entries(environment)],
    ...[provider.name, process.arch, provider.programs?.() ?? "", ...image],
  ];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
