import { sql } from "drizzle-orm";
import { projectManifests, projects } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { claimLook } from "./claim.ts";
import type { ManifestFeature } from "./feature.ts";
import { lookAt } from "./look.ts";

/** Looks that a server makes at a time: each is a git that waits for a host, and a slow one holds up no other. */
const AT_ONCE = 4;
/** What a notification that was lost costs. */
const ROUND_MS = 5_000;
/** A look under way at a shutdown is not waited for longer: it is due again, on any server. */
const END_MS = 5_000;

/**
 * Follows the default branches of all projects, together with all other servers: what is merged there drives the
 * features. A push by the gateway, a merge and an edit of the project ask for a look (`projects/look-again.ts`), and
 * every repository is looked at once a while.
 *
 * 1. Each project has a row with the time of its next poll. A push, a merge and an edit of the project set it to now,
 *    in their own transaction; a git host is polled once a minute, with backoff while it does not answer.
 * 2. Every server claims due rows, one at a time (`claim.ts`). A poll that takes too long, or whose server died, is
 *    due again; only the newest may write.
 * 3. `look.ts` lists the branches, and reads the manifest when the commit has changed. Each feature may query git
 *    first, and then writes its tables in the one transaction that also records the commit.
 *
 * @returns ends it
 */
export async function followDefaultBranches(
  deps: Deps,
  features: readonly ManifestFeature[],
): Promise<() => Promise<void>> {
  // those that are older than this table
  await deps.db.execute(
    sql`insert into ${projectManifests} (project_id) select project_id from ${projects} on conflict do nothing`,
  );
  const stopping = new AbortController();
  const loops = Array.from({ length: AT_ONCE }, () => loop(deps, features, stopping.signal));
  return async () => {
    stopping.abort();
    await Promise.race([Promise.all(loops), Bun.sleep(END_MS)]);
  };
}

async function loop(deps: Deps, features: readonly ManifestFeature[], signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    // from before the look, so that nothing is asked for unheard
    const looked = new AbortController();
    const asked = deps.changes.wait(
      ["branch", "project"],
      ROUND_MS,
      AbortSignal.any([signal, looked.signal]),
    );
    const isMore = await lookAtNext(deps, features).catch((error: unknown) => {
      if (!signal.aborted) deps.log.warn({ err: error }, "a look at a default branch failed");
      return false;
    });
    if (isMore) looked.abort();
    await asked;
  }
}

/** Makes the look that has been due for longest. @returns false when none is due */
export async function lookAtNext(deps: Deps, features: readonly ManifestFeature[]): Promise<boolean> {
  const claim = await claimLook(deps);
  if (claim) await lookAt(deps, features, claim);
  return claim !== null;
}
