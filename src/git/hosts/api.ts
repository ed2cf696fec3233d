/**
 * What differs between the APIs of git hosts. All of it only builds requests and reads answers; `call.ts` asks. A
 * branch is read with GET and answered with 200, made with POST and answered with 201.
 */
export interface HostApi {
  /** The API of a host, without a trailing slash. */
  base(origin: string): string;
  headers(token: string): Record<string, string>;
  /** A repository's path below the base, from its path on the host in decoded parts; null when it can be none. */
  repository(segments: readonly string[]): string | null;
  /** Where a branch of it is read. */
  branch(repository: string, branch: string): string;
  newBranch(repository: string, branch: string, commit: string): { path: string; body: object | null };
  /** The commit that an answer to either gives for `branch`; null when it gives none. */
  commitOf(answer: unknown, branch: string): string | null;
}

/** A branch's name within a path: its slashes stay, all else that means something in a URL is encoded. */
export function encodePath(branch: string): string {
  return branch.split("/").map(encodeURIComponent).join("/");
}

/** A commit id somewhere in an answer; null when there is none. */
export function commitAt(answer: unknown, ...keys: readonly string[]): string | null {
  const found = valueAt(answer, ...keys);
  return typeof found === "string" && OBJECT_ID.test(found) ? found : null;
}

/** What an answer holds under a key of a key. */
export function valueAt(answer: unknown, ...keys: readonly string[]): unknown {
  let value = answer;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
