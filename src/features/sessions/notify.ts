import type { Db } from "../../../db/client.ts";
import type { Activity, WaitingFor } from "../../contract/session.ts";
import { endSessionNotices, notify } from "../notifications/record.ts";
import { countQueued } from "./prompts/open.ts";
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
    const key = keyOf(sessionId, waitingFor);
    await endSessionNotices(tx, { sessionId, at, but: key }, ["session.waiting", "session.done"]);
    await notifyStarter(tx, sessionId, { event: "session.waiting", key, text: waitingText(waitingFor) });
    return;
  }
  const isIdle = activity === "idle";
  await endWaitingNotices(tx, sessionId, at);
  if (!isIdle) await endSessionNotices(tx, { sessionId, at }, ["session.done"]);
  // an agent that has just started has done nothing yet; the prompt that it has answered may not be recorded as done
  if (!isIdle || before === null || (await countQueued(tx, sessionId)) > 0) return;
  await notifyStarter(tx, sessionId, {
    ...{ event: "session.done", text: "" },
    key: `${sessionId} ${at.toISOString()}`,
  });
}

/** Ends the notices of questions, but for one that was asked in a sandbox that has ended and is still open. */
export async function endWaitingNotices(tx: Db, sessionId: string, at: Date): Promise<void> {
  const kept = (await sessionRow(tx, sessionId))?.keptRequest;
  const but = kept ? { but: keyOf(sessionId, kept) } : {};
  await endSessionNotices(tx, { sessionId, at, ...but }, ["session.waiting"]);
}

const keyOf = (sessionId: string, { request_id }: WaitingFor) => `${sessionId} ${request_id}`;

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

/** What an agent waits for, in a sentence. */
export function waitingText({ kind, permission, patterns, questions }: WaitingFor): string {
  if (kind === "permission") return `It asks for permission: ${permission} ${patterns.join(", ")}`;
  return questions.map(({ question }) => question).join(" ");
}
