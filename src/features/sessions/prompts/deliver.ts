import { and, eq, exists, type SQL, sql } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { runs, sessionPrompts } from "../../../../db/schema/index.ts";
import type { DaemonPromptBody } from "../../../contract/daemon.ts";
import { isAlive } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { isWithinReach } from "../../../jobs/places.ts";
import { fetchHealth, type PromptAnswer, sendPrompt } from "../../../sandboxes/daemon.ts";
import { stillRunning } from "../../runs/row.ts";
import { noteActivity } from "../activity.ts";
import { choiceOf } from "../choices/push.ts";
import { catchUp } from "../conversation/follow.ts";
import { type Reached, reachSession, type SessionRow } from "../row.ts";
import { recordWaiting } from "../webhook.ts";
import { dropAttachments, openAttachments } from "./attachments.ts";
import { nextPrompt } from "./open.ts";
import type { PromptRow } from "./wire.ts";

/** When to call `deliver` next: at once, after a while, or no more. */
export type NextCall = "again" | "wait" | "over";

/**
 * Delivers the next prompt of a session, or polls the one that is running. A prompt is marked as running before it is
 * sent: after a crash the next server sends it again, and the daemon accepts it once. Concurrent calls for one session
 * are safe.
 *
 * 1. The first open prompt is marked as running, with the generation of the sandbox that receives it.
 * 2. The daemon recognizes a prompt by the end of its message's id, and delivers none while the runtime is busy: the
 *    runtime drops messages that are queued behind an abort.
 * 3. The outcome is read from the runtime's messages; its events only shorten the wait.
 * 4. The prompt of a sandbox that has ended is `interrupted`, in the transaction that records the end (`kind.ts`).
 */
export async function deliver(deps: Deps, sessionId: string, signal: AbortSignal): Promise<NextCall> {
  const reached = await reachSession(deps, sessionId);
  const prompt = reached && (await nextPrompt(deps.db, sessionId));
  if (!prompt) return "over";
  const { session, daemon } = reached;
  if (prompt.state === "running" && isInterrupted(prompt, session)) {
    await end(deps, prompt, { state: "interrupted", error: interruption(session) });
    return "again";
  }
  // its start, or the next one, enqueues this again
  if (session.status !== "running" || !isWithinReach(deps, session)) return "over";
  if (!daemon) return "wait";
  noteActivity(deps, sessionId);
  const receiver = { session, daemon };
  if (prompt.state === "running") return await poll(deps, prompt, receiver, signal);
  return session.goal === "running" ? await send(deps, prompt, receiver, signal) : "wait";
}

/** The session, and the sandbox that receives its prompts. */
interface Receiver {
  session: SessionRow;
  daemon: NonNullable<Reached["daemon"]>;
}

