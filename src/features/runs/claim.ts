import { randomUUID } from "node:crypto";
import { and, eq, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";

/** A claim expires after this long unless it is renewed. By the database's clock: servers' clocks differ. */
const CLAIM_S = 12;
/** Several renewals fit within a claim: a database that is away for some seconds interrupts no work. */
const RENEW_MS = 3_000;

/** Only the process that has the claim works on a run. */
export interface Claim {
  /** Aborted when the claim could not be renewed in time: another process may have it. */
  signal: AbortSignal;
  release(): Promise<void>;
}

/** Claims a run; null when another process has the claim, or the run is gone. */
export async function claimRun(deps: Pick<Deps, "db">, runId: string): Promise<Claim | null> {
  const worker = randomUUID();
  const isMine = eq(runs.worker, worker);
  const isFree = or(isNull(runs.worker), lt(runs.workerUntil, sql`now()`));
  const asked = performance.now();
  if (!(await take(isFree))) return null;
  // renewing requires the claim to be ours still, even where it has expired
  const renewal = keepRenewed(() => take(isMine), asked);
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

  async function take(condition: SQL | undefined): Promise<boolean> {
    const taken = await deps.db
      .update(runs)
      .set({ worker, workerUntil: sql`now() + make_interval(secs => ${CLAIM_S})` })
      .where(and(eq(runs.runId, runId), condition))
      .returning({ runId: runs.runId });
    return taken.length > 0;
  }
}

/**
 * Renews a claim until it is stopped. Its signal is aborted no later than another process may take the claim, also where
 * the database does not answer at all.
 * @param asked when the claim was asked for, by `performance.now()`
 */
export function keepRenewed(
  renew: () => Promise<boolean>,
  asked: number,
): { signal: AbortSignal; stop(): void } {
  const lost = new AbortController();
  let isOver = false;
  let lapse = lapseOf(asked);
  const timer = setInterval(() => void renewOnce(), RENEW_MS);
  return { signal: lost.signal, stop };

  function stop(): void {
    isOver = true;
    clearInterval(timer);
    clearTimeout(lapse);
  }

  function lapseOf(since: number): NodeJS.Timeout {
    return setTimeout(
      () => {
        stop();
        lost.abort();
      },
      since + CLAIM_S * 1000 - performance.now(),
    );
  }

  async function renewOnce(): Promise<void> {
    const begun = performance.now();
    const isRenewed = await renew().catch(() => false);
    if (isOver || !isRenewed) return;
    clearTimeout(lapse);
    lapse = lapseOf(begun);
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

/** Releases the claims of an earlier process of this server: the data folder belongs to one at a time, so that one has exited. */
export async function dropOwnClaims(deps: Pick<Deps, "db" | "serverId">): Promise<void> {
  await deps.db.update(runs).set({ worker: null, workerUntil: null }).where(eq(runs.place, deps.serverId));
}
