/** Why something of the work tree is not in saved work. */
export type Reason = keyof typeof WORDS;

const WORDS = {
  credentials: "by its name it holds credentials",
  secret: "it holds a secret of the project's, or a token of svc's",
  large: "a new file of more than 50 MiB",
  much: "all that is saved together would be more than 256 MiB",
  repository: "a repository of its own",
  submodule: "changes inside a submodule",
  unreadable: "git could not read it",
} as const;

/** Collects what is left out, for the message of the saved commit. Paths are latin1. */
export interface Excluded {
  add(path: string, reason: Reason): void;
  /** A line for each, as many as a person reads. */
  lines(): string[];
  count(): number;
}

/** More names than that are counted. */
const NAMED_MAX = 200;

/** @param isSecret whether a path may not be told */
export function createExcluded(isSecret: (path: string) => boolean): Excluded {
  const found = new Map<string, Reason>();
  return {
    add: (path, reason) => void found.set(path, reason),
    count: () => found.size,
    lines() {
      const named = [...found]
        .slice(0, NAMED_MAX)
        .map(([path, reason]) => `  ${name(path)}: ${WORDS[reason]}`);
      return found.size > NAMED_MAX ? [...named, `  and ${found.size - NAMED_MAX} more`] : named;
    },
  };

  function name(path: string): string {
    if (isSecret(path)) return "(a name that holds a secret)";
    const text = Buffer.from(path, "latin1").toString();
    return /^[^\p{Cc}"\\\ufffd]+$/u.test(text) ? text : JSON.stringify(text);
  }
}
