/**
 * The differences between the APIs of git hosts: builds requests and reads answers, which `call.ts` sends and receives.
 * GET reads a branch and returns 200, POST creates one and returns 201.
 */
export interface HostApi {
  /** The API of a host, without a trailing slash. */
  base(origin: string): string;
  headers(token: string): Record<string, string>;
  /** A repository's path below the base, from its path on the host in decoded parts; null when it is not a repository. */
  repository(segments: readonly string[]): string | null;
  /** The path for reading a branch. */
  branch(repository: string, branch: string): string;
  newBranch(repository: string, branch: string, commit: string): { path: string; body: object | null };
  /** The commit of `branch` in an answer to either; null when there is none. */
  commitOf(answer: unknown, branch: string): string | null;
}

/** Encodes a branch name for a path, except its slashes. */
export function encodePath(branch: string): string {
  return branch.split("/").map(encodeURIComponent).join("/");
}

/** The commit id at a path of keys of an answer; null when there is none. */
export function commitAt(answer: unknown, ...keys: readonly string[]): string | null {
  const found = valueAt(answer, ...keys);
  return typeof found === "string" && OBJECT_ID.test(found) ? found : null;
}

/** The value at a path of keys of an answer. */
export function valueAt(answer: unknown, ...keys: readonly string[]): unknown {
  let value = answer;
  for (const key of keys) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
