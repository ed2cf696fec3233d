import { explainRun } from "../contract/runtime.ts";
import type { Ask, RunError, Status } from "./events.ts";
import type { Outcome } from "./outcome.ts";

/** What is said of a conversation. Words of the model's and the runtime's are in it as they came. */

/** @param now milliseconds since 1970 */
export function retryWords(status: Extract<Status, { type: "retry" }>, now: number): string {
  const seconds = status.at === null ? 0 : Math.max(0, Math.round((status.at - now) / 1000));
  const when = seconds > 0 ? ` in ${seconds} s` : "";
  return `The model does not answer (${status.message}). Try ${status.attempt + 1}${when}.`;
}

/** What a prompt came to, for those that did not end well. */
export function outcomeWords(outcome: Exclude<Outcome, "completed">, error: RunError | null): string {
  switch (outcome) {
    case "failed":
      return `The agent's run failed: ${explainRun(error?.message ?? "no reason is known")}`;
    case "aborted":
      return "The agent's run was aborted.";
    case "rejected":
      return "The agent's run ended because what it asked was refused.";
    case "cut_off":
      return "The answer was cut off: the agent's runtime was started again in the middle of it.";
    case "unanswered":
      return "The agent did not answer: the run ended before it began.";
  }
}

/** What is asked for. */
export function askWords(ask: Ask): string {
  if (ask.kind === "question") return ask.questions.map(({ question }) => question).join(" ");
  const what = ask.patterns.length === 0 ? "" : `: ${ask.patterns.join(", ")}`;
  return `${ask.permission}${what}`;
}

/** What the daemon says in a conversation begins so (daemon/runtime/interrupted.ts). */
export const DAEMON_MARK = "[svc] ";
