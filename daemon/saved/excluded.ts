/** Why a path of the work tree is excluded from saved work. */
export type Reason = keyof typeof REASONS;

const REASONS = {
  credentials: "its name is that of a file with credentials",
  secret: "it contains a secret of the project or a token of svc",
  large: "a new file of more than 50 MiB",
  much: "the changed files have more than 256 MiB in total",
  repository: "a nested repository",
  submodule: "changes inside a submodule",
  unreadable: "git could not read it",
} as const;

/** Collects the excluded paths for the message of the saved commit. Paths are latin1. */
export interface Excluded {
  add(path: string, reason: Reason): void;
  /** One line for each path, up to `NAMED_MAX`. */
  lines(): string[];
}

/** Further paths are only counted. */
const NAMED_MAX = 200;

/** @param isSecret whether a path contains a secret, and so must not be printed */
export function createExcluded(isSecret: (path: string) => boolean): Excluded {
  const found = new Map<string, Reason>();
  return {
    add: (path, reason) => void found.set(path, reason),
    lines() {
      const named = [...found]
        .slice(0, NAMED_MAX)
        .map(([path, reason]) => `  ${name(path)}: ${REASONS[reason]}`);
      return found.size > NAMED_MAX ? [...named, `  and ${found.size - NAMED_MAX} more`] : named;
    },
  };

  function name(path: string): string {
    if (isSecret(path)) return "(a name that contains a secret)";
    const text = Buffer.from(path, "latin1").toString();
    return /^[^\p{Cc}"\\\ufffd]+$/u.test(text) ? text : JSON.stringify(text);
  }
}
