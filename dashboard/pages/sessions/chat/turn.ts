import type { Turn, TurnPart, TurnTool } from "../../../../src/contract/turn.ts";
import { DAEMON_MARK, outcomeText } from "../../../../src/conversation/text.ts";
import type { ShownTool } from "./tool.tsx";
import type { Item } from "./transcript.ts";

/**
 * The items of a stored turn.
 * @param next the turn after it, if there is one
 */
export function itemsOf(turn: Turn, next: Turn | undefined): Item[] {
  const items: Item[] = [];
  for (const part of turn.parts) {
    items.push(...itemOf(turn, part));
    const note = cutText(part);
    const last = items.at(-1);
    // a conversation that is too long has many parts of which nothing is kept
    if (note === null || (last?.kind === "note" && last.text === note)) continue;
    items.push({ kind: "note", key: `${part.part_id} cut`, look: "info", text: note });
  }
  return [...items, ...(isNoteOfDaemon(turn) || (next && isNoteOfDaemon(next)) ? [] : endOf(turn))];
}

/** The daemon notes in the conversation that the runtime restarted, as a prompt without an answer. */
function isNoteOfDaemon({ parts: [first] }: Turn): boolean {
  return first?.kind === "prompt" && first.text.startsWith(DAEMON_MARK);
}

function itemOf(
  turn: Turn,
  { part_id: key, kind, state, text, tool, plan, request, file, at }: TurnPart,
): Item[] {
  if (plan) return plan.length === 0 ? [] : [{ kind: "plan", key, plan }];
  if (request) return [{ kind: "asked", key, request, state }];
  if (tool) return [{ kind: "tool", key, use: shownTool(tool, state), isSubagent: false }];
  if (file) return [{ kind: "file", key, file }];
  if (text.trim() === "") return [];
  if (kind === "reasoning") return [{ kind: "thought", key, text }];
  if (kind !== "prompt") return [{ kind: "answer", key, text }];
  return text.startsWith(DAEMON_MARK)
    ? [{ kind: "note", key, look: "warning", text: text.slice(DAEMON_MARK.length) }]
    : [{ kind: "prompt", key, text, sent: { author: turn.author, at } }];
}

function shownTool({ name, ...rest }: TurnTool, state: TurnPart["state"]): ShownTool {
  return { ...rest, tool: name, state: TOOL_STATES[state] };
}

const TOOL_STATES = {
  running: "running",
  done: "completed",
  failed: "error",
  interrupted: "interrupted",
} as const satisfies Record<TurnPart["state"], ShownTool["state"]>;

function cutText({ cut, tool, text }: TurnPart): string | null {
  if (!cut) return null;
  if (tool) return "The conversation is too long: the input and output of this tool are not kept.";
  return text === ""
    ? "The conversation is too long: the text here is not kept."
    : "The text is too long: only its beginning is kept.";
}

/** How a turn ended, if it ended early. */
function endOf({ turn_id, state, error, parts }: Turn): Item[] {
  const note = (look: "info" | "warning" | "error", text: string): Item[] => [
    { kind: "note", key: `${turn_id} end`, look, text },
  ];
  switch (state) {
    case "working":
    case "done":
      return [];
    case "failed":
      return note("error", outcomeText("failed", error === null ? null : { name: "", message: error }));
    case "aborted":
      return note("info", outcomeText("aborted", null));
    case "interrupted":
      return note(
        "warning",
        parts.every(({ kind }) => kind === "prompt" || kind === "file")
          ? "The sandbox ended before the agent answered."
          : "The answer was cut off when the sandbox ended.",
      );
  }
}
