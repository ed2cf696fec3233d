import { and, eq, isNotNull } from "drizzle-orm";
import { isForeignKeyViolation } from "../../../db/errors.ts";
import { channelTasks, channelThreads } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { field, textField } from "../../contract/json.ts";
import type { Deps } from "../../deps.ts";
import { derivedId } from "../../lib/derived-id.ts";
import { referencesIn } from "../change-requests/brief.ts";
import { answerSession } from "../sessions/answer.ts";
import { createSession } from "../sessions/create.ts";
import { deleteSession } from "../sessions/delete.ts";
import { acceptPrompt } from "../sessions/prompts/accept.ts";
import { openRequest, reachSession } from "../sessions/row.ts";
import { askOptions } from "./ask-message.ts";
import { type ChannelContext, findThread, openChannel } from "./context.ts";
import { findMember, type Member } from "./member.ts";
import { newRelay } from "./relay-state.ts";
import type { TaskRow, ThreadRow } from "./rows.ts";
import { escapeText } from "./slack/mrkdwn.ts";
import type { SlackMessage } from "./slack/payload.ts";
import { addMark, addTask, hasKey, messageKey, relayKey, type TaskResult } from "./tasks.ts";

/** A reply waits this long for the first message of its thread. */
const FIRST_MS = 1_000;
/** Characters of an error. */
const ERROR_MAX = 1_000;

/** Makes a message of a person a session or a prompt. */
export async function handleMessage(deps: Deps, task: TaskRow): Promise<TaskResult> {
  const context = await openChannel(deps, task.channelId);
  const message = readPayload(task.payload);
  if (!context || !message) return "done";
  const { room, thread } = message;
  const say = (text: string) => context.slack.post({ room, thread, text });
  const inOrder = <T>(work: () => Promise<T>) =>
    deps.mutex.run(`chat ${task.channelId} ${room} ${thread}`, work);
  if (!message.isRouted) {
    await say(NOT_CONNECTED);
    return "done";
  }
  if (!(message.isMention || message.isDirect) && !(await findThread(deps.db, context.channel, message))) {
    const isFirstOpen = await isWaiting(deps, task, messageKey({ room, ts: thread }));
    return isFirstOpen ? { againMs: FIRST_MS, payload: { ...message } } : "done";
  }
  const member = await findMember(deps, context.slack, context, message.userId);
  if (!member) {
    const mark = `told ${room} ${thread} ${message.userId}`;
    await inOrder(async () => {
      if (await hasKey(deps.db, task.channelId, mark)) return;
      await say(NO_MEMBER);
      await addMark(deps, task.channelId, mark);
    });
    return "done";
  }
  if (message.text === "") {
    await say("Write what the agent should do.");
    return "done";
  }
  try {
    await inOrder(() => prompt(deps, context, member, message));
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    await say(escapeText(error.message, ERROR_MAX));
  }
  return "done";
}

const NOT_CONNECTED =
  "This conversation is not connected to a project of svc. Write to me in a channel that is, or ask an owner or admin of the project to run `svc channels connect slack`.";
const NO_MEMBER =
  "I only work for members of this project's account in svc, and find you by the e-mail address of your Slack profile. Ask an owner or admin of the account for an invitation to that address.";

async function prompt(
  deps: Deps,
  context: ChannelContext,
  member: Member,
  message: SlackMessage,
): Promise<void> {
  const { channel, project } = context;
  const { room, ts, thread } = message;
  const ownId = derivedId("slack session", channel.channelId, room, ts);
  let known = await findThread(deps.db, channel, message);
  let promptId = ownId;
  if (!known || known.sessionId === ownId) {
    known = (await startSession(deps, context, member, { ...message, sessionId: ownId })) ?? known;
  }
  if (!known) return;
  const { sessionId } = known;
  if (sessionId !== ownId) {
    if (await answerQuestion(deps, context, member, sessionId, message.text)) return;
    promptId = derivedId("slack prompt", channel.channelId, room, ts);
    const body = { text: message.text, prompt_id: promptId };
    const references = await referencesIn(deps, project, message.text);
    await acceptPrompt(deps, member.caller, project, sessionId, body, references);
  }
  await deps.checkpoint("channel-prompted");
  await addTask(deps, {
    channelId: channel.channelId,
    key: relayKey(promptId),
    kind: "relay",
    sessionId,
    payload: { ...newRelay({ room, thread, promptId }) },
  });
}

/** @returns the thread; null if the connection was removed */
async function startSession(
  deps: Deps,
  { channel, project }: ChannelContext,
  { caller }: Member,
  { room, thread, text, sessionId }: SlackMessage & { sessionId: string },
): Promise<ThreadRow | null> {
  const body = { session_id: sessionId, initial_prompt: text };
  await createSession(deps, caller, project, body, await referencesIn(deps, project, text)).catch(
    (error: unknown) => {
      // made before a crash: its id follows from the message
      if (!(error instanceof SvcError) || error.code !== "session_exists") throw error;
    },
  );
  try {
    await deps.db
      .insert(channelThreads)
      .values({ channelId: channel.channelId, room, ts: thread, sessionId, createdAt: deps.clock() })
      .onConflictDoNothing();
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error;
  }
  const row = await findThread(deps.db, channel, { room, thread });
  // another server has made the thread a session at the same time
  if (row && row.sessionId !== sessionId) await deleteSession(deps, { userId: null }, project, sessionId);
  return row;
}

/** While the agent waits for an answer in words, the reply is the answer. */
async function answerQuestion(
  deps: Deps,
  { project }: ChannelContext,
  { caller }: Member,
  sessionId: string,
  text: string,
): Promise<boolean> {
  const reached = await reachSession(deps, sessionId);
  const ask = reached && openRequest(reached.session);
  if (!ask || askOptions(ask) === null) return false;
  if (!ask.questions[0]?.custom)
    throw new SvcError("session_busy", "The agent waits for your decision. Use the buttons of its question.");
  try {
    const body = { request_id: ask.request_id, answer: [[text]] };
    await answerSession(deps, caller.userId, project, sessionId, body);
    return true;
  } catch (error) {
    // it was answered meanwhile: the reply is the next prompt
    if (error instanceof SvcError && error.code === "not_waiting") return false;
    throw error;
  }
}

async function isWaiting({ db }: Deps, { channelId }: TaskRow, key: string): Promise<boolean> {
  const isIt = and(
    eq(channelTasks.channelId, channelId),
    eq(channelTasks.key, key),
    isNotNull(channelTasks.dueAt),
  );
  return (await db.$count(channelTasks, isIt)) > 0;
}

function readPayload(payload: TaskRow["payload"]): (SlackMessage & { isRouted: boolean }) | null {
  if (payload === null) return null;
  const text = (name: string) => textField(payload, name);
  const is = (name: string) => field(payload, name) === true;
  return {
    room: text("room"),
    ts: text("ts"),
    thread: text("thread"),
    userId: text("userId"),
    text: text("text"),
    isMention: is("isMention"),
    isDirect: is("isDirect"),
    isRouted: is("isRouted"),
  };
}
