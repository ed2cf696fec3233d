import { randomUUID } from "node:crypto";
import { and, asc, eq, isNotNull, lte } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projects, triggerFirings, triggers } from "../../../db/schema/index.ts";
import { lastDue, nextDue } from "../../contract/cron.ts";
import { STALE_S } from "../../contract/trigger.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { isFull } from "./firing.ts";
import type { TriggerRow } from "./row.ts";
import { render } from "./template.ts";

/** Triggers per transaction: the next time of one is computed within milliseconds. */
const AT_ONCE = 20;

/**
 * Records the firings that are due by the database's clock, and when each of those triggers is due next, in one
 * transaction. Two servers never process the same trigger. Of the times that have passed, the last one fires if it is
 * at most an hour old; all others are missed, and recorded as a range.
 * @returns how many triggers were due
 */
export async function writeDue(deps: Pick<Deps, "db" | "databaseTime" | "log">): Promise<number> {
  return await deps.db.transaction(async (tx) => {
    const now = await deps.databaseTime(tx);
    const due = await tx
      .select({ trigger: triggers, project: projects })
      .from(triggers)
      .innerJoin(projects, eq(projects.projectId, triggers.projectId))
      .where(and(isNotNull(triggers.nextFireAt), lte(triggers.nextFireAt, now)))
      .orderBy(asc(triggers.nextFireAt))
      .limit(AT_ONCE)
      .for("no key update", { of: triggers, skipLocked: true });
    for (const { trigger, project } of due) await advance(deps, tx, { trigger, project, now });
    // in one order, so that two servers that announce in the same projects do not deadlock
    const byProject = Map.groupBy(due, ({ project }) => project.projectId);
    for (const [projectId, rows] of [...byProject].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      const changes = rows.map(
        ({ trigger }) => ({ type: "trigger", id: trigger.slug, action: "changed" }) as const,
      );
      await publish(tx, projectId, ...changes);
    }
    return due.length;
  });
}

interface Due {
  trigger: TriggerRow;
  project: ProjectRow;
  now: Date;
}

async function advance(deps: Pick<Deps, "log">, tx: Db, { trigger, project, now }: Due): Promise<void> {
  const { triggerId, cron, timezone, nextFireAt: first } = trigger;
  if (cron === null || first === null) return;
  const move = (values: Partial<TriggerRow>) =>
    tx.update(triggers).set(values).where(eq(triggers.triggerId, triggerId));
  let times: { next: Date | null; last: Date; before: Date | null };
  try {
    const last = lastDue(cron, timezone, now) ?? first;
    times = {
      next: nextDue(cron, timezone, now),
      last,
      before: lastDue(cron, timezone, new Date(last.getTime() - 1)),
    };
  } catch (error) {
    deps.log.error(
      { project: project.projectId, trigger: trigger.slug, err: error },
      "cannot compute the times of a schedule",
    );
    await move({
      nextFireAt: null,
      lastError: `Cannot compute when the schedule "${cron}" is due in ${timezone}.`,
    });
    return;
  }
  const { next, last, before } = times;
  const isStale = last.getTime() < now.getTime() - STALE_S * 1000;
  const missedUntil = isStale ? last : before;
  if (missedUntil && missedUntil >= first) {
    deps.log.warn(
      { project: project.projectId, trigger: trigger.slug, from: first, until: missedUntil },
      "a trigger has missed due times",
    );
    await insertFiring(tx, project, trigger, { now, dueAt: first, dueUntil: missedUntil, state: "missed" });
  }
  if (!isStale) {
    const full = await isFull(tx, project.projectId);
    const context = contextOf(project, trigger, { dueAt: last, now });
    await insertFiring(tx, project, trigger, {
      now,
      dueAt: last,
      sessionId: randomUUID(),
      ...(full
        ? { state: "skipped", error: "Too many firings of this project are waiting.", endedAt: now }
        : { state: "waiting", prompt: render(trigger.prompt, context) }),
    });
  }
  await move({ nextFireAt: next });
}

type Written = Pick<typeof triggerFirings.$inferInsert, "dueAt" | "state"> &
  Partial<typeof triggerFirings.$inferInsert> & { now: Date };

/** Records a firing, once for its due time. */
async function insertFiring(
  tx: Db,
  { projectId, accountId }: ProjectRow,
  { triggerId }: TriggerRow,
  { now, ...values }: Written,
): Promise<void> {
  await tx
    .insert(triggerFirings)
    .values({
      source: "cron",
      key: `due ${values.dueAt.toISOString()}`,
      triggerId,
      projectId,
      accountId,
      createdAt: now,
      ...(values.state === "missed" && { endedAt: now }),
      ...values,
    })
    .onConflictDoNothing();
}

/** The variables of every template: the project, the trigger, and the time. */
export function contextOf(
  project: ProjectRow,
  trigger: TriggerRow,
  { dueAt, now }: { dueAt: Date; now: Date },
) {
  return {
    trigger: { slug: trigger.slug, name: trigger.name, type: trigger.type },
    project: {
      id: project.projectId,
      slug: project.slug,
      name: project.name,
      default_branch: project.defaultBranch,
    },
    due_at: dueAt.toISOString(),
    fired_at: now.toISOString(),
  };
}
