import { min, sql } from "drizzle-orm";
import { projectManifests, projects } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { claimPoll } from "./claim.ts";
import type { ManifestFeature } from "./feature.ts";
import { type OnListing, pollBranch } from "./poll.ts";

/** Concurrent polls of a server. Each runs git, and a slow host must not delay the others. */
const CONCURRENCY = 4;
/** The longest delay when a notification was lost. */
const LONGEST_MS = 30_000;
/** After an error, such as a database that is down. */
const BACKOFF_MS = 5_000;
/** Another server is claiming what is due. */
const SHORTEST_MS = 50;
/** How long a shutdown waits for a poll. An interrupted one is due again, on any server. */
const SHUTDOWN_MS = 5_000;

/**
 * Polls the default branches of all projects, which it shares with all other servers, and applies their manifests to the
 * features. A push through the gateway, a merge and an edit of the project schedule a poll at once
 * (`projects/schedule-poll.ts`).
 *
 * 1. Each project has a row with the time of its next poll. A push, a merge and an edit of the project set it to now,
 *    in their own transaction; a git host is polled once a minute, with backoff while it does not answer.
 * 2. Every server claims due rows, one at a time (`claim.ts`), and then waits for a notification or the next time. A poll that takes too long, or whose server died, is
 *    due again; only the newest may write.
 * 3. `poll.ts` lists the branches, and reads the manifest when the commit has changed. Each feature may query git
 *    first, and then writes its tables in the one transaction that also records the commit.
 *
 * @param onListing receives the branches of each poll
 * @returns stops it
 */
export async function followDefaultBranches(
  deps: Deps,
  features: readonly ManifestFeature[],
  onListing: OnListing = async () => {},
): Promise<() => Promise<void>> {
  // projects that are older than this table
  await deps.db.execute(
    sql`insert into ${projectManifests} (project_id) select project_id from ${projects} on conflict do nothing`,
  );
  const stopping = new AbortController();
  const ended = follow(deps, features, onListing, stopping.signal);
  return async () => {
    stopping.abort();
    await Promise.race([ended, Bun.sleep(SHUTDOWN_MS)]);
  };
}

async function follow(
  deps: Deps,
  features: readonly ManifestFeature[],
  onListing: OnListing,
  signal: AbortSignal,
): Promise<void> {
  const polls = new Set<Promise<void>>();
  while (!signal.aborted) {
    const over = new AbortController();
    const until = AbortSignal.any([signal, over.signal]);
    // subscribes before the claims, so that no notification is lost
    const notified = deps.changes.wait(["branch", "project"], LONGEST_MS, until);
    const wait = await claimAll().catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn({ err: error }, "cannot poll the default branches");
      return BACKOFF_MS;
    });
    if (wait === null) await Promise.race(polls);
    else await Promise.race([notified, deps.changes.wait([], wait, until)]);
    over.abort();
  }
  await Promise.all(polls);

  /** Starts the polls that are due. @returns milliseconds until the next; null when no more may run at a time */
  async function claimAll(): Promise<number | null> {
    while (polls.size < CONCURRENCY && !signal.aborted) {
      const claim = await claimPoll(deps);
      if (!claim) return await untilNext(deps);
      const poll = pollBranch(deps, features, claim, onListing)
        .catch((error: unknown) => {
          if (!signal.aborted) deps.log.warn({ err: error }, "cannot poll a default branch");
        })
        .finally(() => polls.delete(poll));
      polls.add(poll);
    }
    return null;
  }
}

async function untilNext({ db, databaseTime }: Deps): Promise<number> {
  const now = await databaseTime(db);
  const [row] = await db.select({ next: min(projectManifests.nextLookAt) }).from(projectManifests);
  const left = row?.next ? row.next.getTime() - now.getTime() : LONGEST_MS;
  return Math.min(Math.max(left, SHORTEST_MS), LONGEST_MS);
}
