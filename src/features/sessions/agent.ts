import { CONVERSATION_ID } from "../../contract/conversation.ts";
import { arrayOf, field } from "../../contract/json.ts";
import { messageEndOf } from "../../contract/prompt-message.ts";
import type { PERMISSION_REPLIES } from "../../contract/session.ts";
import {
  type Ask,
  askOf,
  type Message,
  messageOf,
  type Part,
  partOf,
} from "../../conversation/runtime-event.ts";
import { callRuntime, type Daemon, fetchHealth } from "../../sandboxes/daemon.ts";

/** Messages that are read: of a step the last ones; of an answer more, unless large outputs of tools do not fit. */
const MESSAGES = { step: [4], answer: [40, 6] };
/** Open requests of an agent and its subagents. */
const ASKS_MAX = 20;

/** The permission requests and questions that the agent of a sandbox waits on, the oldest first. */
export async function readAsks(daemon: Daemon): Promise<Ask[]> {
  return asksOf(await askLists(daemon));
}

/** The same; null if the agent does not answer. */
export async function findAsks(daemon: Daemon): Promise<Ask[] | null> {
  const lists = await askLists(daemon);
  return lists.includes(undefined) ? null : asksOf(lists);
}

function askLists(daemon: Daemon): Promise<unknown[]> {
  return Promise.all([callRuntime(daemon, "GET", "/permission"), callRuntime(daemon, "GET", "/question")]);
}

function asksOf(lists: readonly unknown[]): Ask[] {
  return lists.flatMap((list) => arrayOf(list).flatMap((value) => askOf(value) ?? [])).slice(0, ASKS_MAX);
}

/** How far the agent is with a prompt. The texts are the agent's. */
export interface PromptProgress {
  /** The text of its last message. */
  text: string;
  /** The tool that it uses, with its input in one line; null: none. */
  tool: string | null;
}

/**
 * @param part what is wanted: the current step, which is cheap, or the answer
 * @returns null if the sandbox does not answer, or has no answer to this prompt
 */
export async function readProgress(
  daemon: Daemon,
  promptId: string,
  part: keyof typeof MESSAGES,
): Promise<PromptProgress | null> {
  const conversation = (await fetchHealth(daemon))?.conversation ?? "";
  if (!CONVERSATION_ID.test(conversation)) return null;
  const end = messageEndOf(promptId);
  for (const limit of MESSAGES[part]) {
    const found = await callRuntime(daemon, "GET", `/session/${conversation}/message?limit=${limit}`);
    if (!Array.isArray(found)) continue;
    const answers = found.flatMap(readMessage).filter(({ message }) => message.role === "assistant");
    const own = answers.filter(({ message }) => message.parentId?.endsWith(end));
    const last = own.at(-1);
    return last ? progressOf(last, own) : null;
  }
  return null;
}

/**
 * Answers a question, or a permission request, of the agent.
 * @param reply null: no answer, which rejects it
 * @returns whether the runtime accepted it
 */
export async function answerAsk(
  daemon: Daemon,
  ask: Ask,
  reply: { answers: string[][] } | { reply: (typeof PERMISSION_REPLIES)[number] } | null,
): Promise<boolean> {
  if (reply === null && ask.kind === "permission") return answerAsk(daemon, ask, { reply: "reject" });
  if (reply === null)
    return (await callRuntime(daemon, "POST", `/question/${ask.id}/reject`, {})) !== undefined;
  return (await callRuntime(daemon, "POST", `/${ask.kind}/${ask.id}/reply`, reply)) !== undefined;
}

type Answer = { message: Message; parts: Part[] };

function readMessage(value: unknown): Answer[] {
  const message = messageOf(field(value, "info"));
  return message
    ? [{ message, parts: arrayOf(field(value, "parts")).flatMap((part) => partOf(part) ?? []) }]
    : [];
}

/** A message that only calls tools has no text: the one before it has. */
function progressOf(last: Answer, own: readonly Answer[]): PromptProgress {
  const texts = own.map(({ parts }) => parts.map((part) => (part.kind === "text" ? part.text : "")).join(""));
  const tool = last.parts.findLast((part) => part.kind === "tool");
  const isRunning = tool?.kind === "tool" && (tool.use.state === "running" || tool.use.state === "pending");
  return {
    text: texts.findLast((text) => text.trim() !== "") ?? "",
    tool: isRunning ? `${tool.use.tool} ${tool.use.title}` : null,
  };
}
