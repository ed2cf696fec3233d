import { and, asc, eq, lte } from "drizzle-orm";
import { changeRequests, hostReads, projects } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import type { HostOutcome, HostStatus } from "../../../git/git.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { storeFromHost } from "./store.ts";

/** Change requests per round; the next round takes the rest. */
const BATCH = 50;
/** How long a server has one for itself: longer than its calls may take. */
const CLAIM_MS = 60_000;
const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The wait after a failure, doubled with each up to an hour. */
const BACKOFF_MS = 30 * SECOND;

type ReadRow = typeof hostReads.$inferSelect;
type CrRow = typeof changeRequests.$inferSelect;

/** @returns the work to do for the change requests that are due */
export async function readFromHosts(deps: Deps): Promise<(() => Promise<void>)[]> {
  const due = await deps.db
    .select({ read: hostReads, cr: changeRequests, project: projects })
    .from(hostReads)
    .innerJoin(changeRequests, eq(changeRequests.crId, hostReads.crId))
    .innerJoin(projects, eq(projects.projectId, changeRequests.projectId))
    .where(lte(hostReads.dueAt, deps.clock()))
    .orderBy(asc(hostReads.dueAt))
    .limit(BATCH);
  return due.map((each) => async () => {
    await readOne(deps, each).catch((error: unknown) =>
      deps.log.warn({ err: error, cr: each.cr.crId }, "cannot read checks from the git host"),
    );
  });
}

async function readOne(
  deps: Deps,
  { read: seen, cr, project }: { read: ReadRow; cr: CrRow; project: ProjectRow },
): Promise<void> {
  const isWatched = cr.status === "open" && cr.headCommitSha !== null;
  const claim = isWatched ? new Date(deps.clock().getTime() + CLAIM_MS) : null;
  const read = await change(deps, seen, { dueAt: claim });
  if (!read || cr.headCommitSha === null || !isWatched) return;
  const outcome = await deps.git.readStatuses(repositoryOf(deps, project), cr.headCommitSha);
  if (outcome.outcome === "failed")
    deps.log.info(
      { project: project.projectId, reason: outcome.reason },
      "the git host did not list the checks of a commit",
    );
  if (outcome.outcome === "done") await storeFromHost(deps, project, cr.headCommitSha, outcome.value);
  const failures = outcome.outcome === "failed" ? read.failures + 1 : 0;
  const now = deps.clock().getTime();
  const wait = waitAfter(outcome, { failures, ageMs: now - read.since.getTime() });
  await change(deps, read, { dueAt: new Date(now + wait), failures });
}

/** Does nothing if it was taken, or is due anew, meanwhile. */
async function change(
  { db }: Pick<Deps, "db">,
  { crId, dueAt }: ReadRow,
  set: Partial<Pick<ReadRow, "dueAt" | "failures">>,
): Promise<ReadRow | null> {
  if (dueAt === null) return null;
  const [row] = await db
    .update(hostReads)
    .set(set)
    .where(and(eq(hostReads.crId, crId), eq(hostReads.dueAt, dueAt)))
    .returning();
  return row ?? null;
}

/**
 * How long until the next read, in ms: often while checks run or may begin, and rarely afterwards, since a host allows some
 * thousand calls an hour to a token.
 * @param ageMs since the head moved
 */
export function waitAfter(
  outcome: HostOutcome<readonly Pick<HostStatus, "state">[]>,
  { failures, ageMs }: { failures: number; ageMs: number },
): number {
  if (outcome.outcome === "none") return HOUR;
  if (outcome.outcome === "failed") {
    const wait = outcome.isFinal ? HOUR : Math.min(HOUR, BACKOFF_MS * 2 ** (failures - 1));
    return Math.max(wait, outcome.retryMs ?? 0);
  }
  const isAwaited = outcome.value.length === 0 || outcome.value.some(({ state }) => state === "pending");
  if (ageMs < 10 * MINUTE) return isAwaited ? 15 * SECOND : MINUTE;
  if (ageMs < 24 * HOUR) return isAwaited && outcome.value.length > 0 ? MINUTE : 10 * MINUTE;
  return HOUR;
}
