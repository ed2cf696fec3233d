import { and, eq, inArray, or } from "drizzle-orm";
import { projectSessions } from "../../db/schema/index.ts";
import type { Deps } from "../deps.ts";
import { placesOf, queueOf } from "../jobs/places.ts";
import type { Provider, Sandbox } from "../sandboxes/provider.ts";
import { howItEnded } from "./boot.ts";
import { endSandbox } from "./end.ts";
import { recordFailure } from "./fail.ts";
import type { SessionRow } from "./wire.ts";

/** An orphan has nobody who waits for it. */
const ORPHAN_GRACE_MS = 2_000;
/** Sessions that are asked for again in one round. */
const ROUND = 200;

/**
 * Compares what there is with what there should be, and mends the difference: sandboxes that died, sandboxes of no
 * session, sessions whose job was lost.
 */
export async function reconcile(deps: Deps): Promise<void> {
  await askAgain(deps);
  for (const provider of deps.sandboxes.all()) await reconcileProvider(deps, provider);
}

/** Every session that is not yet what it is to be has a job; where it has one already, asking does nothing. */
async function askAgain(deps: Deps): Promise<void> {
  const unsettled = await deps.db
    .select({ sessionId: projectSessions.sessionId, place: projectSessions.place })
    .from(projectSessions)
    .where(
      and(
        inArray(projectSessions.place, placesOf(deps)),
        or(
          eq(projectSessions.goal, "deleted"),
          eq(projectSessions.status, "provisioning"),
          and(eq(projectSessions.goal, "stopped"), eq(projectSessions.status, "running")),
        ),
      ),
    )
    .limit(ROUND);
  for (const { sessionId, place } of unsettled)
    await deps.jobs.enqueue(deps.db, queueOf("sessions", place), sessionId);
}

async function reconcileProvider(deps: Deps, provider: Provider): Promise<void> {
  // the rows first: a sandbox that is in neither list has ended, one that is only in the second was just begun
  const before = await sessionsOf(deps, provider);
  const sandboxes = new Map((await provider.list()).map((sandbox) => [sandbox.sessionId, sandbox]));
  for (const session of before) {
    const sandbox = sandboxes.get(session.sessionId) ?? null;
    if (session.status === "running" && session.goal === "running" && sandbox?.state !== "running")
      await recordDeath(deps, session, sandbox);
  }
  await endOrphans(deps, provider, [...sandboxes.keys()]);
}

async function sessionsOf(deps: Deps, { name }: Provider): Promise<SessionRow[]> {
  return await deps.db
    .select()
    .from(projectSessions)
    .where(
      and(
        eq(projectSessions.provider, name),
        eq(projectSessions.status, "running"),
        inArray(projectSessions.place, placesOf(deps)),
      ),
    );
}

/** A sandbox ended that should run: by itself, by the kernel, or by somebody else's hand. */
async function recordDeath(deps: Deps, session: SessionRow, sandbox: Sandbox | null): Promise<void> {
  deps.log.warn({ session: session.sessionId, exitCode: sandbox?.exitCode }, "a sandbox has ended by itself");
  await endSandbox(deps, session);
  await recordFailure(deps, session, howItEnded(sandbox));
}

/** Ends the sandboxes whose session is gone, or has ended without them. */
async function endOrphans(deps: Deps, provider: Provider, sessionIds: string[]): Promise<void> {
  if (sessionIds.length === 0) return;
  const rows = await deps.db
    .select({ sessionId: projectSessions.sessionId, status: projectSessions.status })
    .from(projectSessions)
    .where(inArray(projectSessions.sessionId, sessionIds));
  const wanted = new Set(
    rows
      .filter(({ status }) => status === "provisioning" || status === "running")
      .map(({ sessionId }) => sessionId),
  );
  for (const sessionId of sessionIds) {
    if (wanted.has(sessionId)) continue;
    deps.log.warn({ session: sessionId }, "ending a sandbox of no session");
    await provider.stop(sessionId, ORPHAN_GRACE_MS);
  }
}
