import { and, eq, inArray, or } from "drizzle-orm";
import { runs } from "../../../db/schema/index.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { isWithinReach, placesOf, queueOf } from "../../jobs/places.ts";
import { type Provider, type Sandbox, SandboxError } from "../../sandboxes/provider.ts";
import { blockedOn, recordEngine } from "./blocked.ts";
import { describeExit } from "./boot.ts";
import { withClaim } from "./claim.ts";
import { endSandbox } from "./end.ts";
import { recordFailure } from "./fail.ts";
import { kindOf, type RunKinds } from "./kind.ts";
import { type RunRow, stillRunning } from "./row.ts";

/** The grace period of a sandbox without a run: no request waits for it. */
const ORPHAN_GRACE_MS = 2_000;
/** Runs whose jobs are enqueued again per round. */
const BATCH = 200;

/**
 * Compares runs with sandboxes, and repairs the difference: sandboxes that died, sandboxes without a run, runs whose job
 * was lost.
 * @returns whether there are any, so that the next difference may come at any time
 */
export async function reconcile(deps: Deps, kinds: RunKinds): Promise<boolean> {
  let found = await enqueueUnsettled(deps);
  for (const provider of deps.sandboxes.all()) found += await reconcileProvider(deps, kinds, provider);
  return found > 0;
}

/** Enqueues the job of every run whose status is not its goal; a queued job is not queued twice. @returns how many */
async function enqueueUnsettled(deps: Deps): Promise<number> {
  const unsettled = await deps.db
    .select({ runId: runs.runId, place: runs.place })
    .from(runs)
    .where(
      and(
        inArray(runs.place, placesOf(deps)),
        or(
          eq(runs.goal, "deleted"),
          eq(runs.status, "provisioning"),
          and(eq(runs.goal, "stopped"), eq(runs.status, "running")),
        ),
      ),
    )
    .limit(BATCH);
  for (const { runId, place } of unsettled) await deps.jobs.enqueue(deps.db, queueOf("runs", place), runId);
  return unsettled.length;
}

/** @returns how many runs and sandboxes there are */
async function reconcileProvider(deps: Deps, kinds: RunKinds, provider: Provider): Promise<number> {
  // the rows first: a run without a sandbox has lost it, and a sandbox without a run may have just started
  const running = await runningOn(deps, provider);
  const listed = await listOr(provider);
  if ("away" in listed) {
    deps.log.warn({ provider: provider.name, err: listed.away }, "the engine of sandboxes is away");
    const blocked = blockedOn("engine", listed.away.message);
    for (const run of running)
      if (run.blockedOn === null) await recordEngine(deps, kindOf(kinds, run), run, blocked);
    return running.length;
  }
  for (const run of running)
    if (run.blockedOn !== null) await recordEngine(deps, kindOf(kinds, run), run, null);
  const sandboxes = new Map(listed.sandboxes.map((sandbox) => [sandbox.sessionId, sandbox]));
  for (const run of running)
    if (sandboxes.get(run.runId)?.state !== "running") await recordDeath(deps, kinds, provider, run);
  const owned = await ownedAmong(deps, [...sandboxes.values()]);
  for (const sandbox of sandboxes.values()) if (!owned.has(sandbox)) await endOrphan(deps, provider, sandbox);
  return running.length + sandboxes.size;
}

/** The sandboxes of a provider, or why its engine does not answer. */
async function listOr(provider: Provider): Promise<{ sandboxes: Sandbox[] } | { away: SandboxError }> {
  try {
    return { sandboxes: await provider.list() };
  } catch (error) {
    if (error instanceof SandboxError && error.away) return { away: error };
    throw error;
  }
}

/**
 * Of these sandboxes, those that belong to a run. A run that moved to another server has left one of an earlier start
 * here; two servers that share an engine see each other's, of the current start.
 */
async function ownedAmong(deps: Deps, sandboxes: Sandbox[]): Promise<ReadonlySet<Sandbox>> {
  const ids = sandboxes.map(({ sessionId }) => sessionId);
  if (ids.length === 0) return new Set();
  const rows = await deps.db.select().from(runs).where(inArray(runs.runId, ids));
  const known = new Map(rows.map((row) => [row.runId, row]));
  const isOwned = ({ sessionId, generation }: Sandbox) => {
    const run = known.get(sessionId);
    if (!run || !isAlive(run)) return false;
    return isWithinReach(deps, run) || run.generation === generation;
  };
  return new Set(sandboxes.filter(isOwned));
}

async function runningOn(deps: Deps, { name }: Provider): Promise<RunRow[]> {
  return await deps.db
    .select()
    .from(runs)
    .where(
      and(
        eq(runs.provider, name),
        eq(runs.status, "running"),
        eq(runs.goal, "running"),
        inArray(runs.place, placesOf(deps)),
      ),
    );
}

/**
 * Records that a sandbox has ended without svc: on its own, by the kernel, or by an operator. The run may be started
 * again at the same moment, so only the holder of the claim acts.
 */
async function recordDeath(deps: Deps, kinds: RunKinds, provider: Provider, run: RunRow): Promise<void> {
  const kind = kindOf(kinds, run);
  await withClaim(deps, run.runId, async () => {
    const [row] = await deps.db.select().from(runs).where(stillRunning(run));
    if (!row) return;
    const sandbox = await provider.find(run.runId);
    if (sandbox?.state === "running") return;
    const { exitCode } = sandbox ?? {};
    deps.log.warn({ [kind.name]: run.runId, exitCode }, "a sandbox exited on its own");
    await endSandbox(deps, kind, row);
    await recordFailure(deps, kind, row, describeExit(sandbox));
  });
}

/** Stops a sandbox whose run is deleted, has ended, or has another sandbox. */
async function endOrphan(deps: Deps, provider: Provider, found: Sandbox): Promise<void> {
  const { sessionId: runId } = found;
  const end = async () => {
    deps.log.warn({ run: runId }, "stopping a sandbox without a run");
    await provider.stop(runId, ORPHAN_GRACE_MS);
  };
  const isKnown = (await deps.db.$count(runs, eq(runs.runId, runId))) > 0;
  if (!isKnown) return await end();
  await withClaim(deps, runId, async () => {
    const sandbox = (await provider.find(runId)) ?? found;
    if (!(await ownedAmong(deps, [sandbox])).has(sandbox)) await end();
  });
}
