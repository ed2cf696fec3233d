import { and, eq, exists, type SQL, sql } from "drizzle-orm";
import { runs, sessionPrompts } from "../../../../db/schema/index.ts";
import { isAlive } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { isWithinReach } from "../../../jobs/places.ts";
import { askHealth, type PromptAnswer, sendPrompt } from "../../../sandboxes/daemon.ts";
import { stillRunning } from "../../runs/row.ts";
import { noteActivity } from "../activity.ts";
import { type Reached, reachSession, type SessionRow } from "../row.ts";
import { nextPrompt } from "./open.ts";
import type { PromptRow } from "./wire.ts";

/** What is to be done next: look again at once, after a while, or not any more. */
export type Turn = "again" | "wait" | "over";

/**
 * Does the next thing about a session's prompts. One is given at a time, and it is written down before: whoever dies in
 * between, the next asks the daemon, which gives it once. Two that do this for one session do each other no harm.
 *
 * 1. The first open prompt is marked as running, with the generation that gets it, before it is sent. After a crash
 *    the daemon is asked, which delivers a prompt once.
 * 2. The daemon recognizes a prompt by the end of its message's id, and delivers none while the runtime is busy: the
 *    runtime drops messages that are queued behind an abort.
 * 3. The outcome is read from the runtime's messages; its events only shorten the wait.
 * 4. The prompt of a sandbox that has ended is `interrupted`, in the transaction that records the end (`kind.ts`).
 */
export async function deliver(deps: Deps, sessionId: string, signal: AbortSignal): Promise<Turn> {
  const reached = await reachSession(deps, sessionId);
  const prompt = reached && (await nextPrompt(deps.db, sessionId));
  if (!prompt) return "over";
  const { session, daemon } = reached;
  if (prompt.state === "running" && isCutOff(prompt, session)) {
    await end(deps, prompt, { state: "interrupted", error: cutOffBy(session) });
    return "again";
  }
  // its start, or the next one, asks for this anew
  if (session.status !== "running" || !isWithinReach(deps, session)) return "over";
  if (!daemon) return "wait";
  noteActivity(deps, sessionId);
  if (prompt.state === "running") return await hear(deps, prompt, daemon, signal);
  return session.goal === "running" ? await begin(deps, prompt, session, daemon, signal) : "wait";
}

type Daemon = NonNullable<Reached["daemon"]>;

/** Gives a prompt that waits to a sandbox that has time for it. */
async function begin(
  deps: Deps,
  prompt: PromptRow,
  session: SessionRow,
  daemon: Daemon,
  signal: AbortSignal,
): Promise<Turn> {
  const health = await askHealth(daemon);
  if (health?.runtime !== "ok" || health.busy) return "wait";
  const marked = { state: "running" as const, generation: session.generation };
  if (!(await change(deps, prompt, marked, ofStart(session)))) return "again";
  await deps.checkpoint("prompt-marked");
  const body = { prompt_id: prompt.promptId, text: prompt.text };
  const answer = await sendPrompt(daemon, body, signal);
  await deps.checkpoint("prompt-given");
  const begun = { ...prompt, ...marked };
  if (answer.kind === "absent") return await putBack(deps, begun);
  const turn = await take(deps, begun, answer);
  return answer.kind === "given" ? "again" : turn;
}

/** The start that a prompt is given to still goes on: otherwise its end would be the prompt's. */
function ofStart(session: SessionRow): SQL {
  return exists(sql`(select from ${runs} where ${stillRunning(session)})`);
}

/** Asks what has become of a prompt that was given, until it is over. */
async function hear(deps: Deps, prompt: PromptRow, daemon: Daemon, signal: AbortSignal): Promise<Turn> {
  const body = { prompt_id: prompt.promptId, text: prompt.text, wait: true };
  return await take(deps, prompt, await sendPrompt(daemon, body, signal));
}

async function take(deps: Deps, prompt: PromptRow, answer: PromptAnswer): Promise<Turn> {
  if (answer.kind === "absent") return "wait";
  // somebody talks to the agent at the moment
  if (answer.kind === "busy") return await putBack(deps, prompt);
  if (answer.kind === "refused") {
    const error = "The session's sandbox takes no prompts: it is of another version of svc. Start it again.";
    await end(deps, prompt, { state: "failed", error });
    return "again";
  }
  // from here on it was given, or may have been
  if (prompt.startedAt === null) await change(deps, prompt, { startedAt: deps.clock() });
  if (answer.kind === "silent") return "wait";
  const { state, error } = answer.prompt;
  // a sandbox that does not wait as it should is not asked without end
  if (state === "running") return "wait";
  await end(deps, prompt, { state, error });
  return "again";
}

/** A prompt that was marked, and not taken. */
async function putBack(deps: Deps, prompt: PromptRow): Promise<Turn> {
  await change(deps, prompt, { state: "queued", startedAt: null, generation: null });
  return "wait";
}

/** Whether what was given the prompt is no more. */
function isCutOff({ generation }: PromptRow, session: SessionRow): boolean {
  return !isAlive(session) || generation !== session.generation;
}

function cutOffBy(session: SessionRow): string {
  if (isAlive(session)) return "The session was started again in the middle of the answer.";
  return `The ${session.status === "failed" ? "sandbox ended" : "session was stopped"} in the middle of the answer.`;
}

async function end(
  deps: Deps,
  prompt: PromptRow,
  outcome: Pick<PromptRow, "state" | "error">,
): Promise<void> {
  if (await change(deps, prompt, { ...outcome, endedAt: deps.clock() }))
    await deps.checkpoint("prompt-recorded");
}

/** @returns whether it was still what it was */
async function change(
  deps: Deps,
  { sessionId, promptId, state }: PromptRow,
  values: Partial<PromptRow>,
  condition?: SQL,
): Promise<boolean> {
  const [row] = await deps.db
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
    .returning({ number: sessionPrompts.number });
  if (row) deps.changes.notify(sessionId);
  return row !== undefined;
}
