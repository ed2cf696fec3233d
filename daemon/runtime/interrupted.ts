import { CONVERSATION_ID, DAEMON_MARK } from "../../src/contract/conversation.ts";
import { arrayOf, field, textField } from "../../src/contract/json.ts";
import type { RuntimeCall } from "./call.ts";
import { addNote } from "./note.ts";

const CALL_MS = 10_000;
/** Conversations that are checked, the newest first, and the last messages of each. */
const SESSIONS = 20;
const MESSAGES = 4;

const CUT_OFF = `${DAEMON_MARK}The agent runtime restarted while it was answering: the answer above is cut off.`;
const UNANSWERED = `${DAEMON_MARK}The agent runtime restarted before it answered: the message above has no answer.`;

/**
 * Adds a note to each conversation whose run was cut off when the runtime's last process ended.
 * @param since when that process was started, in milliseconds since 1970
 * @param aborted sessions whose runs were aborted for the restart
 * @returns the number of conversations with a new note
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
    if (await addNote(call, id, note)) marked++;
  }
  return marked;
}

/** The note that the end of a conversation needs; null: none. */
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
  const isNote =
    Array.isArray(parts) && parts.some((part: unknown) => textField(part, "text").startsWith(DAEMON_MARK));
  return isNote ? null : UNANSWERED;
}

async function get(call: RuntimeCall, path: string): Promise<unknown> {
  const answer = await call("GET", path, CALL_MS).catch(() => null);
  return answer?.status === 200 ? answer.body : null;
}

function updatedAt(session: unknown): number {
  const updated = field(field(session, "time"), "updated");
  return typeof updated === "number" ? updated : 0;
}
