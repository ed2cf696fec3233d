import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { sessionPrompts } from "../../../db/schema/index.ts";
import type { Activity, WaitingFor } from "../../contract/session.ts";
import { endSessionNotices, notify } from "../notifications/record.ts";
import { sessionRow } from "./row.ts";
import { titleOf } from "./title.ts";

/** What a session's agent does from now on, and did before. */
interface Change {
  sessionId: string;
  before: Activity | null;
  activity: Activity;
  waitingFor: WaitingFor | null;
  at: Date;
}

/**
 * Notifies the person who started a session that its agent waits for them or is done, and ends what is over. In the
 * transaction that stores the activity.
 */
export async function notifyOfActivity(tx: Db, change: Change): Promise<void> {
  const { sessionId, before, activity, waitingFor, at } = change;
  if (waitingFor) {
    const key = `${sessionId} ${waitingFor.request_id}`;
    await endSessionNotices(tx, { sessionId, at, but: key }, ["session.waiting", "session.done"]);
    await notifyStarter(tx, sessionId, { event: "session.waiting", key, text: textOf(waitingFor) });
    return;
  }
  const isIdle = activity === "idle";
  await endSessionNotices(
    tx,
    { sessionId, at },
    isIdle ? ["session.waiting"] : ["session.waiting", "session.done"],
  );
  // an agent that has just started has done nothing yet
  if (!isIdle || before === null || (await hasQueued(tx, sessionId))) return;
  await notifyStarter(tx, sessionId, {
    ...{ event: "session.done", text: "" },
    key: `${sessionId} ${at.toISOString()}`,
  });
}

/** Ends what is over when a session's sandbox has ended. */
export async function endWaitingNotices(tx: Db, sessionId: string, at: Date): Promise<void> {
  await endSessionNotices(tx, { sessionId, at }, ["session.waiting"]);
}

async function notifyStarter(
  tx: Db,
  sessionId: string,
  notice: { event: "session.waiting" | "session.done"; key: string; text: string },
): Promise<void> {
  const session = await sessionRow(tx, sessionId);
  if (!session) return;
  const { projectId, createdBy } = session;
  await notify(tx, { ...notice, projectId, of: { sessionId }, title: titleOf(session) ?? "" }, [createdBy]);
}

/** The prompt that the agent has just answered is not recorded as done yet. */
async function hasQueued(tx: Db, sessionId: string): Promise<boolean> {
  const queued = and(eq(sessionPrompts.sessionId, sessionId), eq(sessionPrompts.state, "queued"));
  return (await tx.$count(sessionPrompts, queued)) > 0;
}

function textOf({ kind, permission, patterns, questions }: WaitingFor): string {
  if (kind === "permission") return `It asks for permission: ${permission} ${patterns.join(", ")}`;
  return questions.map(({ question }) => question).join(" ");
}
