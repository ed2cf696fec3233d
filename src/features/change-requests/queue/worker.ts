import { and, eq, inArray, isNotNull, sql } from "drizzle-orm";
import {
  changeRequests,
  commitStatuses,
  mergeQueueBranches,
  mergeQueueEntries,
  projects,
} from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { runPeriodically } from "../../../jobs/periodic.ts";
import { inParallel } from "../../../lib/in-parallel.ts";
import { storedProtection } from "../../projects/protection.ts";
import { advance } from "./advance.ts";
import { QUEUE_WAKER } from "./enter.ts";
import { isQueued } from "./row.ts";

/** The shortest time between two rounds: notifications may come in bursts. */
const BUSY_MS = 200;
/** How long what svc is not notified of may go unnoticed: a push to the git host, a limit of time. */
const LOOK_MS = 30_000;
/** The wait after a failure, doubled with each up to the maximum. */
const BACKOFF_MS = 2_000;
const BACKOFF_MAX_MS = 5 * 60_000;
/** Projects at a time: a slow git host must not delay the others. */
const CONCURRENCY = 4;
/** Passes of a project in one round: more than its queue may need to land whole. */
const PASSES_MAX = 200;

/**
 * Merges the change requests in merge queues, as those who queued them.
 *
 * 1. The first entries of a queue are built on top of each other (`advance.ts`), pushed to branches that CI sees, and given
 *    svc's own checks (`branches.ts`).
 * 2. When the required checks of the first have passed, the base is moved to exactly that commit (`land.ts`), with the intent
 *    and the lease of every merge (`merge.ts`).
 * 3. A conflict or a failed check takes an entry out, with the reason; what was built on it is built again. So is everything
 *    when somebody else moves the base.
 *
 * All state is in the database and changes by guarded updates, and the same entry on the same parent gives the same commit.
 * So any number of servers may do it at once, and one that was killed leaves nothing but what the next pass takes up.
 *
 * @returns stops the worker, and waits for the round in progress
 */
export function startQueueWorker(deps: Deps): () => Promise<void> {
  const stopping = new AbortController();
  const seen = new Map<string, Seen>();
  const stop = runPeriodically(
    deps,
    {
      subject: QUEUE_WAKER,
      wakers: ["change_request", "approval", "check", "project"],
      work: [() => advanceAll(deps, seen, stopping.signal)],
    },
    { busyMs: BUSY_MS },
  );
  return async () => {
    stopping.abort();
    await stop();
  };
}

/** What the last pass over a project was based on, and when the next one is due without a change. */
interface Seen {
  state: string;
  dueAt: number;
  failures: number;
}

/** @returns whether one failed, and is tried again before long */
async function advanceAll(deps: Deps, seen: Map<string, Seen>, signal: AbortSignal): Promise<boolean> {
  const ids = deps.db
    .selectDistinct({ projectId: mergeQueueEntries.projectId })
    .from(mergeQueueEntries)
    .where(isQueued)
    .union(deps.db.selectDistinct({ projectId: mergeQueueBranches.projectId }).from(mergeQueueBranches));
  const found = await deps.db.select().from(projects).where(inArray(projects.projectId, ids));
  for (const id of seen.keys()) if (!found.some(({ projectId }) => projectId === id)) seen.delete(id);
  await inParallel(found, CONCURRENCY, signal, (project) => advanceOne(deps, seen, project, signal));
  return [...seen.values()].some(({ failures }) => failures > 0);
}

async function advanceOne(
  deps: Deps,
  seen: Map<string, Seen>,
  project: ProjectRow,
  signal: AbortSignal,
): Promise<void> {
  const { projectId } = project;
  const last = seen.get(projectId);
  const isDue = last === undefined || deps.monotonic() >= last.dueAt;
  if (!isDue && last.failures > 0) return;
  const state = await stateOf(deps, project);
  if (!isDue && last.state === state) return;
  try {
    for (let pass = 0; pass < PASSES_MAX && !signal.aborted; pass++)
      if ((await advance(deps, project)) === "done") break;
    seen.set(projectId, { state, dueAt: deps.monotonic() + LOOK_MS, failures: 0 });
  } catch (error) {
    deps.log.warn({ err: error, project: projectId }, "a merge queue failed, and is tried again");
    const failures = (last?.failures ?? 0) + 1;
    const wait = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** Math.min(failures - 1, 10));
    seen.set(projectId, { state, dueAt: deps.monotonic() + wait, failures });
  }
}

/** What passes depend on and the database has. */
async function stateOf({ db }: Deps, project: ProjectRow): Promise<string> {
  const { projectId } = project;
  const entries = await db
    .select({ queued: mergeQueueEntries, draft: changeRequests.draft, head: changeRequests.headCommitSha })
    .from(mergeQueueEntries)
    .innerJoin(changeRequests, eq(changeRequests.crId, mergeQueueEntries.crId))
    .where(and(eq(mergeQueueEntries.projectId, projectId), isQueued))
    .orderBy(mergeQueueEntries.place);
  const results = db
    .select({ sha: sql<string>`${mergeQueueEntries.testedSha}` })
    .from(mergeQueueEntries)
    .where(and(eq(mergeQueueEntries.projectId, projectId), isQueued, isNotNull(mergeQueueEntries.testedSha)));
  const { sha, context, state } = commitStatuses;
  const statuses = await db
    .select({ sha, context, state })
    .from(commitStatuses)
    .where(and(eq(commitStatuses.projectId, projectId), inArray(sha, results)))
    .orderBy(sha, context, state);
  const branches = await db.$count(mergeQueueBranches, eq(mergeQueueBranches.projectId, projectId));
  return JSON.stringify([entries, statuses, branches, await storedProtection(db, project)]);
}
