import type { TurnChange, TurnState } from "../contract/turn.ts";
import type { TokensUsed } from "../contract/usage.ts";
import type { RunError } from "./runtime-event.ts";
import { type Message, sentenceOf } from "./runtime-message.ts";

/** A turn as the runtime has it. The times are milliseconds since 1970 by the sandbox's clock. */
export interface RuntimeTurn {
  /** The id of the prompt's message. */
  turnId: string;
  state: TurnState;
  error: string | null;
  retry: TurnChange["retry"];
  model: string | null;
  tokens: TokensUsed | null;
  cost: number | null;
  startedAt: number;
  endedAt: number | null;
}

/** What is known of a turn. */
export interface OpenTurn {
  turnId: string;
  startedAt: number;
  /** The answers to its prompt, by id, in order. */
  answers: Map<string, Message>;
  /** The run ended since the prompt, or the last answer. */
  hasEnded: boolean;
  /** An error that is not that of an answer. */
  error: RunError | null;
  /** While the model does not answer. */
  retry: TurnChange["retry"];
  /** The daemon's: nothing answers it. */
  isNote: boolean;
}

/** @param isCurrent whether the runtime may be answering it */
export function turnOf(turn: OpenTurn, isCurrent: boolean): RuntimeTurn {
  const answers = [...turn.answers.values()];
  // after a compaction, the agent goes on
  const last = answers.findLast((each) => !each.isSummary || each.error !== null);
  const { state, error } = outcomeOf(turn, last, isCurrent);
  return {
    turnId: turn.turnId,
    state,
    error: error && sentenceOf(error),
    retry: state === "working" ? turn.retry : null,
    model: answers.findLast(({ model }) => model !== null)?.model ?? null,
    tokens: sumOf(answers),
    cost: answers.reduce<number | null>((sum, { cost }) => (cost === null ? sum : (sum ?? 0) + cost), null),
    startedAt: turn.startedAt,
    endedAt: state === "working" ? null : (last?.completedAt ?? last?.createdAt ?? turn.startedAt),
  };
}

interface Outcome {
  state: TurnState;
  error: RunError | null;
}

function outcomeOf(turn: OpenTurn, last: Message | undefined, isCurrent: boolean): Outcome {
  if (turn.isNote) return { state: "done", error: null };
  if (last?.error) return endedBy(last.error);
  if (last && isFinal(last)) return { state: "done", error: null };
  if (isCurrent && !turn.hasEnded) return { state: "working", error: null };
  if (turn.error) return endedBy(turn.error);
  // a run that was aborted between two attempts has no error
  return { state: last?.isComplete && last.finish === "" ? "aborted" : "interrupted", error: null };
}

/** The runtime reports an abort as an error. */
function endedBy(error: RunError): Outcome {
  return error.name === "MessageAbortedError"
    ? { state: "aborted", error: null }
    : { state: "failed", error };
}

/** Whether the model ended its answer: it did not stop for a tool. */
function isFinal({ isComplete, finish }: Message): boolean {
  return isComplete && finish !== "" && finish !== "tool-calls" && finish !== "unknown";
}

function sumOf(answers: readonly Message[]): TokensUsed | null {
  const counted = answers.flatMap(({ tokens }) => tokens ?? []);
  if (counted.length === 0) return null;
  const sum = (name: keyof TokensUsed) => counted.reduce((total, tokens) => total + tokens[name], 0);
  return { input: sum("input"), output: sum("output"), cached: sum("cached") };
}
