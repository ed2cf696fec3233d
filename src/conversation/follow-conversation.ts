import { field, parseJson, textField } from "../contract/json.ts";
import type { ConversationPage, ConversationStreamEvent } from "../contract/turn.ts";
import { POLICY } from "./follow.ts";
import { after, type Connection, resume } from "./resume.ts";
import type { Transport } from "./transport.ts";

/** The end of a conversation; then its changes, each with the cursor after it, and the state of the connection. */
export type ConversationUpdate =
  | { type: "page"; page: ConversationPage }
  | { type: "change"; change: ConversationStreamEvent; id: string }
  | Connection;

/** Parts of a page. */
const PAGE = 100;

/**
 * Streams a session's conversation: its newest page, then each change. Long details of tools are left out.
 * @param path the session's, below the host's `/v1`
 * @param begin the cursor of an earlier stream, which is continued without the page; empty: none
 * @throws as `resume`
 */
export async function* followConversation(
  transport: Transport,
  path: string,
  signal: AbortSignal,
  { policy = POLICY, begin = "" } = {},
): AsyncGenerator<ConversationUpdate> {
  let newest: ConversationPage | null = null;
  const source = {
    async open(cursor: string) {
      if (cursor === "") newest = await readPage(transport, path, null);
      const from = newest?.event_id ?? cursor;
      const events = `${path}/conversation/events?brief=true`;
      return { chunks: await transport.stream(events, after(from, policy, signal)), cursor: from };
    },
    read(data: string, id: string): ConversationUpdate | null {
      const change = readChange(data, transport);
      return change?.type === "deleted" ? { type: "deleted" } : change && { type: "change", change, id };
    },
  };
  for await (const update of resume(transport, source, signal, policy, begin)) {
    yield update;
    if (update.type !== "connected" || newest === null) continue;
    yield { type: "page", page: newest };
    newest = null;
  }
}

/**
 * A page of a session's conversation, without long details of tools.
 * @param cursor of the page after it; null: the newest
 */
export async function readPage(
  transport: Transport,
  path: string,
  cursor: string | null,
): Promise<ConversationPage> {
  const query = { limit: PAGE, brief: "true", ...(cursor !== null && { cursor }) };
  const page = await transport.get(`${path}/conversation`, query);
  if (!Array.isArray(field(page, "turns")))
    throw transport.unexpected("a conversation that is not a list of turns");
  return page as ConversationPage;
}

function readChange(data: string, { unexpected }: Transport): ConversationStreamEvent | null {
  const value = parseJson(data);
  if (typeof value !== "object" || value === null) throw unexpected("an event that is not a JSON object");
  const type = textField(value, "type");
  const isValid =
    type === "deleted" ||
    (type === "turn" && textField(field(value, "turn"), "turn_id") !== "") ||
    (type === "part" && textField(field(value, "part"), "part_id") !== "") ||
    (type === "text" && typeof field(value, "from") === "number");
  return isValid ? (value as ConversationStreamEvent) : null;
}
