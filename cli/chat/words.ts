import { explainRun } from "../../src/contract/runtime.ts";
import type { Paint } from "../output.ts";
import { oneLine } from "../text.ts";
import type { Ask, RunError, Status } from "./events.ts";
import type { Outcome } from "./outcome.ts";
import type { FileEdit, ToolUse } from "./tools.ts";

/** What is shown of a conversation beside its text, each on one line, safe for a terminal, without its end. */

export function toolLine(use: ToolUse, isSubagent: boolean, paint: Paint): string {
  const mark = use.state === "error" ? paint.red("✗") : use.state === "completed" ? paint.green("✓") : "·";
  const edits = use.files.map((file) => editWords(file, paint));
  const does = edits.length > 0 ? edits.join(", ") : oneLine(use.title);
  const error = use.error === null ? "" : paint.red(`: ${oneLine(use.error)}`);
  const what = `${paint.dim(oneLine(use.tool))}${does && ` ${does}`}`;
  return `${isSubagent ? "  " : ""}${mark} ${what}${error}`;
}

function editWords({ path, additions, deletions }: FileEdit, paint: Paint): string {
  const counts = [
    additions === null ? "" : ` ${paint.green(`+${additions}`)}`,
    deletions === null ? "" : ` ${paint.red(`-${deletions}`)}`,
  ];
  return oneLine(path) + counts.join("");
}

/** @param now milliseconds since 1970 */
export function retryLine(status: Extract<Status, { type: "retry" }>, now: number): string {
  const seconds = status.at === null ? 0 : Math.max(0, Math.round((status.at - now) / 1000));
  const when = seconds > 0 ? ` in ${seconds} s` : "";
  return `The model does not answer (${oneLine(status.message)}). Try ${status.attempt + 1}${when}.`;
}

/** What a prompt came to, for those that did not end well. */
export function outcomeWords(outcome: Exclude<Outcome, "completed">, error: RunError | null): string {
  switch (outcome) {
    case "failed":
      return `The agent's run failed: ${oneLine(explainRun(error?.message ?? "no reason is known"))}`;
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

/** What is asked for, in one line. */
export function askLine(ask: Ask): string {
  if (ask.kind === "question") return oneLine(ask.questions.map(({ question }) => question).join(" "));
  const what = ask.patterns.length === 0 ? "" : `: ${ask.patterns.join(", ")}`;
  return oneLine(`${ask.permission}${what}`);
}
