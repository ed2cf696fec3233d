import { and, asc, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { isForeignKeyViolation } from "../../../db/errors.ts";
import { projects, triggerFirings, triggers } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import { oldestOwner } from "../../identity/accounts/membership.ts";
import { addSession, newSession, sessionCreated } from "../sessions/create.ts";
import type { FiringRow } from "./row.ts";

/**
 * The outcome of a firing. `full`: the account's session cap is reached; `other`: another process has handled it, or it
 * was removed.
 */
export type Outcome = "fired" | "full" | "failed" | "other";

type Waiting = Pick<FiringRow, "seq" | "triggerId">;

/**
 * Fires the waiting firings, the oldest of each account first, until the account's session cap is reached.
 * @returns whether any account's is
 */
export async function fireWaiting(deps: Deps, signal: AbortSignal): Promise<boolean> {
  const isWaiting = eq(triggerFirings.state, "waiting");
  const accounts = await deps.db
    .selectDistinct({ accountId: triggerFirings.accountId })
    .from(triggerFirings)
    .where(isWaiting);
  let isAnyFull = false;
  for (const { accountId } of accounts) {
    let outcome: Outcome = "fired";
    while ((outcome === "fired" || outcome === "failed") && !signal.aborted) {
      const [next] = await deps.db
        .select({ seq: triggerFirings.seq, triggerId: triggerFirings.triggerId })
        .from(triggerFirings)
        .where(and(eq(triggerFirings.accountId, accountId), isWaiting))
        .orderBy(asc(triggerFirings.seq))
        .limit(1);
      if (!next) break;
      outcome = await fire(deps, next);
    }
    isAnyFull ||= outcome === "full";
  }
  return isAnyFull;
}

/**
 * Creates the session of a waiting firing and marks the firing as fired, in one transaction: a crash or another server
 * never creates a second session. An error is recorded at the trigger.
 */
export async function fire(deps: Deps, waiting: Waiting): Promise<Outcome> {
  try {
    return await deps.db.transaction((tx) => fireIn(deps, tx, waiting));
  } catch (error) {
    if (isForeignKeyViolation(error)) return "other";
    if (!(error instanceof SvcError)) throw error;
    if (error.code === "concurrent_session_limit") return "full";
    await fail(deps, waiting, error.message);
    return "failed";
  }
}

async function fireIn(deps: Deps, tx: Db, waiting: Waiting): Promise<Outcome> {
  const found = await lockFiring(tx, waiting);
  if (!found) return "other";
  const { trigger, project, firing } = found;
  if (trigger.problem !== null) throw new SvcError("validation_failed", trigger.problem);
  const userId = firing.createdBy ?? (await ownerOf(tx, project.accountId));
  // a manual firing acts as the user; otherwise the trigger acts for the account's owner
  const actor =
    firing.createdBy === null ? ({ kind: "token", name: `trigger ${trigger.slug}` } as const) : null;
  const session = newSession(deps, { userId, actor }, project, {
    ...(firing.sessionId !== null && { session_id: firing.sessionId }),
    ...(trigger.agent !== null && { agent_name: trigger.agent }),
    ...(trigger.model !== null && { model: trigger.model }),
    ...(firing.prompt?.trim() && { initial_prompt: firing.prompt }),
    name: trigger.name ?? trigger.slug,
  });
  const row = await addSession(deps, tx, {
    ...session,
    secretAudience: ["sessions", `triggers:${trigger.slug}`],
    secretNames: trigger.secrets,
  });
  const now = await deps.databaseTime(tx);
  await tx
    .update(triggerFirings)
    .set({ state: "fired", endedAt: now, prompt: null })
    .where(eq(triggerFirings.seq, firing.seq));
  await tx
    .update(triggers)
    .set({ lastFiredAt: now, lastError: null })
    .where(eq(triggers.triggerId, trigger.triggerId));
  const changed = { type: "trigger", id: trigger.slug, action: "changed" } as const;
  await publish(tx, project.projectId, sessionCreated(row), changed);
  await deps.checkpoint("firing-recorded");
  return "fired";
}

/** Locks the trigger's row first, in the same order as `applyTriggers`; then the firing, if it still waits. */
async function lockFiring(tx: Db, { seq, triggerId }: Waiting) {
  const [found] = await tx
    .select({ trigger: triggers, project: projects })
    .from(triggers)
    .innerJoin(projects, eq(projects.projectId, triggers.projectId))
    .where(eq(triggers.triggerId, triggerId))
    .for("no key update", { of: triggers });
  const isWaiting = and(eq(triggerFirings.seq, seq), eq(triggerFirings.state, "waiting"));
  const [firing] = found ? await tx.select().from(triggerFirings).where(isWaiting).for("update") : [];
  return found && firing ? { ...found, firing } : null;
}

async function ownerOf(tx: Db, accountId: string): Promise<string> {
  const owner = await oldestOwner(tx, accountId);
  if (owner === null) throw new SvcError("forbidden", "The account has no owner to create the session for.");
  return owner;
}

async function fail(deps: Deps, waiting: Waiting, reason: string): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const found = await lockFiring(tx, waiting);
    if (!found) return;
    const { trigger, project, firing } = found;
    deps.log.warn({ project: project.projectId, trigger: trigger.slug, reason }, "a trigger could not fire");
    const ended = { endedAt: await deps.databaseTime(tx), prompt: null, error: reason };
    await tx
      .update(triggerFirings)
      .set({ state: "failed", ...ended })
      .where(eq(triggerFirings.seq, firing.seq));
    await tx.update(triggers).set({ lastError: reason }).where(eq(triggers.triggerId, trigger.triggerId));
    await publish(tx, project.projectId, { type: "trigger", id: trigger.slug, action: "changed" });
  });
}
