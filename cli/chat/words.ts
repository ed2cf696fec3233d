import type { Ask, RunError, Status } from "../../src/conversation/events.ts";
import type { Outcome } from "../../src/conversation/outcome.ts";
import type { FileEdit, ToolUse } from "../../src/conversation/tools.ts";
import { askWords, outcomeWords, retryWords } from "../../src/conversation/words.ts";
import type { Paint } from "../output.ts";
import { oneLine } from "../text.ts";

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
export const retryLine = (status: Extract<Status, { type: "retry" }>, now: number): string =>
  oneLine(retryWords(status, now));

/** What a prompt came to, for those that did not end well. */
export const outcomeLine = (outcome: Exclude<Outcome, "completed">, error: RunError | null): string =>
  oneLine(outcomeWords(outcome, error));

/** What is asked for. */
export const askLine = (ask: Ask): string => oneLine(askWords(ask));
