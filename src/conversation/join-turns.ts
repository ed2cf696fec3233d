import type { Turn } from "../contract/turn.ts";

/** Puts an earlier page of a stored conversation before the turns that are known: both may have parts of the same turn. */
export function joinTurns(earlier: readonly Turn[], later: readonly Turn[]): readonly Turn[] {
  const last = earlier.at(-1);
  const [first, ...rest] = later;
  if (!last || !first || last.turn_id !== first.turn_id) return [...earlier, ...later];
  return [...earlier.slice(0, -1), { ...first, parts: [...last.parts, ...first.parts] }, ...rest];
}
