import type { Ask, Message, Part, RunError, Status } from "./events.ts";
import type { ToolUse } from "./tools.ts";

/** Something of a conversation that is to be shown, once. */
export type Happening =
  /** What somebody asked of the agent. */
  | { type: "prompt"; messageId: string; text: string }
  /** An answer begins; one prompt may take several, with tools between them. */
  | { type: "turn"; messageId: string; answers: string | null }
  /** More of an answer; `answers` is the prompt, `begins` says that it is the first piece of its part. */
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
  /** An answer ended with an error: also one of the past. */
  | { type: "failed"; messageId: string; answers: string | null; error: RunError }
  | { type: "asked"; ask: Ask }
  | { type: "answered"; askId: string }
  /** An answer that will not be gone on with: the runtime was started again in the middle. */
  | { type: "cut"; messageId: string }
  /** There was more than can be caught up with. */
  | { type: "gap" };

/** A conversation as the runtime tells it when it is asked. */
export interface Snapshot {
  messages: { message: Message; parts: Part[] }[];
  status: Status;
  asks: Ask[];
  /** All sessions that are somebody's subagents. */
  sessions: { id: string; parentId: string | null }[];
}
