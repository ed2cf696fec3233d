import { CONVERSATION_ID, CONVERSATION_TITLE, ownConversation } from "../../src/contract/conversation.ts";
import { textField } from "../../src/contract/json.ts";
import type { RuntimeCall } from "../runtime/call.ts";

/** The one conversation that a session has with its agent. */
export interface Conversation {
  /** Its id in the runtime; null while there is none. @throws ConversationError while the runtime does not say */
  find(): Promise<string | null>;
  /** The same, after opening one where there is none. @throws ConversationError */
  open(): Promise<string>;
  /** The runtime says that there is none of that id: it is looked for anew. */
  forget(): void;
}

/** The runtime tells of no conversation, or opens none. The message is a sentence for a person. */
export class ConversationError extends Error {
  override readonly name = "ConversationError";
}

/** A cold runtime reads its configuration first. */
const CALL_MS = 30_000;
const LIST_MS = 5_000;
/** Those are some hundred kilobytes; the list begins with the last used, and who has more finds an old one all the same. */
const LISTED = 1_000;

/**
 * Finds the conversation in the runtime, which keeps it in its home.
 */
export function createConversation(call: RuntimeCall): Conversation {
  let known: string | null = null;
  let opening: Promise<string> | null = null;

  return {
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
    const answer = await call("GET", `/session?roots=true&limit=${LISTED}`, LIST_MS).catch(() => null);
    if (answer?.status !== 200)
      throw new ConversationError("The agent runtime does not tell its conversations.");
    known = ownConversation(answer.body);
    return known;
  }

  async function openOne(): Promise<string> {
    const found = await find();
    if (found !== null) return found;
    const answer = await call("POST", "/session", CALL_MS, { title: CONVERSATION_TITLE }).catch(() => null);
    const opened = answer?.status === 200 ? idOf(answer.body) : null;
    if (opened === null) throw new ConversationError("The agent runtime opened no conversation.");
    // a chat client may have been faster
    return (await find()) ?? opened;
  }
}

function idOf(session: unknown): string | null {
  const id = textField(session, "id");
  return CONVERSATION_ID.test(id) ? id : null;
}
