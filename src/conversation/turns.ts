import type { ConversationStreamEvent, Turn, TurnPart } from "../contract/turn.ts";

/**
 * The turns after a change. Turns and parts that have not changed stay the same objects.
 * @param turns the newest ones of a conversation, in order
 * @param hasEarlier whether there are earlier ones, and parts of the first one, that are not known: their changes are ignored
 */
export function changeTurns(
  turns: readonly Turn[],
  change: ConversationStreamEvent,
  hasEarlier: boolean,
): readonly Turn[] {
  switch (change.type) {
    case "turn": {
      const at = turns.findLastIndex(({ turn_id }) => turn_id === change.turn.turn_id);
      const known = turns[at];
      return known
        ? turns.with(at, { ...change.turn, parts: known.parts })
        : insert(turns, { ...change.turn, parts: [] }, hasEarlier);
    }
    case "part": {
      const isCut = hasEarlier && turns[0]?.turn_id === change.turn_id;
      return changeTurn(turns, change.turn_id, (turn) => ({
        ...turn,
        parts: putPart(turn, change.part, isCut),
      }));
    }
    case "text": {
      const { part_id: id, from, text } = change;
      const more = (part: TurnPart) => ({ ...part, text: part.text.slice(0, from) + text });
      return changeTurn(turns, change.turn_id, (turn) => {
        const at = turn.parts.findLastIndex(({ part_id }) => part_id === id);
        const part = turn.parts[at];
        // a part with a gap is sent again, whole
        return part && part.text.length >= from ? { ...turn, parts: turn.parts.with(at, more(part)) } : turn;
      });
    }
    case "deleted":
      return turns;
  }
}

/** Puts an earlier page before the turns that are known: both may have parts of the same turn. */
export function joinTurns(earlier: readonly Turn[], later: readonly Turn[]): readonly Turn[] {
  const last = earlier.at(-1);
  const [first, ...rest] = later;
  if (!last || !first || last.turn_id !== first.turn_id) return [...earlier, ...later];
  return [...earlier.slice(0, -1), { ...first, parts: [...last.parts, ...first.parts] }, ...rest];
}

function changeTurn(turns: readonly Turn[], turnId: string, change: (turn: Turn) => Turn): readonly Turn[] {
  const at = turns.findLastIndex(({ turn_id }) => turn_id === turnId);
  const turn = turns[at];
  return turn ? turns.with(at, change(turn)) : turns;
}

function putPart({ parts }: Turn, part: TurnPart, hasEarlier: boolean): TurnPart[] {
  const at = parts.findLastIndex(({ part_id }) => part_id === part.part_id);
  return at >= 0 ? parts.with(at, part) : insert(parts, part, hasEarlier);
}

/** Inserts by number: a change may arrive after that of a later one. */
function insert<T extends { number: number }>(all: readonly T[], one: T, hasEarlier: boolean): T[] {
  const at = all.findLastIndex(({ number }) => number < one.number) + 1;
  return hasEarlier && at === 0 && all.length > 0 ? [...all] : all.toSpliced(at, 0, one);
}
