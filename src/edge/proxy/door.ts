import { and, eq } from "drizzle-orm";
import { accountMembers } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { UserRole } from "../../contract/user-context.ts";
import type { Deps } from "../../deps.ts";
import { requireAgentReach } from "../../features/sessions/agent-reach.ts";
import { type Reached, reachSession } from "../../features/sessions/row.ts";
import type { Visitor } from "../../identity/auth/browser-link.ts";
import { type Credentials, resolveCaller, resolveProject } from "../../identity/auth/caller.ts";
import { isWithinReach } from "../../jobs/places.ts";
import { createMemory } from "../../lib/memory.ts";
import { visitorOf } from "./preview-cookie.ts";
import type { PreviewPlace } from "./preview-host.ts";

/** Somebody who may use a session's sandbox. */
export interface Admitted extends Reached {
  userId: string;
  role: UserRole;
}

export interface Door {
  /**
   * Lets the holder of a token in, and a browser that is signed in: at once when that was found out a moment ago.
   * @throws unauthorized, forbidden, not_found: `resolveProject`'s, of the session's project
   */
  byCredentials(credentials: Credentials, sessionId: string): Admitted | Promise<Admitted>;
  /**
   * The same by the cookies of a preview.
   * @throws unauthorized, forbidden for who is no member any more, not_found
   */
  byCookies(cookies: readonly string[], place: PreviewPlace): Admitted | Promise<Admitted>;
}

/**
 * How long an admission is remembered: a revoked token, a lost membership and a sandbox's new address count after this
 * at the latest. A page that loads asks hundreds of times a second.
 */
const REMEMBER_MS = 1_000;
/** Admissions remembered at once: a bound on the memory of those that nobody asks for again. */
const REMEMBERED_MAX = 10_000;

export function createDoor(deps: Deps): Door {
  // one that does not run may run the next moment, and whoever waited for that is not sent away
  const isReady = ({ session }: Admitted) => session.status === "running" && isWithinReach(deps, session);
  const once = createMemory({ keepMs: REMEMBER_MS, max: REMEMBERED_MAX }, isReady);

  return {
    byCredentials: (credentials, sessionId) =>
      once(`${sessionId} ${credentials.authorization} ${credentials.browser}`, () =>
        admitHolder(deps, credentials, sessionId),
      ),
    byCookies(cookies, place) {
      if (cookies.length === 0) throw signInFirst(place);
      const key = `${place.sessionId}:${place.port} ${cookies.join(" ")}`;
      return once(key, () => admitVisitor(deps, cookies, place));
    },
  };
}

async function admitHolder(deps: Deps, credentials: Credentials, sessionId: string): Promise<Admitted> {
  const isAnybody = credentials.authorization === null && !credentials.browser;
  const reached = isAnybody ? null : await reachSession(deps, sessionId);
  if (!reached) {
    await resolveCaller(deps, credentials);
    throw new SvcError("not_found", "Session not found.");
  }
  const { caller } = await resolveProject(deps, credentials, reached.project.projectId);
  await requireAgentReach(deps, caller, reached.project, reached.session);
  return { ...reached, userId: caller.userId, role: caller.kind === "user" ? "user" : "agent" };
}

async function admitVisitor(deps: Deps, cookies: readonly string[], place: PreviewPlace): Promise<Admitted> {
  const visitor = visitorOf(deps, cookies, place);
  if (!visitor) throw signInFirst(place);
  const reached = await reachSession(deps, place.sessionId);
  if (!reached) throw new SvcError("not_found", "Session not found.");
  await requireMember(deps, reached.session.accountId, visitor);
  return { ...reached, ...visitor };
}

/** Whoever was signed in by a cookie may have left since. @throws forbidden */
export async function requireMember(
  { db }: Pick<Deps, "db">,
  accountId: string,
  { userId }: Visitor,
): Promise<void> {
  const isIt = and(eq(accountMembers.accountId, accountId), eq(accountMembers.userId, userId));
  if ((await db.$count(accountMembers, isIt)) > 0) return;
  throw new SvcError("forbidden", "You are not a member of this project's account.");
}

/** The answer to a browser that nobody signed in, or whose link was used before. */
function signInFirst({ sessionId, port }: PreviewPlace): SvcError {
  const command = `svc sessions preview ${sessionId} ${port}`;
  const sentence = `Only members of the project can open this preview. Get a sign-in link, which works once, with: ${command}`;
  return new SvcError("unauthorized", sentence, {}, { "WWW-Authenticate": "Bearer" });
}
