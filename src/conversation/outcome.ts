import type { Message, RunError } from "./events.ts";
import type { Snapshot } from "./happening.ts";

/** What became of a prompt. */
export type Outcome = "completed" | "failed" | "aborted" | "rejected" | "cut_off" | "unanswered";

export interface Result {
  outcome: Outcome;
  /** Whether the runtime has the prompt at all. */
  isSeen: boolean;
  error: RunError | null;
  /** The answer's last words. */
  text: string;
}

/** @param lastError what went wrong since the prompt, where no answer says it */
export function outcomeOf(all: Snapshot["messages"], promptId: string, lastError: RunError | null): Result {
  const at = all.findIndex(({ message }) => message.id === promptId);
  const after = at < 0 ? [] : all.slice(at + 1).filter(({ message }) => message.role === "assistant");
  const own = after.filter(({ message }) => message.parentId === promptId).at(-1);
  // a conversation that was made shorter in between goes on under another prompt
  const last = own !== undefined && (own.message.error || isWhole(own.message)) ? own : after.at(-1);
  const error = last?.message.error ?? (last === undefined ? lastError : null);
  const words = last?.parts.map((part) => (part.kind === "text" ? part.text : "")) ?? [];
  return { outcome: judge(last, error), isSeen: at >= 0, error, text: words.join("") };
}

function judge(last: Snapshot["messages"][number] | undefined, error: RunError | null): Outcome {
  if (error) return error.name === "MessageAbortedError" ? "aborted" : "failed";
  if (last === undefined) return "unanswered";
  if (isWhole(last.message)) return "completed";
  const isRefused = last.parts.some((part) => part.kind === "tool" && part.use.state === "error");
  return last.message.isComplete && isRefused ? "rejected" : "cut_off";
}

/** Whether an answer has come to its end: after `tool-calls` another message would follow. */
const isWhole = ({ isComplete, finish }: Message): boolean =>
  isComplete && finish !== null && finish !== "tool-calls";

/** Whether nothing more will come of an answer that has no end, once nothing runs. */
export const isCut = ({ isComplete, error }: Message): boolean => !isComplete && error === null;
