import { explainRun } from "../contract/runtime.ts";
import type { WaitingFor } from "../contract/session.ts";
import type { TurnChange } from "../contract/turn.ts";

/** How a prompt ended. */
export type Outcome = "completed" | "failed" | "aborted" | "rejected" | "cut_off" | "unanswered";

/** Sentences about a conversation. Text of the model and the runtime is included unsanitized. */

/** @param now milliseconds since 1970 */
export function retryText({ attempt, message, at }: NonNullable<TurnChange["retry"]>, now: number): string {
  const seconds = at === null ? 0 : Math.max(0, Math.round((Date.parse(at) - now) / 1000));
  const when = seconds > 0 ? ` in ${seconds} s` : "";
  return `The model does not answer (${message}). Attempt ${attempt + 1}${when}.`;
}

/** Why a prompt did not complete. */
export function outcomeText(outcome: Exclude<Outcome, "completed">, error: string | null): string {
  switch (outcome) {
    case "failed":
      return `The agent's run failed: ${explainRun(error ?? "no reason is known")}`;
    case "aborted":
      return "The agent's run was aborted.";
    case "rejected":
      return "The agent's run ended because its request was refused.";
    case "cut_off":
      return "The answer was cut off: the agent's runtime restarted.";
    case "unanswered":
      return "The agent did not answer: the run ended before it started.";
  }
}

/** What a permission request or a question asks for. */
export function askText({ permission, patterns, questions }: WaitingFor): string {
  if (permission === null) return questions.map(({ question }) => question).join(" ");
  const what = patterns.length === 0 ? "" : `: ${patterns.join(", ")}`;
  return `${permission}${what}`;
}
