import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Repository } from "../../git/git.ts";
import { within } from "../../lib/within.ts";

/** The limit for a listing in a request about one thing: a diff, a merge, a file. Lists have a shorter one. */
export const LISTING_MS = 20_000;

/** The limit for a listing that no request waits for: longer than git's own limits, which end one without movement. */
export const PATIENT_LISTING_MS = 150_000;

/** How long a request waits for a fetch. The first fetch of a large repository takes minutes and continues. */
const FETCH_WAIT_MS = 60_000;

/**
 * Ensures that the mirror has the commits.
 * @returns false when the repository no longer has one of them.
 * @throws unavailable when the fetch takes longer than a request waits, and what git throws.
 */
export function fetchCommits(deps: Deps, repo: Repository, commits: string[]): Promise<boolean> {
  return awaitFetch(deps.git.ensureCommits(repo, commits));
}

/**
 * Waits for a fetch as long as a request may.
 * @throws unavailable
 */
export async function awaitFetch<T>(fetched: Promise<T>): Promise<T> {
  // it may fail after the wait has ended
  fetched.catch(() => {});
  return await within(fetched, FETCH_WAIT_MS, stillFetching);
}

function stillFetching(): SvcError {
  const sentence = "svc is still fetching this repository. The fetch continues; try again in a moment.";
  return new SvcError("unavailable", sentence, {}, { "Retry-After": "10" });
}
