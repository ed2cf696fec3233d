import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Repository } from "../../git/git.ts";
import { within } from "../../lib/within.ts";

/** A person waits for one thing longer than for a list: a new request, a diff, a merge, a file. */
export const LISTING_MS = 20_000;

/** The first fetch of a large repository takes minutes; nobody's request waits that long, and the fetch goes on. */
const FETCH_WAIT_MS = 60_000;

/**
 * Makes sure that the mirror has the commits.
 * @returns false when the repository no longer has one of them.
 * @throws unavailable when the fetch takes longer than a request should, and what git throws.
 */
export function fetchCommits(deps: Deps, repo: Repository, commits: string[]): Promise<boolean> {
  return awaitFetch(deps.git.ensureCommits(repo, commits));
}

/**
 * Waits for what needs a fetch, as long as a request should.
 * @throws unavailable
 */
export async function awaitFetch<T>(fetched: Promise<T>): Promise<T> {
  // it may fail after nobody waits any more
  fetched.catch(() => {});
  return await within(fetched, FETCH_WAIT_MS, stillFetching);
}

function stillFetching(): SvcError {
  const sentence =
    "svc is still fetching this repository. Try again in a moment: the fetch goes on meanwhile.";
  return new SvcError("unavailable", sentence, {}, { "Retry-After": "10" });
}
