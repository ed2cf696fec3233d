/** Whether a path of a repository matches a pattern. */
export type Matcher = (path: string) => boolean;

/** Any number of folders. */
const ANY = "**";

/**
 * The matcher of a pattern of a CODEOWNERS file: that of gitignore, but a last `/*` matches only what is directly in that
 * folder, as on GitHub. It takes no regular expression, so that no pattern is slow.
 */
export function matcherOf(pattern: string): Matcher {
  const inFolder = pattern.endsWith("/");
  const anchored = pattern.slice(0, -1).includes("/");
  const parts = pattern.split("/").filter((part) => part !== "");
  const wanted = anchored ? parts : [ANY, ...parts];
  const direct = anchored && parts.at(-1) === "*";
  return (path) => {
    const names = path.split("/");
    const lengths = matchedLengths(wanted, names);
    if (inFolder) return lengths.slice(0, -1).some(Boolean);
    return direct ? lengths.at(-1) === true : lengths.some(Boolean);
  };
}

/** For each length from 1: whether the pattern matches that many of the first names. */
function matchedLengths(wanted: readonly string[], names: readonly string[]): boolean[] {
  let reached = names.map(() => false);
  let atStart = true;
  for (const [at, part] of wanted.entries()) {
    const before = [atStart, ...reached];
    if (!before.includes(true)) return reached;
    if (part !== ANY) reached = names.map((name, i) => before[i] === true && matchesName(part, name));
    else {
      const from = before.indexOf(true);
      reached = names.map((_, i) => from !== -1 && i >= from);
      // at the end it is for what is in the folder, not for the folder
      if (at < wanted.length - 1) reached = reached.map((is, i) => is || before[i + 1] === true);
    }
    atStart = atStart && part === ANY;
  }
  return reached;
}

/** Whether a name matches a part with `*` and `?`. Only the last `*` is tried again, which is enough. */
function matchesName(part: string, name: string): boolean {
  let [i, j] = [0, 0];
  let star: { after: number; taken: number } | null = null;
  while (j < name.length) {
    if (part[i] === "*") {
      i += 1;
      star = { after: i, taken: j };
    } else if (i < part.length && (part[i] === "?" || part[i] === name[j])) {
      i += 1;
      j += 1;
    } else if (star) {
      star.taken += 1;
      i = star.after;
      j = star.taken;
    } else return false;
  }
  return /^\**$/.test(part.slice(i));
}
