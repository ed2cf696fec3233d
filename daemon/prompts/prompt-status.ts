import { field, textField } from "../../src/contract/json.ts";
import { runningSessions } from "../runtime/abort.ts";
import type { RuntimeCall } from "../runtime/call.ts";

/** What the runtime keeps of a prompt and of the answer to it. */
export interface PromptStatus {
  /** The prompt's message is in the conversation. */
  isRecorded: boolean;
  /** A run is under way in the conversation. */
  isBusy: boolean;
  /** The end of the answer so far; null while there is none. */
  answer: Answer | null;
  /** The last of the conversation's answers: of a long run, the beginning is out of sight. */
  last: Answer | null;
}

export interface Answer {
  isComplete: boolean;
  /** Why the model stopped, in the runtime's word; null where it did not. */
  finish: string | null;
  error: { name: string; message: string } | null;
}

/** A cold runtime reads its configuration first. */
const CALL_MS = 15_000;
/** Messages in which a prompt is looked for, when the newest is not of its answer. */
const LOOKED_AT = 50;

/**
 * Looks at a prompt in a conversation; null when the runtime does not answer.
 * @param isPrompt tells the id of the prompt's message
 */
export async function readPromptStatus(
  call: RuntimeCall,
  conversation: string,
  isPrompt: (messageId: string) => boolean,
): Promise<PromptStatus | null> {
  // before the messages: what is idle by then has written its last
  const running = await runningSessions(call);
  if (running === null) return null;
  const isBusy = running.includes(conversation);
  const newest = await messagesOf(call, conversation, 1);
  const isNewest = newest?.some(({ id, parent }) => isPrompt(id) || isPrompt(parent));
  const messages = isNewest ? newest : await messagesOf(call, conversation, LOOKED_AT);
  if (!messages) return null;
  const own = messages.findLastIndex(({ parent }) => isPrompt(parent));
  const isRecorded = own >= 0 || messages.some(({ id }) => isPrompt(id));
  const last = messages.findLast(({ role }) => role === "assistant") ?? null;
  const found = messages[own] ?? null;
  // after a tool call, and after a conversation was made shorter, an answer may go on under another message
  const goesOn = found?.isComplete && found.error === null && !isFinal(found);
  return { isRecorded, isBusy, answer: goesOn ? last : found, last };
}

/** The messages of a conversation, the newest last; null when the runtime does not answer. */
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

/** Whether the model had nothing more to say or to do. */
export function isFinal({ finish }: Answer): boolean {
  return finish !== null && finish !== "tool-calls" && finish !== "unknown";
}
