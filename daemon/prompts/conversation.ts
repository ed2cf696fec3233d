import { CONVERSATION_ID, ownConversation } from "../../src/contract/conversation.ts";
import { textField } from "../../src/contract/json.ts";
import type { RuntimeCall } from "../runtime/call.ts";

/** The session's conversation with its agent. */
export interface Conversation {
  /** Its id, if it was found or opened; it costs no request. */
  readonly known: string | null;
  /** Its id in the runtime; null if there is none. @throws ConversationError if the runtime does not respond */
  find(): Promise<string | null>;
  /** Its id; opens a conversation if there is none. @throws ConversationError */
  open(): Promise<string>;
  /** Drops the cached id, which the runtime does not know. */
  forget(): void;
}

/** The runtime did not list its conversations or open one. The message is a sentence for a person. */
export class ConversationError extends Error {
  override readonly name = "ConversationError";
}

/** A cold runtime reads its configuration first. */
const CALL_MS = 30_000;
const LIST_MS = 5_000;
/** Some hundred kilobytes. The list starts with the conversation that was used last. */
const LIST_MAX = 1_000;

/** The conversation is stored by the runtime, in its home. */
export function createConversation(call: RuntimeCall): Conversation {
  let known: string | null = null;
  let opening: Promise<string> | null = null;

  return {
    get known() {
      return known;
    },
    find,
    open() {
      opening ??= openOne().finally(() => {
        opening = null;
      });
      return opening;
    },
    forget() {
      known = null;
    },
  };

  async function find(): Promise<string | null> {
    if (known !== null) return known;
    const answer = await call("GET", `/session?roots=true&limit=${LIST_MAX}`, LIST_MS).catch(() => null);
    if (answer?.status !== 200)
      throw new ConversationError("The agent runtime did not list its conversations.");
    known = ownConversation(answer.body);
    return known;
  }

  async function openOne(): Promise<string> {
    const found = await find();
    if (found !== null) return found;
    // without a title, the runtime has its model write one after the first prompt
    const answer = await call("POST", "/session", CALL_MS, {}).catch(() => null);
    const opened = answer?.status === 200 ? idOf(answer.body) : null;
    if (opened === null) throw new ConversationError("The agent runtime did not open a conversation.");
    // a chat client may have opened one first
    return (await find()) ?? opened;
  }
}

function idOf(session: unknown): string | null {
  const id = textField(session, "id");
  return CONVERSATION_ID.test(id) ? id : null;
}
