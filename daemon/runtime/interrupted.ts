import { CONVERSATION_ID } from "../../src/contract/conversation.ts";
import { arrayOf, field, textField } from "../../src/contract/json.ts";
import { newMessageId } from "../../src/contract/message-id.ts";
import type { RuntimeCall } from "./call.ts";

const CALL_MS = 10_000;
/** Conversations that are looked at, the newest first, and messages of each: a run is at the end of one. */
const SESSIONS = 20;
const MESSAGES = 4;

/** What our notes begin with. */
const MARK = "[svc]";
const CUT_OFF = `${MARK} The agent runtime was started again while it was answering: the answer above is cut off.`;
const UNANSWERED = `${MARK} The agent runtime was started again before it answered: the message above has no answer.`;

/**
 * Leaves a note in each conversation whose run was cut off when the runtime's last process ended: nothing else would
 * ever say so.
 * @param since milliseconds since 1970, when that process was started
 * @param aborted sessions whose runs were aborted for the restart
 * @returns how many were marked
 */
export async function markInterrupted(
  call: RuntimeCall,
  since: number,
  aborted: ReadonlySet<string>,
): Promise<number> {
  const sessions = arrayOf(await get(call, "/session"))
    .map((session) => ({
      id: textField(session, "id"),
      parent: textField(session, "parentID"),
      at: updatedAt(session),
    }))
    .filter(({ id, parent, at }) => CONVERSATION_ID.test(id) && parent === "" && at >= since)
    .sort((one, other) => other.at - one.at)
    .slice(0, SESSIONS);
  let marked = 0;
  for (const { id } of sessions) {
    const messages = arrayOf(await get(call, `/session/${id}/message?limit=${MESSAGES}`));
    const note = noteFor(messages, since) ?? (aborted.has(id) ? CUT_OFF : null);
    if (note === null) continue;
    const answer = await call("POST", `/session/${id}/prompt_async`, CALL_MS, {
      messageID: newMessageId(Date.now()),
      noReply: true,
      parts: [{ type: "text", text: note }],
    }).catch(() => null);
    if (answer?.status === 204) marked++;
  }
  return marked;
}

/** What the end of a conversation calls for. */
function noteFor(messages: readonly unknown[], since: number): string | null {
  const info = field(messages.at(-1), "info");
  const time = field(info, "time");
  const created = field(time, "created");
  if (typeof created !== "number" || created < since) return null;
  if (textField(info, "role") === "assistant") {
    const isOver = typeof field(time, "completed") === "number" || Boolean(field(info, "error"));
    return isOver ? null : CUT_OFF;
  }
  const parts = field(messages.at(-1), "parts");
  const isOurs =
    Array.isArray(parts) && parts.some((part: unknown) => textField(part, "text").startsWith(MARK));
  return isOurs ? null : UNANSWERED;
}

async function get(call: RuntimeCall, path: string): Promise<unknown> {
  const answer = await call("GET", path, CALL_MS).catch(() => null);
  return answer?.status === 200 ? answer.body : null;
}

function updatedAt(session: unknown): number {
  const updated = field(field(session, "time"), "updated");
  return typeof updated === "number" ? updated : 0;
}
