import { and, eq, inArray, or } from "drizzle-orm";
import { projectSessions } from "../../db/schema/index.ts";
import { isAlive } from "../contract/session.ts";
import type { Deps } from "../deps.ts";
import { isWithinReach, placesOf, queueOf } from "../jobs/places.ts";
import type { Provider, Sandbox } from "../sandboxes/provider.ts";
import { howItEnded } from "./boot.ts";
import { withClaim } from "./claim.ts";
import { endSandbox } from "./end.ts";
import { recordFailure } from "./fail.ts";
import { stillRunning } from "./this-start.ts";
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
  const running = await runningSessions(deps, provider);
  const sandboxes = new Map((await provider.list()).map((sandbox) => [sandbox.sessionId, sandbox]));
  for (const session of running)
    if (sandboxes.get(session.sessionId)?.state !== "running") await recordDeath(deps, provider, session);
  const owned = await ownedAmong(deps, [...sandboxes.values()]);
  for (const sandbox of sandboxes.values()) if (!owned.has(sandbox)) await endOrphan(deps, provider, sandbox);
}

/**
 * Of these sandboxes, those whose sessions live by them. A session that was given up here and started on another server
 * has left one of an earlier start; two servers that share an engine see each other's, of the start that goes on.
 */
async function ownedAmong(deps: Deps, sandboxes: Sandbox[]): Promise<ReadonlySet<Sandbox>> {
  const rows = await deps.db
    .select()
    .from(projectSessions)
    .where(
      inArray(
        projectSessions.sessionId,
        sandboxes.map(({ sessionId }) => sessionId),
      ),
    );
  const sessions = new Map(rows.map((row) => [row.sessionId, row]));
  const isOwned = ({ sessionId, generation }: Sandbox) => {
    const session = sessions.get(sessionId);
    if (!session || !isAlive(session)) return false;
    return isWithinReach(deps, session) || session.generation === generation;
  };
  return new Set(sandboxes.filter(isOwned));
}

async function runningSessions(deps: Deps, { name }: Provider): Promise<SessionRow[]> {
  return await deps.db
    .select()
    .from(projectSessions)
    .where(
      and(
        eq(projectSessions.provider, name),
        eq(projectSessions.status, "running"),
        eq(projectSessions.goal, "running"),
        inArray(projectSessions.place, placesOf(deps)),
      ),
    );
}

/**
 * A sandbox ended that should run: by itself, by the kernel, or by somebody else's hand. What is looked at may be started
 * again in the same moment, so only who has the claim acts on what it has seen.
 */
async function recordDeath(deps: Deps, provider: Provider, session: SessionRow): Promise<void> {
  await withClaim(deps, session.sessionId, async () => {
    const [row] = await deps.db.select().from(projectSessions).where(stillRunning(session));
    if (!row) return;
    const sandbox = await provider.find(session.sessionId);
    if (sandbox?.state === "running") return;
    deps.log.warn(
      { session: session.sessionId, exitCode: sandbox?.exitCode },
      "a sandbox has ended by itself",
    );
    await endSandbox(deps, row);
    await recordFailure(deps, row, howItEnded(sandbox));
  });
}

/** Ends a sandbox whose session is gone, has ended without it, or lives by another. */
async function endOrphan(deps: Deps, provider: Provider, found: Sandbox): Promise<void> {
  const { sessionId } = found;
  const end = async () => {
    deps.log.warn({ session: sessionId }, "ending a sandbox of no session");
    await provider.stop(sessionId, ORPHAN_GRACE_MS);
  };
  const isKnown = (await deps.db.$count(projectSessions, eq(projectSessions.sessionId, sessionId))) > 0;
  if (!isKnown) return await end();
  await withClaim(deps, sessionId, async () => {
    const sandbox = (await provider.find(sessionId)) ?? found;
    if (!(await ownedAmong(deps, [sandbox])).has(sandbox)) await end();
  });
}
