import type { Prompt } from "../../src/contract/prompt.ts";
import type { SavedWork } from "../../src/contract/saved-work.ts";
import type { Session } from "../../src/contract/session.ts";
import type { OneTry } from "../../src/contract/tries.ts";
import type { Turn } from "../../src/contract/turn.ts";
import { fieldsOf } from "./fields.ts";

/** The fields of the events that `sessions chat --json` prints. */
export const CHAT_FIELDS = [
  "type",
  "message_id",
  "text",
  "tool",
  "state",
  "title",
  "error",
  "subagent",
  "files",
  "plan",
  "id",
  "permission",
  "patterns",
  "questions",
  "attempt",
  "message",
  "next_at",
  "status",
  "outcome",
] as const;

export const SAVED_FIELDS = fieldsOf<SavedWork>()([
  "commit",
  "base",
  "saved_at",
  "message",
  "files",
  "patch",
  "patch_base64",
  "truncated",
]);

export const TRY_FIELDS = fieldsOf<OneTry>()(["session", "change", "checks", "change_request"]);

export const PROMPT_FIELDS = fieldsOf<Prompt>()([
  "prompt_id",
  "session_id",
  "number",
  "state",
  "error",
  "attachments",
  "created_by",
  "author",
  "created_at",
  "started_at",
  "ended_at",
  "text",
  "answer",
]);

export const TURN_FIELDS = fieldsOf<Turn>()([
  "turn_id",
  "session_id",
  "number",
  "prompt_id",
  "author",
  "state",
  "error",
  "retry",
  "sandbox",
  "model",
  "tokens",
  "cost",
  "started_at",
  "ended_at",
  "parts",
]);

export const SESSION_FIELDS = fieldsOf<Session>()([
  "session_id",
  "project_id",
  "account_id",
  "branch_name",
  "base_ref",
  "name",
  "title",
  "tries_id",
  "agent_name",
  "model",
  "mode",
  "effort",
  "runtime",
  "status",
  "step",
  "blocked_on",
  "error",
  "stop_reason",
  "sandbox_provider",
  "sandbox_url",
  "sandbox_status",
  "activity",
  "activity_at",
  "waiting_for",
  "walls",
  "setup",
  "saved",
  "cost",
  "tokens",
  "created_by",
  "author",
  "created_at",
  "updated_at",
  "last_active_at",
]);
