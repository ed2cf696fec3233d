import { type DaemonHealth, ORPHANED_EXIT_CODE } from "../../contract/daemon.ts";
import type { Deps } from "../../deps.ts";
import { type Daemon, fetchHealth } from "../../sandboxes/daemon.ts";
import { SandboxError } from "../../sandboxes/provider.ts";
import type { RunKind } from "./kind.ts";
import type { RunRow } from "./row.ts";

/** A daemon that does not answer at all by then will not. */
const SILENT_MS = 30_000;
/** Between two looks: short at first, then longer by a share of the time that it has taken, which it may add to it. */
const POLL_MS = 15;
const POLL_SHARE = 0.02;
const POLL_LONGEST_MS = 500;
/** Whether the sandbox still lives is asked of its provider, which is dearer. */
const LOOK_MS = 1_000;

/**
 * Waits until the daemon has cloned the repository, has built what it is to build, and is ready.
 * @returns the daemon's health then
 * @throws SandboxError with the daemon's own words, or what became of the sandbox
 */
export async function awaitBoot(
  deps: Deps,
  { limits, text }: RunKind,
  run: RunRow,
  daemon: Daemon,
  signal: AbortSignal,
  onCloned: () => Promise<void>,
): Promise<DaemonHealth> {
  let isCloned = false;
  const begun = performance.now();
  let heard = performance.now();
  let looked = performance.now();
  let deadline = performance.now() + limits.cloneMs;
  let last: DaemonHealth | null = null;
  for (;;) {
    signal.throwIfAborted();
    const health = await fetchHealth(daemon);
    const now = performance.now();
    if (health) {
      last = health;
      heard = now;
      if (health.clone === "ok" && health.app?.stage !== "building" && !isCloned) {
        isCloned = true;
        deadline = now + limits.readyMs;
        await onCloned();
      }
      if (isCloned && health.runtime === "ok") return health;
      if (health.error?.permanent) throw new SandboxError(health.error.message);
    }
    if (now > deadline)
      throw new SandboxError((isCloned ? text.readyLate : text.cloneLate) + lastErrorOf(last));
    if (now - looked > LOOK_MS || now - heard > SILENT_MS) {
      looked = now;
      await requireAlive(deps, run);
      if (now - heard > SILENT_MS)
        throw new SandboxError(
          `The sandbox runs, but its daemon has not answered for ${SILENT_MS / 1000} seconds.`,
        );
    }
    await Bun.sleep(Math.min(POLL_MS + (now - begun) * POLL_SHARE, POLL_LONGEST_MS));
  }
}

/** @throws SandboxError that says how the sandbox ended */
async function requireAlive(deps: Deps, { runId, provider }: RunRow): Promise<void> {
  const sandbox = await deps.sandboxes.get(provider)?.find(runId);
  if (sandbox?.state === "running") return;
  throw new SandboxError(howItEnded(sandbox ?? null));
}

/** How a sandbox ended that svc has not ended, as a sentence. */
export function howItEnded(sandbox: { exitCode: number | null; outOfMemory: boolean } | null): string {
  if (!sandbox) return "The sandbox is gone: something other than svc has removed it.";
  if (sandbox.outOfMemory) return "The sandbox was killed since it needed more memory than it may have.";
  const { exitCode } = sandbox;
  if (exitCode === null) return "The sandbox has ended by itself.";
  if (exitCode === ORPHANED_EXIT_CODE)
    return "The sandbox has saved its work and ended, because its server was away for longer than SVC_ORPHAN_MINUTES.";
  if (exitCode > 128) return `The sandbox was killed by signal ${exitCode - 128}.`;
  return `The sandbox has ended by itself, with exit code ${exitCode}.`;
}

function lastErrorOf(last: DaemonHealth | null): string {
  return last?.error ? ` Its last words: ${last.error.message}` : "";
}