/** Sends a queued prompt to an idle sandbox. */
async function send(
  deps: Deps,
  prompt: PromptRow,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<NextCall> {
  const { session, daemon } = receiver;
  const health = await fetchHealth(daemon);
  if (health?.runtime !== "ok" || health.busy) return "wait";
  const running = { state: "running" as const, generation: session.generation };
  if (!(await update(deps, prompt, running, isCurrent(session)))) return "again";
  await deps.checkpoint("prompt-marked");
  const body = { ...(await bodyOf(deps, prompt)), choice: choiceOf(session) };
  const answer = await sendPrompt(daemon, body, signal);
  await deps.checkpoint("prompt-sent");
  const marked = { ...prompt, ...running };
  if (answer.kind === "absent") return await requeue(deps, marked);
  const next = await apply(deps, marked, receiver, answer);
  return answer.kind === "given" ? "again" : next;
}

async function bodyOf({ db }: Deps, prompt: PromptRow): Promise<DaemonPromptBody> {
  const { promptId, text } = prompt;
  return { prompt_id: promptId, text, attachments: await openAttachments(db, prompt) };
}

/** That the session still runs in this sandbox, so that no prompt is marked for one that has ended. */
function isCurrent(session: SessionRow): SQL {
  return exists(sql`(select from ${runs} where ${stillRunning(session)})`);
}

/** Long-polls the daemon for the state of a prompt that was sent. */
async function poll(
  deps: Deps,
  prompt: PromptRow,
  receiver: Receiver,
  signal: AbortSignal,
): Promise<NextCall> {
  // also of a prompt that was sent: the runtime may have ended before it recorded it
  const body = { ...(await bodyOf(deps, prompt)), wait: true };
  return await apply(deps, prompt, receiver, await sendPrompt(receiver.daemon, body, signal));
}

async function apply(
  deps: Deps,
  prompt: PromptRow,
  receiver: Receiver,
  answer: PromptAnswer,
): Promise<NextCall> {
  if (answer.kind === "absent") return "wait";
  // the agent is busy with an interactive message
  if (answer.kind === "busy") return await requeue(deps, prompt);
  if (answer.kind === "refused") {
    const error =
      "The session's sandbox does not accept prompts: it runs another version of svc. Restart the session.";
    await end(deps, prompt, { state: "failed", error });
    return "again";
  }
  // from here on the daemon has the prompt, or may have it
  if (prompt.startedAt === null) await update(deps, prompt, { startedAt: deps.clock() });
  if (answer.kind === "silent") return "wait";
  const { state, error } = answer.prompt;
  // a daemon that does not wait must not be polled in a tight loop
  if (state === "running") return "wait";
  // who reads that it was answered can read the answer
  await catchUp(deps, receiver).catch((error: unknown) =>
    deps.log.warn({ session: prompt.sessionId, err: error }, "cannot store the answer to a prompt"),
  );
  await end(deps, prompt, { state, error });
  return "again";
}

/** Undoes the mark of a prompt that was not accepted. */
async function requeue(deps: Deps, prompt: PromptRow): Promise<NextCall> {
  await update(deps, prompt, { state: "queued", startedAt: null, generation: null });
  return "wait";
}

/** Whether the sandbox that was sent the prompt has ended. */
function isInterrupted({ generation }: PromptRow, session: SessionRow): boolean {
  return !isAlive(session) || generation !== session.generation;
}

function interruption(session: SessionRow): string {
  if (isAlive(session)) return "The session was restarted in the middle of the answer.";
  return `The ${session.status === "failed" ? "sandbox ended" : "session was stopped"} in the middle of the answer.`;
}

async function end(
  deps: Deps,
  prompt: PromptRow,
  outcome: Pick<PromptRow, "state" | "error">,
): Promise<void> {
  const endedAt = deps.clock();
  const row = await deps.db.transaction(async (tx) => {
    const ended = await write(tx, prompt, { ...outcome, endedAt });
    if (ended) await dropAttachments(tx, ended.sessionId);
    // a session whose sandbox has ended waits for nothing
    if (ended && outcome.state !== "interrupted") await recordWaiting(deps, tx, ended, endedAt);
    return ended;
  });
  if (!row) return;
  deps.changes.notify(row.sessionId);
  await deps.checkpoint("prompt-recorded");
}

/** Updates a prompt unless its state has changed. @returns whether it did */
async function update(
  deps: Deps,
  prompt: PromptRow,
  values: Partial<PromptRow>,
  condition?: SQL,
): Promise<boolean> {
  const row = await write(deps.db, prompt, values, condition);
  if (row) deps.changes.notify(prompt.sessionId);
  return row !== null;
}

async function write(
  db: Db,
  { sessionId, promptId, state }: PromptRow,
  values: Partial<PromptRow>,
  condition?: SQL,
): Promise<PromptRow | null> {
  const [row] = await db
    .update(sessionPrompts)
    .set(values)
    .where(
      and(
        eq(sessionPrompts.sessionId, sessionId),
        eq(sessionPrompts.promptId, promptId),
        eq(sessionPrompts.state, state),
        condition,
      ),
    )
    .returning();
  return row ?? null;
}
