import { and, asc, eq, lte } from "drizzle-orm";
import { commitStatuses, projects } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import type { HostOutcome, HostStatus } from "../../../git/git.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { OWN_PREFIX } from "../describe.ts";
import { pageOfCommit } from "../runs/read.ts";
import { worstOf } from "../statuses.ts";

/** Statuses per round; the next round takes the rest. */
const BATCH = 50;
/** How long a server has a status for itself: longer than its call may take. */
const CLAIM_MS = 60_000;
/** The wait after a failure, doubled with each. */
const BACKOFF_MS = 10_000;
const BACKOFF_MAX_MS = 10 * 60_000;
/** Failures after which it is given up. A refusal is tried again too: a host may not know the commit yet. */
const FAILURES_MAX = 12;
const REFUSALS_MAX = 4;

type StatusRow = typeof commitStatuses.$inferSelect;

/** @returns the work to do for the statuses that are due */
export async function reportToHosts(deps: Deps): Promise<(() => Promise<void>)[]> {
  const due = await deps.db
    .select({ status: commitStatuses, project: projects })
    .from(commitStatuses)
    .innerJoin(projects, eq(projects.projectId, commitStatuses.projectId))
    .where(lte(commitStatuses.reportDueAt, deps.clock()))
    .orderBy(asc(commitStatuses.reportDueAt))
    .limit(BATCH);
  return due.map(({ status, project }) => async () => {
    await report(deps, status, project).catch((error: unknown) =>
      deps.log.warn({ err: error, project: project.projectId }, "cannot report a check to the git host"),
    );
  });
}

async function report(deps: Deps, seen: StatusRow, project: ProjectRow): Promise<void> {
  const claim = new Date(deps.clock().getTime() + CLAIM_MS);
  const status = await change(deps, seen, { reportDueAt: claim });
  if (!status) return;
  const outcome = await deps.git.reportStatus(
    repositoryOf(deps, project),
    status.sha,
    await shownOnHost(deps, status, project),
  );
  await deps.checkpoint("check-reported-to-host");
  const next = nextOf(outcome, status, deps.clock());
  if (outcome.outcome === "failed")
    deps.log.info(
      { project: project.projectId, reason: outcome.reason, again: next.reportDueAt },
      "the git host did not take the result of a check",
    );
  // one that was recorded meanwhile may have reached the host before this one: it is reported once more
  if (!(await change(deps, status, next)))
    await deps.db
      .update(commitStatuses)
      .set({ reportDueAt: deps.clock() })
      .where(and(eq(commitStatuses.statusId, status.statusId), eq(commitStatuses.fromHost, false)));
}

/** @returns the changed row; null when it was taken or recorded anew meanwhile */
async function change(
  { db }: Pick<Deps, "db">,
  { statusId, reportDueAt }: StatusRow,
  set: Partial<Pick<StatusRow, "reportDueAt" | "reportFailures">>,
): Promise<StatusRow | null> {
  if (reportDueAt === null) return null;
  const [row] = await db
    .update(commitStatuses)
    .set(set)
    .where(and(eq(commitStatuses.statusId, statusId), eq(commitStatuses.reportDueAt, reportDueAt)))
    .returning();
  return row ?? null;
}

function nextOf(
  outcome: HostOutcome<null>,
  { reportFailures }: StatusRow,
  now: Date,
): Pick<StatusRow, "reportDueAt" | "reportFailures"> {
  if (outcome.outcome !== "failed") return { reportDueAt: null, reportFailures: 0 };
  const failures = reportFailures + 1;
  if (failures >= (outcome.isFinal ? REFUSALS_MAX : FAILURES_MAX))
    return { reportDueAt: null, reportFailures: failures };
  const wait = Math.min(BACKOFF_MAX_MS, BACKOFF_MS * 2 ** (failures - 1));
  return {
    reportDueAt: new Date(now.getTime() + Math.max(wait, outcome.retryMs ?? 0)),
    reportFailures: failures,
  };
}

/** Of a status and a check run of one name, which share a name there, the worst counts, as it does here. */
async function shownOnHost(deps: Deps, status: StatusRow, project: ProjectRow): Promise<HostStatus> {
  const { context, sha, projectId } = status;
  const named = await deps.db
    .select()
    .from(commitStatuses)
    .where(
      and(
        eq(commitStatuses.projectId, projectId),
        eq(commitStatuses.sha, sha),
        eq(commitStatuses.context, context),
        eq(commitStatuses.fromHost, false),
      ),
    );
  const worst = worstOf(named.map(({ state }) => state));
  const { state, description, targetUrl } = named.find((each) => each.state === worst) ?? status;
  const link = targetUrl ?? (await pageOfCommit(deps, project, sha));
  return { context: `${OWN_PREFIX}${context}`, state, description, targetUrl: link };
}
