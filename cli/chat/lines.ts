import type { Outcome } from "../../src/conversation/outcome.ts";
import type { RunError, Status } from "../../src/conversation/runtime-event.ts";
import { outcomeText, retryText } from "../../src/conversation/text.ts";
import type { FileEdit, ToolUse } from "../../src/conversation/tools.ts";
import type { Paint } from "../output.ts";
import { oneLine } from "../text.ts";

/** Sentences of a chat, each on one line, safe for a terminal, without a line feed. */

export function toolLine(use: ToolUse, isSubagent: boolean, paint: Paint): string {
  const mark = use.state === "error" ? paint.red("✗") : use.state === "completed" ? paint.green("✓") : "·";
  const edits = use.files.map((file) => editText(file, paint));
  const does = edits.length > 0 ? edits.join(", ") : oneLine(use.title);
  const error = use.error === null ? "" : paint.red(`: ${oneLine(use.error)}`);
  const what = `${paint.dim(oneLine(use.tool))}${does && ` ${does}`}`;
  return `${isSubagent ? "  " : ""}${mark} ${what}${error}`;
}

function editText({ path, additions, deletions }: FileEdit, paint: Paint): string {
  const counts = [
    additions === null ? "" : ` ${paint.green(`+${additions}`)}`,
    deletions === null ? "" : ` ${paint.red(`-${deletions}`)}`,
  ];
  return oneLine(path) + counts.join("");
}

/** @param now milliseconds since 1970 */
export const retryLine = (status: Extract<Status, { type: "retry" }>, now: number): string =>
  oneLine(retryText({ ...status, at: status.at === null ? null : new Date(status.at).toISOString() }, now));

/** Why a prompt did not complete. */
export const outcomeLine = (outcome: Exclude<Outcome, "completed">, error: RunError | null): string =>
  oneLine(outcomeText(outcome, error?.message ?? null));
