import { randomUUID } from "node:crypto";
import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import { projectSessions } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";

/** A process that has died gives its claims up after this long. By the database's clock: servers' clocks differ. */
const CLAIM_S = 12;
const RENEW_MS = 4_000;

/** A session is worked on by one process at a time; this is what says which. */
export interface Claim {
  /** Aborted when the claim could not be renewed in time: another process may have it. */
  signal: AbortSignal;
  release(): Promise<void>;
}

/** Takes the claim to a session; null when another process has it, or the session is gone. */
export async function claimSession(deps: Pick<Deps, "db">, sessionId: string): Promise<Claim | null> {
  const lost = new AbortController();
  const worker = randomUUID();
  if (!(await take())) return null;
  let renewed = performance.now();
  const timer = setInterval(() => void renew(), RENEW_MS);
  return {
    signal: lost.signal,
    async release() {
      clearInterval(timer);
      await deps.db
        .update(projectSessions)
        .set({ worker: null, workerUntil: null })
        .where(and(eq(projectSessions.sessionId, sessionId), eq(projectSessions.worker, worker)));
    },
  };

  async function renew(): Promise<void> {
    // a session that is gone needs no claim
    if (await take().catch(() => false)) renewed = performance.now();
    else if (performance.now() - renewed > CLAIM_S * 1000) lost.abort();
  }

  async function take(): Promise<boolean> {
    const isFree = or(
      isNull(projectSessions.worker),
      eq(projectSessions.worker, worker),
      lt(projectSessions.workerUntil, sql`now()`),
    );
    const taken = await deps.db
      .update(projectSessions)
      .set({ worker, workerUntil: sql`now() + make_interval(secs => ${CLAIM_S})` })
      .where(and(eq(projectSessions.sessionId, sessionId), isFree))
      .returning({ sessionId: projectSessions.sessionId });
    return taken.length > 0;
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
export async function dropOwnClaims(deps: Deps): Promise<void> {
  await deps.db
    .update(projectSessions)
    .set({ worker: null, workerUntil: null })
    .where(eq(projectSessions.place, deps.serverId));
}
