import { arrayOf, field, numberField, textField } from "./json.ts";

/** What the one conversation of a session is called in the agent runtime. */
export const CONVERSATION_TITLE = "svc";

/** What the runtime's ids of conversations look like: they become parts of paths. */
export const CONVERSATION_ID = /^ses[A-Za-z0-9_-]{1,128}$/;

/**
 * The session's own among the runtime's conversations (`GET /session`): the oldest that no other has begun, of two in one
 * millisecond the first by name. The daemon and chat clients keep to it, so that whoever comes first opens it for all.
 */
export function ownConversation(sessions: unknown): string | null {
  const roots = arrayOf(sessions)
    .map((session) => ({ session, id: textField(session, "id") }))
    .filter(({ session, id }) => CONVERSATION_ID.test(id) && textField(session, "parentID") === "")
    .map(({ session, id }) => ({ id, at: numberField(field(session, "time"), "created") ?? 0 }));
  return roots.toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1))[0]?.id ?? null;
}

/** How a prompt names its model. One without a provider is the gateway's, and the runtime's own choice already. */
export function modelOf(model: string | null): { model?: { providerID: string; modelID: string } } {
  const at = model?.indexOf("/") ?? -1;
  if (model === null || at <= 0) return {};
  return { model: { providerID: model.slice(0, at), modelID: model.slice(at + 1) } };
}
