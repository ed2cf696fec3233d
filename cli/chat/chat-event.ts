import type { AttachedFile } from "../../src/contract/attachment.ts";
import type { WaitingFor } from "../../src/contract/session.ts";
import type { TurnChange, TurnPart, TurnPlan, TurnTool } from "../../src/contract/turn.ts";
import type { Outcome } from "../../src/conversation/text.ts";

/** A change of a conversation, to be shown once. */
export type ConversationEvent =
  /** A prompt, from any client. */
  | { type: "prompt"; turn: TurnChange; text: string }
  /** A file that is attached to a prompt. */
  | { type: "attached"; turn: TurnChange; file: AttachedFile }
  /** More of an answer. `begins` marks the first piece of a part. */
  | { type: "text"; turn: TurnChange; begins: boolean; text: string }
  | { type: "tool"; turn: TurnChange; isSubagent: boolean; state: TurnPart["state"]; tool: TurnTool }
  | { type: "plan"; turn: TurnChange; plan: TurnPlan }
  | { type: "retry"; retry: NonNullable<TurnChange["retry"]> }
  /** A turn has ended. */
  | { type: "over"; turn: TurnChange; outcome: Outcome }
  | { type: "status"; status: "busy" | "idle" };

/** What a chat shows. */
export type ChatEvent =
  | ConversationEvent
  /** Every event before this one is history. */
  | { type: "caught up" }
  | { type: "lost"; reason: string }
  | { type: "found" }
  | { type: "asked"; ask: WaitingFor }
  | { type: "answered" }
  /** The agent has begun to answer a prompt of this client. */
  | { type: "started" }
  | PromptEnd;

/** A prompt of this client has ended. `turnId`: null if the agent never got it. `text`: the end of the answer. */
export interface PromptEnd {
  type: "ended";
  promptId: string;
  turnId: string | null;
  outcome: Outcome;
  error: string | null;
  text: string;
}
