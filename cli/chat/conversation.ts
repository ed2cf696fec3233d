import { DAEMON_MARK } from "../../src/contract/conversation.ts";
import type { ConversationStreamEvent, Turn, TurnChange, TurnPart } from "../../src/contract/turn.ts";
import type { Outcome } from "../../src/conversation/text.ts";
import type { ConversationEvent } from "./chat-event.ts";
import { type ShownText, updateText } from "./shown-text.ts";

/** Turns and parts that are remembered: far more than any repeated change reaches back. */
const TURNS_MAX = 1_000;
const PARTS_MAX = 20_000;

interface KnownTurn {
  turn: TurnChange;
  /** Whether it is a message of the daemon, which no agent answers. */
  isNote: boolean;
  /** Whether it has a part: its prompt is shown first. */
  isShown: boolean;
  isOver: boolean;
  /** The failed attempts that were shown. */
  attempts: number;
  hasAnswer: boolean;
  /** Whether the last request of the agent was refused. */
  isRefused: boolean;
}

/**
 * What was shown of one conversation. Accepts pages and changes in any number of copies. Each returned event is to be shown
 * in order, and is returned only once.
 */
export class Conversation {
  readonly #turns = new Map<string, KnownTurn>();
  readonly #texts = new Map<string, ShownText>();
  /** Other parts: whether all of each was shown. */
  readonly #parts = new Map<string, boolean>();
  readonly #changed = new Set<KnownTurn>();
  readonly #working = new Set<KnownTurn>();
  /** A text that a failed attempt had already streamed, and that the next one may repeat. */
  #abandoned: { turnId: string; text: string } | null = null;
  #status: "busy" | "idle" = "idle";
  #events: ConversationEvent[] = [];

