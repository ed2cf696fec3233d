import { and, eq, exists, type SQL, sql } from "drizzle-orm";
import { projectSessions, runs } from "../../../../db/schema/index.ts";
import type { Activity, WaitingFor } from "../../../contract/session.ts";
import { RuntimeActivity } from "../../../conversation/runtime-activity.ts";
import type { Ask } from "../../../conversation/runtime-event.ts";
import type { Deps } from "../../../deps.ts";
import { publish } from "../../../events/publish.ts";
import { callRuntime, type Daemon } from "../../../sandboxes/daemon.ts";
import { readAsks } from "../agent.ts";
import { notifyOfActivity } from "../notify.ts";
import type { SessionRow } from "../row.ts";
import { recordAsked } from "../webhook.ts";
import { storable } from "./part-row.ts";
import type { Redact } from "./redact.ts";

/** Characters of a text, and items of a list, of a request. Agents write them. */
const TEXT_MAX = 2_000;
const ITEMS_MAX = 20;

type State = { activity: Activity; waitingFor: WaitingFor | null };

/**
 * What the runtime's agent does now; null if it does not answer.
 * @param waitingFor what it was last known to wait for
 */
export async function readActivity(
  daemon: Daemon,
  waitingFor: WaitingFor | null,
): Promise<RuntimeActivity | null> {
  const asks = await readAsks(daemon, waitingFor);
  // read last: a run that has ended by then waits for nothing
  const statuses = await callRuntime(daemon, "GET", "/session/status");
  if (statuses === undefined) return null;
  const activity = new RuntimeActivity();
  activity.applySnapshot(statuses, asks);
  return activity;
}

/** The state as it is stored. */
export function stateOf({ state: { activity, ask } }: RuntimeActivity, redact: Redact): State {
  return {
    activity,
    waitingFor: ask && waitingForOf(ask, (text) => storable(redact(text.slice(0, TEXT_MAX)))),
  };
}

function waitingForOf(ask: Ask, clean: (text: string) => string): WaitingFor {
  const base = {
    request_id: ask.id,
    kind: ask.kind,
    kept: false,
    permission: null,
    patterns: [],
    questions: [],
  };
  if (ask.kind === "permission")
    return {
      ...base,
      permission: clean(ask.permission),
      patterns: ask.patterns.slice(0, ITEMS_MAX).map(clean),
    };
  return {
    ...base,
    questions: ask.questions.slice(0, ITEMS_MAX).map(({ question, options, multiple, custom }) => ({
      question: clean(question),
      options: options.slice(0, ITEMS_MAX).map(({ label, description }) => ({
        label: clean(label),
        description: clean(description),
      })),
      multiple,
      custom,
    })),
  };
}

/** Stores what a session's agent does, while it runs in this sandbox. */
export async function storeActivity(
  deps: Pick<Deps, "db" | "changes" | "clock" | "config" | "sandboxes">,
  { sessionId, projectId, generation }: SessionRow,
  { activity, waitingFor }: State,
): Promise<void> {
  const at = deps.clock();
  const isStored = await deps.db.transaction(async (tx) => {
    const [before] = await tx
      .select({ activity: projectSessions.activity })
      .from(projectSessions)
      .where(eq(projectSessions.sessionId, sessionId));
    const wasBusy = before?.activity === "working" || before?.activity === "waiting";
    const [row] = await tx
      .update(projectSessions)
      .set({
        ...{ activity, activityAt: at, waitingFor },
        // the turn that it was given for is over
        ...(activity === "idle" && wasBusy && { grantedRequest: null }),
      })
      .where(
        and(
          eq(projectSessions.sessionId, sessionId),
          isCurrent(sessionId, generation),
          sql`(${projectSessions.activity}, ${projectSessions.waitingFor}) is distinct from (${activity}::session_activity, ${waitingFor && JSON.stringify(waitingFor)}::jsonb)`,
        ),
      )
      .returning({ id: projectSessions.sessionId });
    if (!row) return false;
    if (waitingFor) await recordAsked(deps, tx, { sessionId, projectId, kind: waitingFor.kind, at });
    await notifyOfActivity(tx, { sessionId, before: before?.activity ?? null, activity, waitingFor, at });
    await publish(tx, projectId, { type: "session", id: sessionId, action: "changed" });
    return true;
  });
  if (isStored) deps.changes.notify(sessionId);
}

function isCurrent(sessionId: string, generation: number): SQL {
  return exists(
    sql`(select from ${runs} where ${eq(runs.runId, sessionId)} and ${eq(runs.generation, generation)} and ${eq(runs.status, "running")})`,
  );
}
