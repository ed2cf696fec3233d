import type { StatusState } from "../../contract/commit-status.ts";
import type { HostStatus } from "./types.ts";

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
  /** The paths that list the checks of a commit; any of them may fail without the others. */
  statusPages(repository: string, commit: string): string[];
  /** The checks in an answer to one of them; null when it is invalid. */
  statusesOf(answer: unknown): HostStatus[] | null;
  /** Reports a check's result, to be answered with 201. */
  newStatus(repository: string, commit: string, status: HostStatus): { path: string; body: object };
  /** Whether a refusal says that the check has this result already. */
  isRepeated(answer: unknown): boolean;
}

/** The entries of a list in an answer that `read` does not leave out; null when there is no list. */
export function entriesOf(list: unknown, read: (entry: unknown) => HostStatus | null): HostStatus[] | null {
  return Array.isArray(list) ? list.map(read).filter((entry) => entry !== null) : null;
}

/** Reads a status whose fields have these names. @param states the host's states; those that are missing are left out */
export function statusAt(
  entry: unknown,
  names: { context: string; state: string },
  states: Readonly<Record<string, StatusState>>,
): HostStatus | null {
  const context = valueAt(entry, names.context);
  const named = valueAt(entry, names.state);
  if (typeof context !== "string" || typeof named !== "string") return null;
  const state = Object.hasOwn(states, named) ? states[named] : undefined;
  if (state === undefined) return null;
  return {
    context,
    state,
    description: textOf(valueAt(entry, "description")),
    targetUrl: textOf(valueAt(entry, "target_url")),
  };
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
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
