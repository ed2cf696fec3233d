import { lte } from "drizzle-orm";
import { appDomains } from "../../../../db/schema/index.ts";
import type { Deps } from "../../../deps.ts";
import { runPeriodically } from "../../../jobs/periodic.ts";
import { checkDomain } from "./check.ts";
import { type DomainKey, isIt } from "./rows.ts";

/** Domains that are checked at once, and in one round. */
const BATCH = 10;
/** A check that a killed server has not finished is repeated after this. */
const CLAIM_MS = 5 * 60_000;

/**
 * Checks the proofs of domains when they are due (`check.ts`), together with all other servers of the database.
 * @returns stops the worker, and waits for the round in progress
 */
export function startDomainWorker(deps: Deps): () => Promise<void> {
  return runPeriodically(deps, { subject: DOMAIN_WORK, wakers: [], work: [() => checkDue(deps)] });
}

/** The name in `changes` that begins a round of the worker. */
export const DOMAIN_WORK = "domains";

/** @returns whether there may be more that are due */
async function checkDue(deps: Deps): Promise<boolean> {
  const due = await claim(deps);
  await Promise.all(due.map((key) => checkDomain(deps, key)));
  return due.length === BATCH;
}

/** The domains that have waited longest. No other server claims them for a while. */
async function claim({ db, clock }: Deps): Promise<DomainKey[]> {
  const now = clock();
  return await db.transaction(async (tx) => {
    const due = await tx
      .select({ accountId: appDomains.accountId, domain: appDomains.domain })
      .from(appDomains)
      .where(lte(appDomains.nextCheckAt, now))
      .orderBy(appDomains.nextCheckAt)
      .limit(BATCH)
      .for("update", { skipLocked: true });
    for (const key of due)
      await tx
        .update(appDomains)
        .set({ nextCheckAt: new Date(now.getTime() + CLAIM_MS) })
        .where(isIt(key));
    return due;
  });
}
