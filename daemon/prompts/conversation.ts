import { field } from "../../src/contract/json.ts";
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
const TITLE = "svc";

/**
 * Finds the conversation in the runtime, which keeps it in its home: the oldest one that no other has begun. Chat clients
 * keep to the same rule, so that whoever comes first opens it for all.
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
    known = oldestOf(answer.body);
    return known;
  }

  async function openOne(): Promise<string> {
    const found = await find();
    if (found !== null) return found;
    const answer = await call("POST", "/session", CALL_MS, { title: TITLE }).catch(() => null);
    const opened = answer?.status === 200 ? idOf(answer.body) : null;
    if (opened === null) throw new ConversationError("The agent runtime opened no conversation.");
    // a chat client may have been faster
    return (await find()) ?? opened;
  }
}

/** What the runtime's ids of conversations look like: they become parts of paths. */
const ID = /^ses[A-Za-z0-9_-]{1,128}$/;

function idOf(session: unknown): string | null {
  const id = field(session, "id");
  return typeof id === "string" && ID.test(id) ? id : null;
}

/** The oldest of a list of conversations that belongs to no other; of two in one millisecond, the first by name. */
function oldestOf(list: unknown): string | null {
  const roots = (Array.isArray(list) ? list : []).flatMap((session: unknown) => {
    const [id, parent] = [idOf(session), field(session, "parentID")];
    const at = Number(field(field(session, "time"), "created"));
    return id === null || typeof parent === "string" ? [] : [{ id, at: Number.isNaN(at) ? 0 : at }];
  });
  return roots.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))[0]?.id ?? null;
}
