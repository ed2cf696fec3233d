import { field, parseJson, textField } from "../contract/json.ts";
import type { SessionEvent } from "../contract/session.ts";
import type { ReconnectPolicy } from "./reconnect.ts";
import { after, resume } from "./resume.ts";
import type { Transport } from "./transport.ts";

/** A change of a session, or that the connection is lost for now. */
export type FollowEvent =
  | Exclude<SessionEvent, { type: "deleted" }>
  | { type: "deleted" }
  | { type: "lost"; reason: string };

/** The server sends something every 15 seconds. */
export const POLICY: ReconnectPolicy = {
  silentSeconds: 40,
  firstDelayMs: 250,
  maxDelayMs: 5000,
  giveUpMs: 120_000,
};

/**
 * Streams the changes of a session, starting with its current state.
 * @param path the session's, below the host's `/v1`.
 * @throws as `resume`: after two minutes without a connection, by default
 */
export async function* follow(
  transport: Transport,
  path: string,
  signal: AbortSignal,
  policy = POLICY,
): AsyncGenerator<FollowEvent> {
  const source = {
    open: async (cursor: string) => ({
      chunks: await transport.stream(`${path}/events`, after(cursor, policy, signal)),
      cursor,
    }),
    read: (data: string) => readSessionEvent(data, transport),
  };
  for await (const event of resume(transport, source, signal, policy))
    if (event.type !== "connected") yield event;
}

/** Parses an event; null for an unknown type, which a newer server may send. */
function readSessionEvent(data: string, transport: Transport): FollowEvent | null {
  const value = parseJson(data);
  if (typeof value !== "object" || value === null) {
    throw transport.unexpected("an event that is not a JSON object");
  }
  const isValid =
    textField(field(value, "session"), "status") !== "" ||
    typeof field(field(value, "line"), "text") === "string" ||
    textField(field(value, "prompt"), "state") !== "" ||
    Array.isArray(field(value, "ports"));
  const type = textField(value, "type");
  if (["session", "log", "prompt", "ports"].includes(type) && isValid) return value as FollowEvent;
  return type === "deleted" ? { type } : null;
}
