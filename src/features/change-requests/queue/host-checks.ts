import { and, eq, isNull, lte, or, type SQL } from "drizzle-orm";
import { mergeQueueEntries } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { waitAfter } from "../../checks/host/read.ts";
import { storeFromHost } from "../../checks/host/store.ts";
import type { Queues } from "./advance.ts";
import type { QueueRow } from "./row.ts";

/** How long a server has the result for itself: longer than its call may take. */
const CLAIM_MS = 60_000;

/** Reads the checks that the git host has for a merged result, if they are due: as often as those of a head. */
export async function readHostChecks(
  deps: Deps,
  { project, repo }: Queues,
  { queued: { crId, testedSha, builtAt } }: { queued: QueueRow },
): Promise<void> {
  if (testedSha === null) return;
  const now = deps.clock();
  const isSame = and(eq(mergeQueueEntries.crId, crId), eq(mergeQueueEntries.testedSha, testedSha));
  const isDue = or(isNull(mergeQueueEntries.hostDueAt), lte(mergeQueueEntries.hostDueAt, now));
  const dueIn = (ms: number, where: SQL | undefined) =>
    deps.db
      .update(mergeQueueEntries)
      .set({ hostDueAt: new Date(now.getTime() + ms) })
      .where(where)
      .returning({ crId: mergeQueueEntries.crId });
  const claimed = await dueIn(CLAIM_MS, and(isSame, isDue));
  if (claimed.length === 0) return;
  const outcome = await deps.git.readStatuses(repo, testedSha);
  if (outcome.outcome === "done") await storeFromHost(deps, project, testedSha, outcome.value);
  const ageMs = now.getTime() - (builtAt ?? now).getTime();
  const failures = outcome.outcome === "failed" ? 1 : 0;
  await dueIn(waitAfter(outcome, { failures, ageMs }), isSame);
}
