import type { AttachedFile } from "../contract/attachment.ts";
import type { Ask, Message, Part, RunError, Status } from "./runtime-event.ts";
import type { ToolUse } from "./tools.ts";

/** A change of a conversation, to be shown once. */
export type ConversationEvent =
  /** A prompt, from any client. */
  | { type: "prompt"; messageId: string; text: string }
  /** A file that is attached to a prompt. */
  | { type: "attached"; messageId: string; partId: string; file: AttachedFile }
  /** An answer starts; one prompt may have several, with tool calls between them. */
  | { type: "turn"; messageId: string; answers: string | null }
  /** More of an answer. `answers` is the prompt's id; `begins` marks the first piece of a part. */
  | { type: "text"; messageId: string; partId: string; answers: string | null; begins: boolean; text: string }
  | {
      type: "tool";
      messageId: string;
      partId: string;
      answers: string | null;
      isSubagent: boolean;
      use: ToolUse;
    }
  | { type: "status"; status: Status }
  | { type: "error"; error: RunError }
  /** An answer ended with an error, now or in the history. */
  | { type: "failed"; messageId: string; answers: string | null; error: RunError }
  | { type: "asked"; ask: Ask }
  | { type: "answered"; askId: string }
  /** An answer was cut off by a restart of the runtime. */
  | { type: "cut"; messageId: string }
  /** Some events were missed and cannot be recovered. */
  | { type: "gap" };

/** The current state of a conversation in the runtime. */
export interface Snapshot {
  messages: { message: Message; parts: Part[] }[];
  status: Status;
  asks: Ask[];
  /** All runtime sessions; subagents have a parent. */
  sessions: { id: string; parentId: string | null }[];
}
