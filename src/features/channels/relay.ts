import { and, eq } from "drizzle-orm";
import { sessionPrompts } from "../../../db/schema/index.ts";
import { isAlive } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import { pageUrl } from "../projects/page-url.ts";
import { answersTo, toolInUse } from "../sessions/conversation/read.ts";
import { answerPromptId } from "../sessions/kept/answer.ts";
import type { PromptRow } from "../sessions/prompts/wire.ts";
import { openRequest, type Reached, reachSession } from "../sessions/row.ts";
import { askMessage } from "./ask-message.ts";
import { showChangeRequests } from "./change-requests.ts";
import { showConnectorAsks } from "./connector-asks.ts";
import { findThread, openChannel } from "./context.ts";
import { type Relaying, readRelay } from "./relay-state.ts";
import type { TaskRow } from "./rows.ts";
import { escapeLine, escapeText, link } from "./slack/mrkdwn.ts";
import { type TaskResult, updateTask } from "./tasks.ts";

/** How often a prompt in progress is read. */
const POLL_MS = 2_000;
/** How often the status of one that works is updated: Slack allows about 50 updates a minute. */
const PROGRESS_MS = 4_000;
/** The same while the session does not run, unless it stopped with its server: then it starts again with it, for the prompt. */
const STOPPED_MS = 30_000;
/** A prompt that has not ended by then is no longer followed. */
const FOLLOWED_DAYS = 7;
/** Reads of an answer before it is left to the page: it may be stored late. */
const TRIES = 4;
/** Slack recommends up to 4,000 characters in a message. */
const ANSWER_MAX = 3_500;
const LINE_MAX = 200;
const ERROR_MAX = 1_000;

interface Posting extends Relaying {
  deps: Deps;
  reached: Reached;
}

/** Reports a prompt to its thread: its status, questions, the answer, and the change requests of the session. */
export async function relayPrompt(deps: Deps, task: TaskRow): Promise<TaskResult> {
  const context = await openChannel(deps, task.channelId);
  const relay = readRelay(task.payload);
  const sessionId = task.sessionId ?? "";
  const isIt = and(eq(sessionPrompts.sessionId, sessionId), eq(sessionPrompts.promptId, relay.promptId));
  const [prompt] = await deps.db.select().from(sessionPrompts).where(isIt);
  const reached = await reachSession(deps, sessionId);
  if (!context || !prompt || !reached) return "done";
  const posting: Posting = {
    ...context,
    deps,
    relay,
    reached,
    sessionId,
    page: pageUrl(deps, context.project, `sessions/${sessionId}`),
    async save(changes) {
      Object.assign(relay, changes);
      await updateTask(deps.db, task, { payload: { ...relay } });
      await deps.checkpoint("channel-posted");
    },
  };
  const { session } = reached;
  const again = (againMs: number) => ({ againMs, payload: { ...relay } });
  if (prompt.endedAt === null && session.status !== "failed") {
    await showStatus(posting, await progressText(posting, prompt));
    // of several prompts of a session, the one that runs
    if (prompt.state === "running") {
      await showAsk(posting);
      await showConnectorAsks(deps, posting);
    }
    const ageMs = (await deps.databaseTime(deps.db)).getTime() - task.createdAt.getTime();
    if (ageMs > FOLLOWED_DAYS * 86_400_000) return "done";
    return again(isAlive(session) || session.stopReason === "server" ? POLL_MS : STOPPED_MS);
  }
  const next = prompt.state === "interrupted" ? await continuation(deps, posting) : "none";
  if (next === "answered") return again(POLL_MS);
  if (next === "open") {
    await showStatus(posting, "Stopped until the question is answered.");
    return again(PROGRESS_MS);
  }
  if (!(await showEnd(posting, prompt))) return again(POLL_MS);
  await closeAsk(posting, "");
  await showConnectorAsks(deps, posting);
  const thread = await findThread(deps.db, context.channel, relay);
  if (thread) await showChangeRequests(deps, context, thread);
  return "done";
}

