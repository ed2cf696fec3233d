import { and, eq } from "drizzle-orm";
import { commitStatuses, projectManifests } from "../../../../db/schema/index.ts";
import { CONTEXTS_MAX } from "../../../contract/commit-status.ts";
import { CONTEXT_MAX, CONTEXT_PATTERN } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { type ProjectChange, publish } from "../../../events/publish.ts";
import type { HostStatus } from "../../../git/git.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { lockProject } from "../../projects/lock.ts";
import { linkOf, OWN_PREFIX, shortened } from "../describe.ts";
import { recordStatus } from "../record-status.ts";
import { SEVERITY } from "../statuses.ts";

/**
 * Records the checks that a host has for a commit. They never replace what was reported to svc, nor a check that svc runs
 * itself; what has not changed is not recorded again.
 */
export async function storeFromHost(
  deps: Deps,
  { projectId }: ProjectRow,
  sha: string,
  found: readonly HostStatus[],
): Promise<void> {
  const statuses = readable(found);
  if (statuses.length === 0) return;
  await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    const rows = await tx
      .select()
      .from(commitStatuses)
      .where(and(eq(commitStatuses.projectId, projectId), eq(commitStatuses.sha, sha)));
    const isStatus = ({ checkRunId }: (typeof rows)[number]) => checkRunId === null;
    const [manifest] = await tx
      .select({ checks: projectManifests.checks })
      .from(projectManifests)
      .where(eq(projectManifests.projectId, projectId));
    // those whose run has not begun have no status yet
    const own = new Set((manifest?.checks ?? []).map(({ name }) => name));
    const changes: ProjectChange[] = [];
    let room = CONTEXTS_MAX - rows.length;
    for (const { context, ...values } of statuses) {
      const row = rows.find((each) => each.context === context && isStatus(each));
      if (row ? !row.fromHost || isSame(row, values) : own.has(context) || room-- <= 0) continue;
      const by = { fromHost: true, createdBy: null, createdActor: null };
      const recorded = await recordStatus(
        deps,
        tx,
        { projectId, sha, context, checkRunId: null },
        { ...values, ...by },
      );
      changes.push(...recorded.changes);
    }
    await publish(tx, projectId, ...changes);
  });
}

type Values = Omit<HostStatus, "context">;

function isSame(row: Values, { state, description, targetUrl }: Values): boolean {
  return row.state === state && row.description === description && row.targetUrl === targetUrl;
}

/** Those that svc can store, one for each name: of several, such as jobs of two workflows, the worst. */
function readable(found: readonly HostStatus[]): HostStatus[] {
  const byContext = new Map<string, HostStatus>();
  for (const status of found) {
    const context = status.context.toWellFormed();
    if (context.length > CONTEXT_MAX || !CONTEXT.test(context) || context.startsWith(OWN_PREFIX)) continue;
    const other = byContext.get(context);
    if (other && SEVERITY[other.state] >= SEVERITY[status.state]) continue;
    byContext.set(context, {
      context,
      state: status.state,
      description: status.description && shortened(status.description),
      targetUrl: status.targetUrl && linkOf(status.targetUrl),
    });
  }
  return [...byContext.values()];
}

const CONTEXT = new RegExp(CONTEXT_PATTERN);
