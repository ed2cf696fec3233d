import { randomUUID } from "node:crypto";
import { and, eq, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";

/** A claim expires after this long unless it is renewed. By the database's clock: servers' clocks differ. */
const CLAIM_S = 12;
/** Several renewals fit within a claim: a database that is down for some seconds interrupts no work. */
const RENEW_MS = 3_000;

/** Only the process that has the claim works on a run. */
export interface Claim {
  /** Aborted when the claim was not renewed in time: another process may have it. */
  signal: AbortSignal;
  release(): Promise<void>;
}

/** Claims a run; null when another process has the claim, or the run is deleted. */
export async function claimRun(deps: Pick<Deps, "db">, runId: string): Promise<Claim | null> {
  const worker = randomUUID();
  const isMine = eq(runs.worker, worker);
  const isFree = or(isNull(runs.worker), lt(runs.workerUntil, sql`now()`));
  const requestedAt = performance.now();
  if (!(await tryClaim(isFree))) return null;
  // renewing requires the claim to be ours still, even where it has expired
  const renewal = renewPeriodically(() => tryClaim(isMine), requestedAt);
  return {
    signal: renewal.signal,
    async release() {
      renewal.stop();
      await deps.db
        .update(runs)
        .set({ worker: null, workerUntil: null })
        .where(and(eq(runs.runId, runId), isMine));
    },
  };

  async function tryClaim(condition: SQL | undefined): Promise<boolean> {
    const taken = await deps.db
      .update(runs)
      .set({ worker, workerUntil: sql`now() + make_interval(secs => ${CLAIM_S})` })
      .where(and(eq(runs.runId, runId), condition))
      .returning({ runId: runs.runId });
    return taken.length > 0;
  }
}

/**
 * Renews a claim until it is stopped. Its signal is aborted before another process can take the claim, even when the
 * database does not answer.
 * @param requestedAt when the claim was requested, by `performance.now()`
 */
export function renewPeriodically(
  renew: () => Promise<boolean>,
  requestedAt: number,
): { signal: AbortSignal; stop(): void } {
  const lost = new AbortController();
  let isOver = false;
  let expiry = expireAfter(requestedAt);
  const timer = setInterval(() => void renewOnce(), RENEW_MS);
  return { signal: lost.signal, stop };

  function stop(): void {
    isOver = true;
    clearInterval(timer);
    clearTimeout(expiry);
  }

  function expireAfter(since: number): NodeJS.Timeout {
    return setTimeout(
      () => {
        stop();
        lost.abort();
      },
      since + CLAIM_S * 1000 - performance.now(),
    );
  }

  async function renewOnce(): Promise<void> {
    const startedAt = performance.now();
    const isRenewed = await renew().catch(() => false);
    if (isOver || !isRenewed) return;
    clearTimeout(expiry);
    expiry = expireAfter(startedAt);
  }
}

/** Works on a run with its claim held; does nothing when another process has the claim. */
export async function withClaim(
  deps: Pick<Deps, "db">,
  runId: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const claim = await claimRun(deps, runId);
  if (!claim) return;
  try {
    await work(claim.signal);
  } finally {
    await claim.release();
  }
}

/** Releases the claims of an earlier process of this server. It has exited: this one has locked the data folder. */
export async function dropOwnClaims(deps: Pick<Deps, "db" | "serverId">): Promise<void> {
  await deps.db.update(runs).set({ worker: null, workerUntil: null }).where(eq(runs.place, deps.serverId));
}
