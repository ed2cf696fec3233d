import type { ChatEvent } from "../../src/conversation/chat-client.ts";
import type { CHAT_FIELDS } from "../table/session-fields.ts";

/** An event as `--json` prints it (docs/chat.md); null for events that are not part of the output. */
export function jsonOf(event: ChatEvent): Partial<Record<(typeof CHAT_FIELDS)[number], unknown>> | null {
  switch (event.type) {
    case "prompt":
      return { type: "prompt", message_id: event.messageId, text: event.text };
    case "attached":
      return { type: "attached", message_id: event.messageId, files: [event.file] };
    case "text":
      return { type: "text", message_id: event.messageId, text: event.text };
    case "tool": {
      const { tool, state, title, error, files } = event.use;
      const { messageId: message_id, isSubagent: subagent } = event;
      return { type: "tool", message_id, tool, state, title, error, subagent, files };
    }
    case "status": {
      const { status } = event;
      if (status.type !== "retry") return { type: "status", status: status.type };
      const next_at = status.at === null ? null : new Date(status.at).toISOString();
      return { type: "retry", attempt: status.attempt, message: status.message, next_at };
    }
    case "error":
      return { type: "error", error: event.error.name, message: event.error.message };
    case "asked": {
      const { ask } = event;
      return ask.kind === "permission"
        ? { type: "permission", id: ask.id, permission: ask.permission, patterns: ask.patterns }
        : { type: "question", id: ask.id, questions: ask.questions };
    }
    case "lost":
      return { type: "lost", message: event.reason };
    case "found":
      return { type: "found" };
    case "gap":
      return { type: "gap" };
    case "ended": {
      const { outcome, error, text } = event;
      return { type: "end", message_id: event.messageId, outcome, error: error?.message ?? null, text };
    }
    case "turn":
    case "answered":
    case "failed":
    case "cut":
    case "caught up":
      return null;
  }
}
