import type { Span } from "./emphasis.ts";
import { hiddenIn } from "./hidden.ts";

/** A part of a line that looks the same from end to end. */
export interface Piece {
  at: number;
  text: string;
  /** What the highlighter calls it; empty: nothing special. */
  token: string;
  /** Not in the counterpart of the line. */
  strong: boolean;
  /** A character that would not be seen: its name is shown instead. */
  hidden: boolean;
}

/** A stretch of a line with the highlighter's name for it. */
export type Token = readonly [from: number, to: number, name: string];

/** Cuts a line wherever its look changes. The pieces' texts together are the line. */
export function piecesOf(line: string, tokens: readonly Token[], strong: readonly Span[]): Piece[] {
  const hidden = hiddenIn(line);
  const cuts = new Set([0, line.length]);
  for (const [from, to] of [...tokens, ...strong]) {
    cuts.add(Math.min(from, line.length));
    cuts.add(Math.min(to, line.length));
  }
  for (const { at, character } of hidden) {
    cuts.add(at);
    cuts.add(at + character.length);
    // whoever cut there did not see it
    for (let inside = at + 1; inside < at + character.length; inside++) cuts.delete(inside);
  }
  const places = new Set(hidden.map(({ at }) => at));
  const ordered = [...cuts].sort((a, b) => a - b);
  let token = 0;
  return ordered.slice(0, -1).map((at, i) => {
    while (token < tokens.length && (tokens[token]?.[1] ?? 0) <= at) token++;
    const [from = 0, , name = ""] = tokens[token] ?? [];
    return {
      at,
      text: line.slice(at, ordered[i + 1]),
      token: tokens[token] && from <= at ? name : "",
      strong: strong.some(([from, to]) => from <= at && at < to),
      hidden: places.has(at),
    };
  });
}