/**
 * The prompt was cut off while the agent waited for an answer. `open`: it has none yet. `answered`: the agent gets it as a
 * prompt, which is followed from now on.
 */
async function continuation(
  { db }: Deps,
  { relay, sessionId, reached, save }: Posting,
): Promise<"none" | "open" | "answered"> {
  if (relay.ask === "") return "none";
  const promptId = answerPromptId(sessionId, relay.ask);
  const isIt = and(eq(sessionPrompts.sessionId, sessionId), eq(sessionPrompts.promptId, promptId));
  if ((await db.$count(sessionPrompts, isIt)) > 0) {
    await save({ promptId });
    return "answered";
  }
  return reached.session.keptRequest?.request_id === relay.ask ? "open" : "none";
}

async function progressText({ deps, reached, relay }: Posting, { state }: PromptRow): Promise<string> {
  const { session } = reached;
  if (state === "queued") {
    if (!isAlive(session)) return "Waiting: the session is stopped.";
    return session.status === "running" ? "Waiting for the agent…" : "Starting a session…";
  }
  const tool = await toolInUse(deps.db, session.sessionId, relay.promptId);
  return tool === null ? WORKING : `${WORKING} ${escapeLine(tool, LINE_MAX)}`;
}

const WORKING = "Working…";

async function showStatus({ slack, relay, page, save }: Posting, words: string): Promise<void> {
  const now = Date.now();
  const isSoon = now - relay.shownAt < PROGRESS_MS && relay.shown.startsWith(WORKING);
  if (relay.shown === words || (isSoon && words.startsWith(WORKING))) return;
  const { room, thread, status } = relay;
  const text = `${words} ${link(page, "Open the session")}`;
  const shown = { shown: words, shownAt: now };
  if (status === "") await save({ status: await slack.post({ room, thread, text }), ...shown });
  else {
    await slack.update({ room, ts: status, text });
    await save(shown);
  }
}

/** Posts the question that the agent waits on, and closes the one before. */
async function showAsk(posting: Posting): Promise<void> {
  const { reached, relay, slack, page, save } = posting;
  const ask = openRequest(reached.session);
  const id = ask?.request_id ?? "";
  await closeAsk(posting, id);
  if (!ask || relay.ask === id) return;
  const { room, thread } = relay;
  await save({ ask: id, askMessage: await slack.post({ room, thread, ...askMessage(ask, page) }) });
}

async function closeAsk({ relay, slack, save }: Posting, open: string): Promise<void> {
  if (relay.ask === "" || relay.ask === open) return;
  await slack.update({ room: relay.room, ts: relay.askMessage, text: "The question was answered." });
  await save({ ask: "", askMessage: "" });
}

/** @returns false: the answer cannot be read yet */
async function showEnd(posting: Posting, prompt: PromptRow): Promise<boolean> {
  const { deps, relay, slack, save, reached } = posting;
  const isAnswered = prompt.state === "answered";
  if (!relay.isAnswered) {
    const { sessionId, promptId } = prompt;
    const answer = isAnswered ? (await answersTo(deps.db, sessionId, [promptId])).get(promptId) : null;
    if (isAnswered && !answer && isAlive(reached.session) && relay.tries < TRIES) {
      relay.tries++;
      return false;
    }
    const { room, thread } = relay;
    await slack.post({ room, thread, text: endText(posting, prompt, answer?.trim() ?? "") });
    await save({ isAnswered: true });
  }
  await showStatus(posting, isAnswered ? "Done." : "Ended without an answer.");
  return true;
}

function endText({ reached, page }: Posting, { state, error }: PromptRow, answer: string): string {
  if (state !== "answered") {
    const why = error ?? reached.session.error ?? "The session has failed.";
    return `The prompt was not answered. ${escapeText(why, ERROR_MAX)}`;
  }
  if (answer === "") return `The agent has finished. ${link(page, "Read the answer")}`;
  const text = escapeText(answer, ANSWER_MAX);
  return text.endsWith("…") && !answer.endsWith("…")
    ? `${text}\n${link(page, "Read the whole answer")}`
    : text;
}