  /** Whether the agent answers a prompt. */
  get isWorking(): boolean {
    return [...this.#working].some(({ isNote, isShown }) => isShown && !isNote);
  }

  /** The turn that answers a prompt; null if there is none. */
  turnOf(promptId: string): { turn: TurnChange; outcome: Outcome } | null {
    const known = [...this.#turns.values()].findLast(({ turn }) => turn.prompt_id === promptId);
    return known ? { turn: known.turn, outcome: outcomeOf(known) } : null;
  }

  applyPage(turns: readonly Turn[]): ConversationEvent[] {
    const events = turns.flatMap(({ parts, ...turn }) => {
      this.#turn(turn);
      for (const part of parts) this.#part(turn.turn_id, part);
      return this.#take();
    });
    return [...events, ...this.#newStatus()];
  }

  /** @param isLast whether the change completes a version: its turns have all their parts */
  apply(change: ConversationStreamEvent, isLast: boolean): ConversationEvent[] {
    if (change.type === "turn") this.#turn(change.turn);
    if (change.type === "part") this.#part(change.turn_id, change.part);
    if (change.type === "text") this.#more(change);
    if (isLast) return [...this.#take(), ...this.#newStatus()];
    return this.#events.splice(0);
  }

  /** The events so far, and the ends of the turns that have changed. */
  #take(): ConversationEvent[] {
    for (const known of this.#changed) {
      if (known.turn.state === "working" || known.isOver) continue;
      known.isOver = true;
      if (!known.isNote) this.#events.push({ type: "over", turn: known.turn, outcome: outcomeOf(known) });
    }
    this.#changed.clear();
    return this.#events.splice(0);
  }

  #newStatus(): ConversationEvent[] {
    const status = this.isWorking ? "busy" : "idle";
    if (status === this.#status) return [];
    this.#status = status;
    return [{ type: "status", status }];
  }

  #turn(turn: TurnChange): void {
    const known = this.#turns.get(turn.turn_id) ?? {
      turn,
      isNote: false,
      isShown: false,
      isOver: false,
      attempts: 0,
      hasAnswer: false,
      isRefused: false,
    };
    // a page may be older than the changes
    if (known.isOver) return;
    known.turn = turn;
    remember(this.#turns, turn.turn_id, known, TURNS_MAX);
    this.#changed.add(known);
    if (turn.state === "working") this.#working.add(known);
    else this.#working.delete(known);
    if (turn.retry === null || turn.retry.attempt === known.attempts) return;
    known.attempts = turn.retry.attempt;
    this.#events.push({ type: "retry", retry: turn.retry });
  }

  #part(turnId: string, part: TurnPart): void {
    const known = this.#turns.get(turnId);
    if (!known) return;
    const { turn } = known;
    const { part_id: id, kind, state, text, tool, plan, file, request } = part;
    const isSubagent = part.parent_id !== null;
    known.isShown = true;
    if (kind !== "prompt" && kind !== "file") known.hasAnswer = true;
    if (request) known.isRefused = state === "failed";
    if (tool) this.#tool(id, { type: "tool", turn, isSubagent, state, tool });
    if (isSubagent) return;
    if (kind === "text") this.#text(turn, part);
    if (kind === "prompt") known.isNote = text.startsWith(DAEMON_MARK);
    const event: ConversationEvent | null =
      (kind === "prompt" && { type: "prompt", turn, text }) ||
      (file && { type: "attached", turn, file }) ||
      (plan && plan.length > 0 && state !== "running" && { type: "plan", turn, plan }) ||
      null;
    if (event && this.#isNew(id, true)) this.#events.push(event);
  }

  /** Shows a tool when it is known what it does, and when it has ended; one that was cut off is not shown again. */
  #tool(id: string, event: Extract<ConversationEvent, { type: "tool" }>): void {
    const { state, tool } = event;
    if (state === "running" && tool.title === "" && tool.input.length === 0) return;
    if (this.#isNew(id, state !== "running") && state !== "interrupted") this.#events.push(event);
  }

  #isNew(id: string, isWhole: boolean): boolean {
    const before = this.#parts.get(id);
    if (before === true || before === isWhole) return false;
    remember(this.#parts, id, isWhole, PARTS_MAX);
    return true;
  }

  #text(turn: TurnChange, { part_id: id, text, state }: TurnPart): void {
    const shown = this.#texts.get(id) ?? this.#begin(id, turn.turn_id);
    if (shown.isComplete) return;
    const isWhole = state !== "running";
    // the attempt failed: the next one writes another part
    if (isWhole && text === "" && shown.text !== "")
      this.#abandoned = { turnId: shown.turnId, text: shown.repeats ?? shown.text };
    this.#show(turn, shown, text, isWhole);
    if (!isWhole) return;
    shown.isComplete = true;
    shown.text = "";
  }

  /** More of a text. One with a gap is sent again, whole. */
  #more({ turn_id, part_id, from, text }: Extract<ConversationStreamEvent, { type: "text" }>): void {
    const turn = this.#turns.get(turn_id)?.turn;
    const shown = this.#texts.get(part_id);
    if (!turn || !shown || shown.isComplete || shown.text.length < from) return;
    this.#show(turn, shown, shown.text.slice(0, from) + text, false);
  }

  #begin(id: string, turnId: string): ShownText {
    const repeats = this.#abandoned?.turnId === turnId ? this.#abandoned.text : this.#underWay(turnId);
    this.#abandoned = null;
    const shown = { turnId, text: "", isComplete: false, repeats };
    remember(this.#texts, id, shown, PARTS_MAX);
    return shown;
  }

  /** What was shown of a text that another one follows: agents write one at a time, so its attempt has failed. */
  #underWay(turnId: string): string | null {
    const earlier = [...this.#texts.values()].findLast(
      (shown) => shown.turnId === turnId && !shown.isComplete && shown.text !== "",
    );
    return earlier ? (earlier.repeats ?? earlier.text) : null;
  }

  #show(turn: TurnChange, shown: ShownText, text: string, isWhole: boolean): void {
    const more = updateText(shown, text, isWhole);
    if (more !== null) this.#events.push({ type: "text", turn, ...more });
  }
}

function outcomeOf({ turn: { state }, hasAnswer, isRefused }: KnownTurn): Outcome {
  if (state === "failed" || state === "aborted") return state;
  if (state !== "interrupted") return "completed";
  if (isRefused) return "rejected";
  return hasAnswer ? "cut_off" : "unanswered";
}

/** Sets a key, and drops the oldest one past the limit. */
function remember<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  map.set(key, value);
  if (map.size <= max) return;
  for (const oldest of map.keys()) {
    map.delete(oldest);
    return;
  }
}
