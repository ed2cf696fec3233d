import { type DaemonHealth, ORPHANED_EXIT_CODE } from "../contract/daemon.ts";
import type { Deps } from "../deps.ts";
import { askHealth, type Daemon } from "../sandboxes/daemon.ts";
import { SandboxError } from "../sandboxes/provider.ts";
import type { SessionRow } from "./wire.ts";

/** A large repository over a slow network takes minutes to clone. */
const CLONE_MS = 10 * 60_000;
/** The runtime answers within seconds; three restarts of it fit in. */
const RUNTIME_MS = 60_000;
/** What a deployed app has to be built in, and to answer in; its daemon says before that what is late. */
const BUILD_MS = 35 * 60_000;
const APP_MS = 5 * 60_000;
/** A daemon that does not answer at all by then will not. */
const SILENT_MS = 30_000;
/** Between two looks: short at first, then longer by a share of the time that it has taken, which it may add to it. */
const POLL_MS = 15;
const POLL_SHARE = 0.02;
const POLL_LONGEST_MS = 500;
/** Whether the sandbox still lives is asked of its provider, which is dearer. */
const LOOK_MS = 1_000;

/**
 * Waits until the daemon has cloned the repository and its runtime answers; or the app that it is to build and run.
 * @returns what the daemon says of itself then
 * @throws SandboxError with the daemon's own words, or what became of the sandbox
 */
export async function awaitBoot(
  deps: Deps,
  session: SessionRow,
  daemon: Daemon,
  signal: AbortSignal,
  onCloned: () => Promise<void>,
): Promise<DaemonHealth> {
  let isCloned = false;
  const begun = performance.now();
  let heard = performance.now();
  let looked = performance.now();
  const isApp = session.purpose === "app";
  let deadline = performance.now() + CLONE_MS + (isApp ? BUILD_MS : 0);
  let last: DaemonHealth | null = null;
  for (;;) {
    signal.throwIfAborted();
    const health = await askHealth(daemon);
    const now = performance.now();
    if (health) {
      last = health;
      heard = now;
      if (health.clone === "ok" && health.app?.stage !== "building" && !isCloned) {
        isCloned = true;
        deadline = now + (isApp ? APP_MS : RUNTIME_MS);
        await onCloned();
      }
      if (isCloned && health.runtime === "ok") return health;
      if (health.error?.permanent) throw new SandboxError(health.error.message);
    }
    if (now > deadline) throw new SandboxError(isApp ? appTooLate(last) : tooLate(isCloned, last));
    if (now - looked > LOOK_MS || now - heard > SILENT_MS) {
      looked = now;
      await requireAlive(deps, session);
      if (now - heard > SILENT_MS)
        throw new SandboxError(
          `The sandbox runs, but its daemon has not answered for ${SILENT_MS / 1000} seconds.`,
        );
    }
    await Bun.sleep(Math.min(POLL_MS + (now - begun) * POLL_SHARE, POLL_LONGEST_MS));
  }
}

/** @throws SandboxError that says how the sandbox ended */
async function requireAlive(deps: Deps, { sessionId, provider }: SessionRow): Promise<void> {
  const sandbox = await deps.sandboxes.get(provider)?.find(sessionId);
  if (sandbox?.state === "running") return;
  throw new SandboxError(howItEnded(sandbox ?? null));
}

/** A sentence for a session's user. */
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

function appTooLate(last: DaemonHealth | null): string {
  const words = last?.error ? ` Its last words: ${last.error.message}` : "";
  return `The app was not built and did not answer in time.${words}`;
}

function tooLate(isCloned: boolean, last: DaemonHealth | null): string {
  const words = last?.error ? ` Its last words: ${last.error.message}` : "";
  return isCloned
    ? `The agent runtime did not start within ${RUNTIME_MS / 1000} seconds.${words}`
    : `The repository was not cloned within ${CLONE_MS / 60_000} minutes.${words}`;
}
