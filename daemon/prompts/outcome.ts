import type { DaemonPrompt } from "../../src/contract/daemon.ts";
import { explainRun } from "../../src/contract/runtime.ts";
import { isFinal, type PromptStatus } from "./prompt-status.ts";

export type Outcome = Pick<DaemonPrompt, "state" | "error">;

/** What the daemon itself knows of a prompt beside what the runtime keeps. */
export interface Known {
  /** The runtime's process is another than the one that was given it. */
  hasRestarted: boolean;
  isAborted: boolean;
  /** What the runtime said went wrong in the conversation since. */
  runtimeError: string | null;
  /** Milliseconds for which it was seen as it is, without a run. */
  idleMs: number;
}

/** A run may pause for so long between two steps, and its end is written down some time after it. */
const IDLE_MS = 1_500;
/** A cold runtime reads its configuration and plugins before a run shows. */
const SILENT_MS = 15_000;
/** A sentence of the runtime's or of a model's: its beginning says it. */
const WORDS_MAX = 500;

/** What has become of a prompt, from what is seen of it; null while it may still be answered. */
export function outcomeOf({ isBusy, answer }: PromptStatus, known: Known): Outcome | null {
  if (answer?.error) return failure(answer.error, known);
  if (answer?.isComplete && isFinal(answer)) return ANSWERED;
  if (isBusy) return null;
  if (!answer && known.runtimeError !== null) return { state: "failed", error: sentence(known.runtimeError) };
  if (known.idleMs < IDLE_MS) return null;
  // one that waited for its next try when it was aborted tells nothing of it
  if (answer?.isComplete) return answer.finish === null ? ABORTED : ANSWERED;
  if (known.hasRestarted) return RESTARTED;
  if (known.isAborted) return ABORTED;
  if (known.runtimeError !== null) return { state: "failed", error: sentence(known.runtimeError) };
  if (answer) return { state: "interrupted", error: "The run ended in the middle of the answer." };
  return known.idleMs < SILENT_MS
    ? null
    : { state: "failed", error: "The agent runtime took the prompt, and did not begin to answer it." };
}

export const ANSWERED: Outcome = { state: "answered", error: null };
export const RESTARTED: Outcome = {
  state: "interrupted",
  error: "The agent runtime was started again in the middle of the answer.",
};
const ABORTED: Outcome = { state: "aborted", error: "The run was aborted." };

/** The runtime ends its runs before it is stopped, and calls that an abort. */
function failure({ name, message }: { name: string; message: string }, { hasRestarted }: Known): Outcome {
  if (name === "MessageAbortedError") return hasRestarted ? RESTARTED : ABORTED;
  return { state: "failed", error: sentence(message || name) };
}

/** One line of bounded length, with what a stack trace would tell left out. */
export function sentence(words: string): string {
  const [line = ""] = explainRun(words).split("\n");
  const clean = line
    .replace(/\p{Cc}+/gu, " ")
    .trim()
    .toWellFormed()
    .slice(0, WORDS_MAX);
  return clean === "" ? "The agent runtime says no reason." : clean;
}
