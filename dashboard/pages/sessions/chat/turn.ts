import type { AttachedFile } from "../../../../src/contract/attachment.ts";
import type { Author } from "../../../../src/contract/author.ts";
import { DAEMON_MARK } from "../../../../src/contract/conversation.ts";
import type { Turn, TurnPart, TurnPlan, TurnRequest, TurnTool } from "../../../../src/contract/turn.ts";
import { outcomeText, retryText } from "../../../../src/conversation/text.ts";

/** An item of a conversation. Items are immutable, so that unchanged ones are not rendered again. */
export type Item = { key: string } /** `author`: null if unknown. */ & (
  | { kind: "prompt"; text: string; author: Author | null; at: string }
  | { kind: "file"; file: AttachedFile }
  | { kind: "answer"; text: string }
  | { kind: "thought"; text: string }
  | ToolItem
  | { kind: "plan"; plan: TurnPlan }
  | { kind: "asked"; request: TurnRequest; state: TurnPart["state"] }
  | { kind: "note"; look: "info" | "warning" | "error"; text: string }
  | { kind: "sandbox" }
);

export interface ToolItem {
  kind: "tool";
  key: string;
  use: TurnTool;
  state: TurnPart["state"];
  /** Whether its details must be loaded. */
  isBrief: boolean;
  /** What the subagent that it started did. */
  inner: readonly Item[];
}

/** Makes the items of a conversation; those of a turn that has not changed stay the same objects. */
export function createItems(): (turns: readonly Turn[]) => readonly Item[] {
  let known = new Map<string, { turn: Turn; next: Turn | undefined; items: Item[] }>();
  return (turns) => {
    const now: typeof known = new Map();
    const all = turns.flatMap((turn, at) => {
      const next = turns[at + 1];
      const before = known.get(turn.turn_id);
      const isSame = before?.turn === turn && endsSame(before.next, next);
      const items = isSame ? before.items : keep(before?.items ?? [], itemsOf(turn, next));
      now.set(turn.turn_id, { turn, next, items });
      const isNewSandbox = at > 0 && turns[at - 1]?.sandbox !== turn.sandbox;
      return isNewSandbox ? [{ kind: "sandbox" as const, key: `${turn.turn_id} sandbox` }, ...items] : items;
    });
    known = now;
    return all;
  };
}

const endsSame = (a: Turn | undefined, b: Turn | undefined): boolean =>
  a === b || (a && isNoteOfDaemon(a)) === (b && isNoteOfDaemon(b));

/** While a text grows, the other items of its turn stay. */
function keep(before: readonly Item[], now: Item[]): Item[] {
  return now.map((item, at) => {
    const same = before[at];
    return same && isSame(same, item) ? same : item;
  });
}

/** Whether two items show the same: their fields are parts of turns, which are immutable. */
function isSame(a: Item, b: Item): boolean {
  const [fields, others] = [Object.entries(a), new Map(Object.entries(b))];
  return fields.length === others.size && fields.every(([name, value]) => isEqual(value, others.get(name)));
}

function isEqual(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, at) => isEqual(each, b[at]));
  if (isItem(a) && isItem(b)) return isSame(a, b);
  return a === b;
}

const isItem = (value: unknown): value is Item =>
  typeof value === "object" && value !== null && "kind" in value && "key" in value;

/**
 * The items of a turn.
 * @param next the turn after it, if there is one
 */
export function itemsOf(turn: Turn, next: Turn | undefined): Item[] {
  const items = itemsBelow(turn, childrenOf(turn.parts), null);
  return [...items, ...(isNoteOfDaemon(turn) || (next && isNoteOfDaemon(next)) ? [] : endOf(turn))];
}

/** The parts of subagents, by the part that started each; null: the agent's own. */
type Children = ReadonlyMap<string | null, readonly TurnPart[]>;

function childrenOf(parts: readonly TurnPart[]): Children {
  const children = new Map<string | null, TurnPart[]>();
  for (const part of parts) {
    const others = children.get(part.parent_id);
    if (others) others.push(part);
    else children.set(part.parent_id, [part]);
  }
  return children;
}

function itemsBelow(turn: Turn, children: Children, parent: string | null): Item[] {
  const items: Item[] = [];
  for (const part of children.get(parent) ?? []) {
    items.push(...itemOf(turn, children, part));
    const note = cutText(part);
    const last = items.at(-1);
    // a conversation that is too long has many parts of which nothing is kept
    if (note === null || (last?.kind === "note" && last.text === note)) continue;
    items.push({ kind: "note", key: `${part.part_id} cut`, look: "info", text: note });
  }
  return items;
}

/** The daemon notes in the conversation that the runtime restarted, as a prompt without an answer. */
function isNoteOfDaemon({ parts: [first] }: Turn): boolean {
  return first?.kind === "prompt" && first.text.startsWith(DAEMON_MARK);
}

function itemOf(
  turn: Turn,
  children: Children,
  { part_id: key, kind, state, text, tool, plan, request, file, brief, at }: TurnPart,
): Item[] {
  if (plan) return plan.length === 0 ? [] : [{ kind: "plan", key, plan }];
  // while it waits, it is asked below
  if (request) return state === "running" ? [] : [{ kind: "asked", key, request, state }];
  if (tool) {
    const inner = itemsBelow(turn, children, key);
    return [{ kind: "tool", key, use: tool, state, isBrief: brief, inner }];
  }
  if (file) return [{ kind: "file", key, file }];
  if (text.trim() === "") return [];
  if (kind === "reasoning") return [{ kind: "thought", key, text }];
  if (kind !== "prompt") return [{ kind: "answer", key, text }];
  return text.startsWith(DAEMON_MARK)
    ? [{ kind: "note", key, look: "warning", text: text.slice(DAEMON_MARK.length) }]
    : [{ kind: "prompt", key, text, author: turn.author, at }];
}

function cutText({ cut, tool, text }: TurnPart): string | null {
  if (!cut) return null;
  if (tool) return "The conversation is too long: the input and output of this tool are not kept.";
  return text === ""
    ? "The conversation is too long: the text here is not kept."
    : "The text is too long: only its beginning is kept.";
}

/** How a turn ended, if it ended early. */
function endOf({ turn_id, state, error, retry, parts }: Turn): Item[] {
  const note = (look: "info" | "warning" | "error", text: string): Item[] => [
    { kind: "note", key: `${turn_id} end`, look, text },
  ];
  switch (state) {
    case "working":
      return retry ? note("warning", retryText(retry, Date.now())) : [];
    case "done":
      return [];
    case "failed":
      return note("error", outcomeText("failed", error));
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
