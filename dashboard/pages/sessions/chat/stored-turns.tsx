import { memo } from "react";
import type { Turn } from "../../../../src/contract/turn.ts";
import { OneItem } from "./item.tsx";
import { itemsOf } from "./turn.ts";

/** Stored turns, in order; they look like the live chat. */
export const StoredTurns = memo(function StoredTurns({ turns }: { turns: readonly Turn[] }) {
  return turns.map((turn, at) => <StoredTurn key={turn.turn_id} turn={turn} next={turns[at + 1]} />);
});

const StoredTurn = memo(function StoredTurn({ turn, next }: { turn: Turn; next: Turn | undefined }) {
  return itemsOf(turn, next).map((item) => <OneItem key={item.key} item={item} />);
});
