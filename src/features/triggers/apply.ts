import { isDeepStrictEqual } from "node:util";
import { and, eq, notInArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { triggers } from "../../../db/schema/index.ts";
import { nextDue } from "../../contract/cron.ts";
import { SvcError } from "../../contract/errors.ts";
import type { ManifestTrigger } from "../../contract/manifest/manifest.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectChange } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { ManifestFeature } from "../manifest/feature.ts";
import { requireAgent } from "../sessions/require-agent.ts";
import type { TriggerRow } from "./row.ts";

/**
 * Applies the triggers of the manifest on a project's default branch. A trigger that is new, enabled again or has
 * another schedule is due from now on; an unchanged one keeps its times. A trigger that was removed is deleted, with
 * its waiting firings.
 */
export const applyTriggers: ManifestFeature = async (deps, { project, manifest }) => {
  const { projectId } = project;
  const problems = await agentProblems(deps, project, manifest.triggers);
  return (tx, now) => apply(tx, projectId, manifest.triggers, problems, now);
};

/** Errors of the agents that triggers name: agent → message. An agent that cannot be checked has none. */
async function agentProblems(
  deps: Deps,
  project: ProjectRow,
  entries: readonly ManifestTrigger[],
): Promise<ReadonlyMap<string, string>> {
  const problems = new Map<string, string>();
  for (const agent of new Set(entries.flatMap((entry) => entry.agent ?? []))) {
    try {
      await requireAgent(deps, project, agent);
    } catch (error) {
      if (!(error instanceof SvcError)) throw error;
      problems.set(agent, error.message);
    }
  }
  return problems;
}

async function apply(
  tx: Db,
  projectId: string,
  entries: readonly ManifestTrigger[],
  problems: ReadonlyMap<string, string>,
  now: Date,
): Promise<ProjectChange[]> {
  const before = await tx
    .select()
    .from(triggers)
    .where(eq(triggers.projectId, projectId))
    .orderBy(triggers.triggerId)
    .for("no key update");
  const known = new Map(before.map((row) => [row.slug, row]));
  const changes: ProjectChange[] = [];
  for (const [position, entry] of entries.entries()) {
    const problem = problems.get(entry.agent ?? "") ?? null;
    const values = { ...entry, position, problem };
    const action = await upsert(tx, projectId, values, known.get(entry.slug), now);
    if (action) changes.push({ type: "trigger", id: entry.slug, action });
  }
  const slugs = entries.map(({ slug }) => slug);
  const removed = before.filter(({ slug }) => !slugs.includes(slug));
  if (removed.length > 0)
    await tx.delete(triggers).where(and(eq(triggers.projectId, projectId), notInArray(triggers.slug, slugs)));
  return [
    ...changes,
    ...removed.map(({ slug }): ProjectChange => ({ type: "trigger", id: slug, action: "deleted" })),
  ];
}

async function upsert(
  tx: Db,
  projectId: string,
  values: ManifestTrigger & Pick<TriggerRow, "position" | "problem">,
  before: TriggerRow | undefined,
  now: Date,
): Promise<"created" | "changed" | null> {
  if (!before) {
    await tx.insert(triggers).values({ ...values, projectId, nextFireAt: firstDue(values, now) });
    return "created";
  }
  const isSame = Object.entries(values).every(([key, value]) =>
    isDeepStrictEqual(Reflect.get(before, key), value),
  );
  if (isSame) return null;
  const { enabled, cron, timezone } = before;
  const keepsTimes = enabled === values.enabled && cron === values.cron && timezone === values.timezone;
  await tx
    .update(triggers)
    .set({ ...values, lastError: null, ...(!keepsTimes && { nextFireAt: firstDue(values, now) }) })
    .where(eq(triggers.triggerId, before.triggerId));
  return "changed";
}

function firstDue({ enabled, cron, timezone }: ManifestTrigger, now: Date): Date | null {
  return enabled && cron !== null ? nextDue(cron, timezone, now) : null;
}
