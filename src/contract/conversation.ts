import { arrayOf, field, numberField, textField } from "./json.ts";

/** Ids of conversations in the runtime, which become parts of paths. */
export const CONVERSATION_ID = /^ses[A-Za-z0-9_-]{1,128}$/;

/** The prefix of the daemon's notes in a conversation (daemon/runtime/note.ts). */
export const DAEMON_MARK = "[svc] ";

/**
 * Finds the session's own conversation among those of the runtime (`GET /session`): the oldest without a parent, and of
 * two in one millisecond the first by id. The daemon and all chat clients use it, whichever of them created it.
 */
export function ownConversation(sessions: unknown): string | null {
  const roots = arrayOf(sessions)
    .map((session) => ({ session, id: textField(session, "id") }))
    .filter(({ session, id }) => CONVERSATION_ID.test(id) && textField(session, "parentID") === "")
    .map(({ session, id }) => ({ id, at: numberField(field(session, "time"), "created") ?? 0 }));
  return roots.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))[0]?.id ?? null;
}

/** The model of a prompt, as the runtime expects it. A model without a provider is that of the gateway, the default. */
export function modelOf(model: string | null): { model?: { providerID: string; modelID: string } } {
  const at = model?.indexOf("/") ?? -1;
  if (model === null || at <= 0) return {};
  return { model: { providerID: model.slice(0, at), modelID: model.slice(at + 1) } };
}
