/** The version of the installed git, and the features that depend on it. */
export interface GitVersion {
  /** Such as `2.39.5`. */
  text: string;
  /** `--attr-source` in bare repositories (2.43); before it, attributes come from a work tree that holds only them. */
  attrSource: boolean;
}

/** `merge-tree --write-tree` appeared in 2.38. */
const FLOOR = [2, 38] as const;
/** Merges that 2.39 to 2.52 get wrong or abort on are right from here (release notes of 2.50, 2.52, 2.53). */
const RECOMMENDED = [2, 53] as const;

/**
 * Reads the answer of `git version`.
 * @throws Error one line for the operator, when there is no git or it is too old
 */
export function readVersion(answer: string, log: { info(message: string): void }): GitVersion {
  const [, text, major, minor] = /^git version ((\d+)\.(\d+)\S*)/.exec(answer) ?? [];
  if (!text || !major || !minor) {
    throw new Error(
      `svc needs git ${FLOOR.join(".")} or newer on the PATH; none was found. Install git and start again.`,
    );
  }
  const at = [Number(major), Number(minor)] as const;
  if (isBefore(at, FLOOR)) {
    throw new Error(
      `svc needs git ${FLOOR.join(".")} or newer; this is ${text}. Upgrade git and start again.`,
    );
  }
  if (isBefore(at, RECOMMENDED)) {
    log.info(`git ${text} works; ${RECOMMENDED.join(".")} or newer is recommended for its fixes to merging`);
  }
  return { text, attrSource: !isBefore(at, [2, 43]) };
}

function isBefore(a: readonly [number, number], b: readonly [number, number]): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}
