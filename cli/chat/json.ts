import type { News } from "../../src/conversation/talk.ts";
import type { CHAT_FIELDS } from "../table/sessions.ts";

/** What happens as an event for programs (docs/chat.md); null for what is of no use to them. */
export function jsonOf(news: News): Partial<Record<(typeof CHAT_FIELDS)[number], unknown>> | null {
  switch (news.type) {
    case "prompt":
      return { type: "prompt", message_id: news.messageId, text: news.text };
    case "text":
      return { type: "text", message_id: news.messageId, text: news.text };
    case "tool": {
      const { tool, state, title, error, files } = news.use;
      const { messageId: message_id, isSubagent: subagent } = news;
      return { type: "tool", message_id, tool, state, title, error, subagent, files };
    }
    case "status": {
      const { status } = news;
      if (status.type !== "retry") return { type: "status", status: status.type };
      const next_at = status.at === null ? null : new Date(status.at).toISOString();
      return { type: "retry", attempt: status.attempt, message: status.message, next_at };
    }
    case "error":
      return { type: "error", error: news.error.name, message: news.error.message };
    case "asked": {
      const { ask } = news;
      return ask.kind === "permission"
        ? { type: "permission", id: ask.id, permission: ask.permission, patterns: ask.patterns }
        : { type: "question", id: ask.id, questions: ask.questions };
    }
    case "lost":
      return { type: "lost", message: news.reason };
    case "found":
      return { type: "found" };
    case "gap":
      return { type: "gap" };
    case "ended": {
      const { outcome, error, text } = news;
      return { type: "end", message_id: news.messageId, outcome, error: error?.message ?? null, text };
    }
    case "turn":
    case "answered":
    case "failed":
    case "cut":
    case "caught up":
      return null;
  }
}
