import { type DaemonHealth, ORPHANED_EXIT_CODE } from "../../contract/daemon.ts";
import { isSetupOver } from "../../contract/setup.ts";
import type { Deps } from "../../deps.ts";
import { type Daemon, fetchHealth } from "../../sandboxes/daemon.ts";
import { SandboxError } from "../../sandboxes/provider.ts";
import type { RunKind } from "./kind.ts";
import type { RunRow } from "./row.ts";
import { watchStage } from "./stage.ts";

/** A daemon that has not answered for this long counts as failed: a busy machine needs a while to start its program. */
const SILENT_MS = 2 * 60_000;
/** Of one poll. */
const ANSWER_MS = 10_000;
/** Between two polls: short at first, then a share of the time that the start has taken, which is how much it may add. */
const POLL_MS = 15;
const POLL_SHARE = 0.02;
const POLL_LONGEST_MS = 500;
/** Between two checks with the provider that the sandbox runs: they cost more than a poll of the daemon. */
const CHECK_MS = 1_000;

/** What is to be done meanwhile. */
export interface BootWatch {
  /** Called at the beginning of a stage. */
  stage(stage: "setup" | "runtime"): Promise<void>;
  /** Called with each answer of the daemon. */
  health(health: DaemonHealth): void;
}

/**
 * Waits until the daemon has cloned the repository, has finished the setup or the build, and is ready.
 * @returns the daemon's health then
 * @throws SandboxError with the daemon's error, or how the sandbox ended
 */
export async function awaitBoot(
  deps: Deps,
  { limits, text }: RunKind,
  run: RunRow,
  daemon: Daemon,
  signal: AbortSignal,
  on: BootWatch,
): Promise<DaemonHealth> {
  let at: Stage = "clone";
  const startedAt = performance.now();
  let answeredAt = performance.now();
  let checkedAt = performance.now();
  let stage = watchStage(limits.clone);
  let last: DaemonHealth | null = null;
  for (;;) {
    signal.throwIfAborted();
    const health = await fetchHealth(daemon, ANSWER_MS);
    const now = performance.now();
    if (health) {
      last = health;
      answeredAt = now;
      stage.saw(health.worked_ms, stateOf(health));
      on.health(health);
      const next = stageOf(health);
      if (STAGES.indexOf(next) > STAGES.indexOf(at)) {
        at = next;
        stage = watchStage(next === "setup" ? SETUP : limits.ready);
        if (next !== "clone") await on.stage(next);
      }
      if (at === "runtime" && health.runtime === "ok") return health;
      if (health.error?.permanent) throw new SandboxError(health.error.message);
    }
    const late = stage.late();
    if (late !== null) throw new SandboxError(`${lateText(text, at)}${late}${lastErrorOf(last)}`);
    if (now - checkedAt > CHECK_MS || now - answeredAt > SILENT_MS) {
      checkedAt = now;
      await requireAlive(deps, run);
      if (now - answeredAt > SILENT_MS)
        throw new SandboxError(
          `The sandbox is running, but its daemon has not answered for ${SILENT_MS / 1000} seconds.`,
        );
    }
    await Bun.sleep(Math.min(POLL_MS + (now - startedAt) * POLL_SHARE, POLL_LONGEST_MS));
  }
}

const STAGES = ["clone", "setup", "runtime"] as const;
type Stage = (typeof STAGES)[number];

/** The daemon ends the command at its own time limit, of two hours at most. */
const SETUP = { stillMs: 150 * 60_000, longestMs: 150 * 60_000 };

function stageOf({ clone, setup, app }: DaemonHealth): Stage {
  if (setup && !isSetupOver(setup)) return "setup";
  return clone === "ok" && app?.stage !== "building" ? "runtime" : "clone";
}

function lateText({ cloneLate, readyLate }: RunKind["text"], at: Stage): string {
  if (at === "setup") return "The setup command did not end";
  return at === "runtime" ? readyLate : cloneLate;
}

/** What changes in a health while a start goes on. */
function stateOf({ clone, runtime, app, error }: DaemonHealth): string {
  return JSON.stringify([clone, runtime, app?.stage, error?.message]);
}

/** @throws SandboxError when the sandbox does not run, with the reason */
async function requireAlive(deps: Deps, { runId, provider }: RunRow): Promise<void> {
  const sandbox = await deps.sandboxes.get(provider)?.find(runId);
  if (sandbox?.state === "running") return;
  throw new SandboxError(describeExit(sandbox ?? null));
}

/** How a sandbox ended that svc did not stop, as a sentence. */
export function describeExit(sandbox: { exitCode: number | null; outOfMemory: boolean } | null): string {
  if (!sandbox) return "The sandbox no longer exists: it was removed outside of svc.";
  if (sandbox.outOfMemory) return "The sandbox was killed because it used more memory than its limit.";
  const { exitCode } = sandbox;
  if (exitCode === null) return "The sandbox exited on its own.";
  if (exitCode === ORPHANED_EXIT_CODE)
    return "The sandbox saved its work and exited, because it could not reach its server for SVC_ORPHAN_MINUTES.";
  if (exitCode > 128) return `The sandbox was killed by signal ${exitCode - 128}.`;
  return `The sandbox exited with code ${exitCode}.`;
}

function lastErrorOf(last: DaemonHealth | null): string {
  return last?.error ? ` Last error: ${last.error.message}` : "";
}
