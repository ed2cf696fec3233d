import type { TurnChange, TurnPart, TurnPlan, TurnTool } from "../../src/contract/turn.ts";
import { planLines } from "../../src/conversation/shown-part.ts";
import { type Outcome, outcomeText, retryText } from "../../src/conversation/text.ts";
import type { Paint } from "../output.ts";
import { oneLine } from "../text.ts";
import type { ChatEvent } from "./chat-event.ts";

/** Sentences of a chat, safe for a terminal, without a line feed at the end. */

/** The states of tools, as `--json` prints them. */
export const TOOL_STATES = {
  running: "running",
  done: "completed",
  failed: "error",
  interrupted: "error",
} as const satisfies Record<TurnPart["state"], string>;

export function toolLine(event: Extract<ChatEvent, { type: "tool" }>, paint: Paint): string {
  const { state, tool, isSubagent } = event;
  const mark = state === "failed" ? paint.red("✗") : state === "done" ? paint.green("✓") : "·";
  const edits = tool.files.map((file) => editText(file, paint));
  const does = edits.length > 0 ? edits.join(", ") : oneLine(tool.title);
  const error = tool.error === null ? "" : paint.red(`: ${oneLine(tool.error)}`);
  const what = `${paint.dim(oneLine(tool.name))}${does && ` ${does}`}`;
  return `${isSubagent ? "  " : ""}${mark} ${what}${error}`;
}

function editText({ path, additions, deletions }: TurnTool["files"][number], paint: Paint): string {
  const counts = [
    additions === null ? "" : ` ${paint.green(`+${additions}`)}`,
    deletions === null ? "" : ` ${paint.red(`-${deletions}`)}`,
  ];
  return oneLine(path) + counts.join("");
}

/** A plan, a line for each step. */
export const planText = (plan: TurnPlan): string => planLines(plan).map(oneLine).join("\n");

/** @param now milliseconds since 1970 */
export const retryLine = (retry: NonNullable<TurnChange["retry"]>, now: number): string =>
  oneLine(retryText(retry, now));

/** Why a prompt did not complete. */
export const outcomeLine = (outcome: Exclude<Outcome, "completed">, error: string | null): string =>
  oneLine(outcomeText(outcome, error));
