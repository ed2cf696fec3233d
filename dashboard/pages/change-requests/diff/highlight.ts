import { useEffect, useState } from "react";
import type { Hunk } from "./patch.ts";
import type { Token } from "./pieces.ts";
import { hunkOf, type Row } from "./rows.ts";

/** Larger hunks are not highlighted: that would be too slow. */
const LINES_MAX = 3_000;
const CHARACTERS_MAX = 200_000;

/** By the index of a line in its hunk. */
export type Colours = readonly (readonly Token[])[];

const known = new WeakMap<Hunk, Colours>();
const NONE: Colours = [];

function coloursOf(row: Row): Colours {
  const hunk = hunkOf(row);
  return (hunk && known.get(hunk)) ?? NONE;
}

/**
 * Highlights the visible hunks one after the other, and yields to the browser in between. The highlighter is loaded for the
 * first hunk.
 * @returns the colours of a row, a new function whenever more are known
 */
export function useColours(inSight: readonly { hunk: Hunk; path: string }[]): (row: Row) => Colours {
  const [colours, setColours] = useState(() => coloursOf);
  useEffect(() => {
    const missing = inSight.filter(({ hunk }) => !known.has(hunk));
    if (missing.length === 0) return;
    let isOver = false;
    void (async () => {
      const { tokenize, languageOf } = await import("./highlighter.ts");
      for (const { hunk, path } of missing) {
        await rest();
        if (isOver) return;
        const language = languageOf(path);
        known.set(hunk, language === null || isTooLarge(hunk) ? NONE : colour(hunk, language, tokenize));
      }
      setColours(() => (row: Row) => coloursOf(row));
    })().catch(() => {
      // code is readable without colours
    });
    return () => {
      isOver = true;
    };
  }, [inSight]);
  return colours;
}

/** Highlights the two sides of a hunk separately: a line of the other side could end a string. */
function colour(
  hunk: Hunk,
  language: string,
  tokenize: (text: string, language: string) => Token[][],
): Colours {
  const colours: (readonly Token[])[] = hunk.lines.map(() => []);
  for (const signs of [" -", " +"]) {
    const places = hunk.lines.flatMap((line, at) => (signs.includes(line[0] ?? "") ? [at] : []));
    const lines = tokenize(places.map((at) => hunk.lines[at]?.slice(1)).join("\n"), language);
    for (const [i, at] of places.entries()) colours[at] = lines[i] ?? [];
  }
  return colours;
}

function isTooLarge({ lines }: Hunk): boolean {
  return lines.length > LINES_MAX || lines.reduce((sum, line) => sum + line.length, 0) > CHARACTERS_MAX;
}

function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}
