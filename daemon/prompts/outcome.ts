import type { DaemonPrompt } from "../../src/contract/daemon.ts";
import { explainRun } from "../../src/contract/runtime.ts";
import { isFinal, type PromptStatus } from "./prompt-status.ts";

export type Outcome = Pick<DaemonPrompt, "state" | "error">;

/** What the daemon knows about a prompt, in addition to the status from the runtime. */
export interface Known {
  /** The runtime has restarted since the prompt was sent. */
  hasRestarted: boolean;
  isAborted: boolean;
  /** The error that the runtime has reported in the conversation since. */
  runtimeError: string | null;
  /** For how long the status has not changed. */
  idleMs: number;
}

/** A run may pause this long between two steps, and its end is recorded with a delay. */
const IDLE_MS = 1_500;
/** A cold runtime reads its configuration and plugins before a run is visible. */
const START_MS = 60_000;
/** Longer messages of the runtime or a model are cut off. */
const WORDS_MAX = 500;

/** The outcome of a prompt, derived from its status; null while it may still be answered. */
export function outcomeOf({ isBusy, answer }: PromptStatus, known: Known): Outcome | null {
  if (answer?.error) return failure(answer.error, known);
  if (answer?.isComplete && isFinal(answer)) return ANSWERED;
  if (isBusy) return null;
  if (!answer && known.runtimeError !== null) return { state: "failed", error: sentence(known.runtimeError) };
  if (known.idleMs < IDLE_MS) return null;
  // a run that was aborted between two attempts has no error
  if (answer?.isComplete) return answer.finish === null ? ABORTED : ANSWERED;
  if (known.hasRestarted) return RESTARTED;
  if (known.isAborted) return ABORTED;
  if (known.runtimeError !== null) return { state: "failed", error: sentence(known.runtimeError) };
  if (answer) return { state: "interrupted", error: "The run ended in the middle of the answer." };
  return known.idleMs < START_MS
    ? null
    : { state: "failed", error: "The agent runtime accepted the prompt, but did not start to answer it." };
}

export const ANSWERED: Outcome = { state: "answered", error: null };
export const RESTARTED: Outcome = {
  state: "interrupted",
  error: "The agent runtime restarted in the middle of the answer.",
};
const ABORTED: Outcome = { state: "aborted", error: "The run was aborted." };

/** The runtime reports runs that it ends before a restart as aborted. */
function failure({ name, message }: { name: string; message: string }, { hasRestarted }: Known): Outcome {
  if (name === "MessageAbortedError") return hasRestarted ? RESTARTED : ABORTED;
  return { state: "failed", error: sentence(message || name) };
}

/** One line of bounded length, without a stack trace. */
export function sentence(words: string): string {
  const [line = ""] = explainRun(words).split("\n");
  const clean = line
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .toWellFormed()
    .slice(0, WORDS_MAX);
  return clean === "" ? "The agent runtime gave no reason." : clean;
}
