import type { Snapshot } from "./conversation-event.ts";
import type { Message, RunError } from "./runtime-event.ts";

/** How a prompt ended. */
export type Outcome = "completed" | "failed" | "aborted" | "rejected" | "cut_off" | "unanswered";

export interface Result {
  outcome: Outcome;
  /** Whether the runtime has the prompt. */
  isSeen: boolean;
  error: RunError | null;
  /** The text of the last answer. */
  text: string;
}

/** @param lastError the error since the prompt, used if no answer has one */
export function outcomeOf(all: Snapshot["messages"], promptId: string, lastError: RunError | null): Result {
  const at = all.findIndex(({ message }) => message.id === promptId);
  const after = at < 0 ? [] : all.slice(at + 1).filter(({ message }) => message.role === "assistant");
  const own = after.filter(({ message }) => message.parentId === promptId).at(-1);
  // after a compaction the conversation continues under another prompt
  const last = own !== undefined && (own.message.error || isWhole(own.message)) ? own : after.at(-1);
  const error = last?.message.error ?? (last === undefined ? lastError : null);
  const words = last?.parts.map((part) => (part.kind === "text" ? part.text : "")) ?? [];
  return { outcome: classify(last, error), isSeen: at >= 0, error, text: words.join("") };
}

function classify(last: Snapshot["messages"][number] | undefined, error: RunError | null): Outcome {
  if (error) return error.name === "MessageAbortedError" ? "aborted" : "failed";
  if (last === undefined) return "unanswered";
  if (isWhole(last.message)) return "completed";
  const isRefused = last.parts.some((part) => part.kind === "tool" && part.use.state === "error");
  return last.message.isComplete && isRefused ? "rejected" : "cut_off";
}

/** Whether an answer is finished: after `tool-calls` another message follows. */
const isWhole = ({ isComplete, finish }: Message): boolean =>
  isComplete && finish !== null && finish !== "tool-calls";

/** Whether an answer was cut off. Only valid while nothing runs. */
export const isCut = ({ isComplete, error }: Message): boolean => !isComplete && error === null;
