import { field, textField } from "../../src/contract/json.ts";
import { runningSessions } from "../runtime/abort.ts";
import type { RuntimeCall } from "../runtime/call.ts";

/** The status of a prompt and its answer in the runtime. */
export interface PromptStatus {
  /** Whether the prompt's message is in the conversation. */
  isRecorded: boolean;
  /** Whether a run is under way in the conversation. */
  isBusy: boolean;
  /** The end of the answer so far; null while there is none. */
  answer: Answer | null;
  /** The last answer in the conversation, for a run so long that its prompt is not among the messages read. */
  last: Answer | null;
}

export interface Answer {
  isComplete: boolean;
  /** The runtime's reason why the model stopped; null if it did not. */
  finish: string | null;
  error: { name: string; message: string } | null;
}

/** A cold runtime reads its configuration first. */
const CALL_MS = 15_000;
/** Messages that are searched for a prompt, if the newest does not belong to it. */
const MESSAGES_MAX = 50;

/**
 * Reads the status of a prompt in a conversation; null if the runtime does not respond.
 * @param isPrompt whether an id is that of the prompt's message
 */
export async function readPromptStatus(
  call: RuntimeCall,
  conversation: string,
  isPrompt: (messageId: string) => boolean,
): Promise<PromptStatus | null> {
  // read before the messages: a run that has ended by then has recorded all of its messages
  const running = await runningSessions(call);
  if (running === null) return null;
  const isBusy = running.includes(conversation);
  const newest = await messagesOf(call, conversation, 1);
  const isNewest = newest?.some(({ id, parent }) => isPrompt(id) || isPrompt(parent));
  const messages = isNewest ? newest : await messagesOf(call, conversation, MESSAGES_MAX);
  if (!messages) return null;
  const own = messages.findLastIndex(({ parent }) => isPrompt(parent));
  const isRecorded = own >= 0 || messages.some(({ id }) => isPrompt(id));
  const last = messages.findLast(({ role }) => role === "assistant") ?? null;
  const found = messages[own] ?? null;
  // after a tool call, or after the conversation was compacted, an answer may continue under another message
  const isContinued = found?.isComplete && found.error === null && !isFinal(found);
  return { isRecorded, isBusy, answer: isContinued ? last : found, last };
}

/** The messages of a conversation, the newest last; null if the runtime does not respond. */
async function messagesOf(call: RuntimeCall, conversation: string, limit: number): Promise<Message[] | null> {
  const path = `/session/${conversation}/message?limit=${limit}`;
  const answer = await call("GET", path, CALL_MS).catch(() => null);
  if (answer?.status === 404) return [];
  if (answer?.status !== 200 || !Array.isArray(answer.body)) return null;
  return answer.body.map(readMessage);
}

interface Message extends Answer {
  id: string;
  role: string;
  /** The message that it answers. */
  parent: string;
}

function readMessage(message: unknown): Message {
  const info = field(message, "info");
  const error = field(info, "error");
  const finish = field(info, "finish");
  return {
    id: textField(info, "id"),
    role: textField(info, "role"),
    parent: textField(info, "parentID"),
    isComplete: typeof field(field(info, "time"), "completed") === "number",
    finish: typeof finish === "string" ? finish : null,
    error:
      typeof error === "object" && error !== null
        ? { name: textField(error, "name"), message: textField(field(error, "data"), "message") }
        : null,
  };
}

/** Whether the model ended its turn: it did not stop for a tool call. */
export function isFinal({ finish }: Answer): boolean {
  return finish !== null && finish !== "tool-calls" && finish !== "unknown";
}
