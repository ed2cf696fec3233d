import { sql } from "drizzle-orm";
import { projectManifests, projects } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { claimPoll } from "./claim.ts";
import type { ManifestFeature } from "./feature.ts";
import { pollBranch } from "./poll.ts";

/** Concurrent polls of a server. Each runs git, and a slow host must not delay the others. */
const CONCURRENCY = 4;
/** The delay when a notification was lost. */
const INTERVAL_MS = 5_000;
/** How long a shutdown waits for a poll. An interrupted one is due again, on any server. */
const SHUTDOWN_MS = 5_000;

/**
 * Polls the default branches of all projects, which it shares with all other servers, and applies their manifests to the
 * features. A push through the gateway, a merge and an edit of the project schedule a poll at once
 * (`projects/schedule-poll.ts`).
 *
 * 1. Each project has a row with the time of its next poll. A push, a merge and an edit of the project set it to now,
 *    in their own transaction; a git host is polled once a minute, with backoff while it does not answer.
 * 2. Every server claims due rows, one at a time (`claim.ts`). A poll that takes too long, or whose server died, is
 *    due again; only the newest may write.
 * 3. `poll.ts` lists the branches, and reads the manifest when the commit has changed. Each feature may query git
 *    first, and then writes its tables in the one transaction that also records the commit.
 *
 * @returns stops it
 */
export async function followDefaultBranches(
  deps: Deps,
  features: readonly ManifestFeature[],
): Promise<() => Promise<void>> {
  // projects that are older than this table
  await deps.db.execute(
    sql`insert into ${projectManifests} (project_id) select project_id from ${projects} on conflict do nothing`,
  );
  const stopping = new AbortController();
  const loops = Array.from({ length: CONCURRENCY }, () => loop(deps, features, stopping.signal));
  return async () => {
    stopping.abort();
    await Promise.race([Promise.all(loops), Bun.sleep(SHUTDOWN_MS)]);
  };
}

async function loop(deps: Deps, features: readonly ManifestFeature[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // subscribes before the poll, so that no notification is lost
    const polled = new AbortController();
    const notified = deps.changes.wait(
      ["branch", "project"],
      INTERVAL_MS,
      AbortSignal.any([signal, polled.signal]),
    );
    const hasMore = await pollNext(deps, features).catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn({ err: error }, "cannot poll a default branch");
      return false;
    });
    if (hasMore) polled.abort();
    await notified;
  }
}

/** Runs the most overdue poll. @returns false when none is due */
export async function pollNext(deps: Deps, features: readonly ManifestFeature[]): Promise<boolean> {
  const claim = await claimPoll(deps);
  if (claim) await pollBranch(deps, features, claim);
  return claim !== null;
}
