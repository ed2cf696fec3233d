import { randomUUID } from "node:crypto";
import { and, eq, isNull, lt, or, type SQL, sql } from "drizzle-orm";
import { projectSessions } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";

/** A process that has died gives its claims up after this long. By the database's clock: servers' clocks differ. */
const CLAIM_S = 12;
/** Three times within a claim: a database that is gone for some seconds costs nobody their work. */
const RENEW_MS = 3_000;

/** A session is worked on by one process at a time; this is what says which. */
export interface Claim {
  /** Aborted when the claim could not be renewed in time: another process may have it. */
  signal: AbortSignal;
  release(): Promise<void>;
}

/** Takes the claim to a session; null when another process has it, or the session is gone. */
export async function claimSession(deps: Pick<Deps, "db">, sessionId: string): Promise<Claim | null> {
  const worker = randomUUID();
  const isMine = eq(projectSessions.worker, worker);
  const isFree = or(isNull(projectSessions.worker), lt(projectSessions.workerUntil, sql`now()`));
  const asked = performance.now();
  if (!(await take(isFree))) return null;
  // one that is free again was another's meanwhile
  const renewal = keepRenewed(() => take(isMine), asked);
  return {
    signal: renewal.signal,
    async release() {
      renewal.stop();
      await deps.db
        .update(projectSessions)
        .set({ worker: null, workerUntil: null })
        .where(and(eq(projectSessions.sessionId, sessionId), isMine));
    },
  };

  async function take(condition: SQL | undefined): Promise<boolean> {
    const taken = await deps.db
      .update(projectSessions)
      .set({ worker, workerUntil: sql`now() + make_interval(secs => ${CLAIM_S})` })
      .where(and(eq(projectSessions.sessionId, sessionId), condition))
      .returning({ sessionId: projectSessions.sessionId });
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

/** Does something with a session that nobody else works on meanwhile; nothing when somebody else does. */
export async function withClaim(
  deps: Pick<Deps, "db">,
  sessionId: string,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const claim = await claimSession(deps, sessionId);
  if (!claim) return;
  try {
    await work(claim.signal);
  } finally {
    await claim.release();
  }
}

/**
 * Gives up the claims of an earlier process of this server: the data folder belongs to one at a time, so whoever had them
 * is dead.
 */
export async function dropOwnClaims(deps: Pick<Deps, "db" | "serverId">): Promise<void> {
  await deps.db
    .update(projectSessions)
    .set({ worker: null, workerUntil: null })
    .where(eq(projectSessions.place, deps.serverId));
}
