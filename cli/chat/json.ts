import type { CHAT_FIELDS } from "../table/session-fields.ts";
import type { ChatEvent } from "./chat-event.ts";
import { TOOL_STATES } from "./lines.ts";

/** An event as `--json` prints it (docs/chat.md); null for events that are not part of the output. */
export function jsonOf(event: ChatEvent): Partial<Record<(typeof CHAT_FIELDS)[number], unknown>> | null {
  switch (event.type) {
    case "prompt":
      return { type: "prompt", message_id: event.turn.turn_id, text: event.text };
    case "attached":
      return { type: "attached", message_id: event.turn.turn_id, files: [event.file] };
    case "text":
      return { type: "text", message_id: event.turn.turn_id, text: event.text };
    case "tool": {
      const { name: tool, title, error, files } = event.tool;
      const { turn, isSubagent: subagent } = event;
      const state = TOOL_STATES[event.state];
      return { type: "tool", message_id: turn.turn_id, tool, state, title, error, subagent, files };
    }
    case "plan":
      return { type: "plan", message_id: event.turn.turn_id, plan: event.plan };
    case "status":
      return { type: "status", status: event.status };
    case "retry": {
      const { attempt, message, at: next_at } = event.retry;
      return { type: "retry", attempt, message, next_at };
    }
    case "over":
      return event.turn.error === null ? null : { type: "error", message: event.turn.error };
    case "asked": {
      const { request_id: id, kind, permission, patterns, questions } = event.ask;
      return kind === "permission"
        ? { type: "permission", id, permission, patterns }
        : { type: "question", id, questions };
    }
    case "lost":
      return { type: "lost", message: event.reason };
    case "found":
      return { type: "found" };
    case "ended": {
      const { turnId, outcome, error, text } = event;
      return { type: "end", message_id: turnId, outcome, error, text };
    }
    case "started":
    case "answered":
    case "caught up":
      return null;
  }
}
