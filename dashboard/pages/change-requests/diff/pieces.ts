import type { Span } from "./emphasis.ts";
import { hiddenIn } from "./hidden.ts";

/** A part of a line with one style. */
export interface Piece {
  at: number;
  text: string;
  /** The class of the highlighter; empty for plain text. */
  token: string;
  /** Not in the matching line of the other side. */
  strong: boolean;
  /** An invisible character, which is shown as its code point. */
  hidden: boolean;
}

/** A range of a line with a class of the highlighter. */
export type Token = readonly [from: number, to: number, name: string];

/** Splits a line where its style changes. The pieces concatenate to the line. */
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
    // never split a surrogate pair
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
