import { randomUUID } from "node:crypto";
import { and, asc, eq, inArray, isNull } from "drizzle-orm";
import { checks, projects, runs } from "../../../../db/schema/index.ts";
import { LIVE_STATUSES } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { lockAccount } from "../../../identity/accounts/lock.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { lockProject } from "../../projects/lock.ts";
import { addRun } from "../../runs/goal.ts";
import { checkRuns } from "./kind.ts";

/** Checks per round; the next round takes the rest. */
const BATCH = 100;

const isWaiting = and(eq(checks.state, "queued"), isNull(checks.runId));

/** Starts the checks that wait, the oldest first, up to the limit of each account. @returns whether any wait */
export async function startChecks(deps: Deps): Promise<boolean> {
  const waiting = await deps.db
    .select({ checkId: checks.checkId, project: projects })
    .from(checks)
    .innerJoin(projects, eq(projects.projectId, checks.projectId))
    .where(isWaiting)
    .orderBy(asc(checks.createdAt))
    .limit(BATCH);
  const full = new Set<string>();
  for (const { checkId, project } of waiting) {
    if (full.has(project.accountId)) continue;
    if (!(await start(deps, project, checkId))) full.add(project.accountId);
  }
  return waiting.length > 0;
}

/** @returns false: the account runs as many checks as it may */
async function start(deps: Deps, project: ProjectRow, checkId: string): Promise<boolean> {
  const { accountId } = project;
  const hasRoom = await deps.db.transaction(async (tx) => {
    // so that two servers cannot take the last place
    await lockAccount(tx, accountId);
    const live = and(
      eq(runs.accountId, accountId),
      eq(runs.kind, checkRuns.name),
      inArray(runs.status, [...LIVE_STATUSES]),
    );
    if ((await tx.$count(runs, live)) >= deps.config.checkCap) return false;
    await lockProject(tx, project.projectId);
    const runId = randomUUID();
    const [taken] = await tx
      .select({ id: checks.checkId })
      .from(checks)
      .where(and(eq(checks.checkId, checkId), isWaiting));
    if (!taken) return true;
    await addRun(deps, tx, checkRuns, { ...project, runId, provider: deps.sandboxes.defaultName });
    await tx.update(checks).set({ runId }).where(eq(checks.checkId, checkId));
    return true;
  });
  await deps.checkpoint("check-started");
  return hasRoom;
}
