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
import { createCache } from "../../lib/cache.ts";
import { visitorOf } from "./preview-cookie.ts";
import type { PreviewPlace } from "./preview-host.ts";

/** A user or agent that may use a session's sandbox. */
export interface Admitted extends Reached {
  userId: string;
  role: UserRole;
}

export interface Admission {
  /**
   * Admits the holder of a token, or a signed-in browser. Synchronous when the result is cached.
   * @throws unauthorized, forbidden, not_found: `resolveProject`'s, of the session's project
   */
  byCredentials(credentials: Credentials, sessionId: string): Admitted | Promise<Admitted>;
  /**
   * Admits a browser by the cookies of a preview.
   * @throws unauthorized, forbidden for a former member, not_found
   */
  byCookies(cookies: readonly string[], place: PreviewPlace): Admitted | Promise<Admitted>;
}

/**
 * How long an admission is cached, since a page that loads sends hundreds of requests a second. A revoked token, a lost
 * membership and a new address of the sandbox take effect after this time.
 */
export const CACHE_MS = 1_000;
export const CACHE_MAX = 10_000;

export function createAdmission(deps: Deps): Admission {
  // a session that is not running is not cached: it may be running by the next request
  const isReady = ({ session }: Admitted) => session.status === "running" && isWithinReach(deps, session);
  const once = createCache({ keepMs: CACHE_MS, max: CACHE_MAX }, isReady);

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
    await resolveCaller(deps, credentials, "write");
    throw new SvcError("not_found", `Session ${sessionId} not found. List sessions with: svc sessions ls`);
  }
  const { caller } = await resolveProject(deps, credentials, reached.project.projectId, "write");
  await requireAgentReach(deps, caller, reached.project, reached.session);
  return { ...reached, userId: caller.userId, role: caller.kind === "user" ? "user" : "agent" };
}

async function admitVisitor(deps: Deps, cookies: readonly string[], place: PreviewPlace): Promise<Admitted> {
  const visitor = visitorOf(deps, cookies, place);
  if (!visitor) throw signInFirst(place);
  const reached = await reachSession(deps, place.sessionId);
  if (!reached)
    throw new SvcError(
      "not_found",
      `Session ${place.sessionId} not found. List sessions with: svc sessions ls`,
    );
  await requireMember(deps, reached.session.accountId, visitor);
  return { ...reached, ...visitor };
}

/** Whether a visitor is still in the account since signing in. */
export async function isMember(
  { db }: Pick<Deps, "db">,
  accountId: string,
  { userId }: Visitor,
): Promise<boolean> {
  const isIt = and(eq(accountMembers.accountId, accountId), eq(accountMembers.userId, userId));
  return (await db.$count(accountMembers, isIt)) > 0;
}

/** @throws forbidden for a visitor who has left the account since signing in */
export async function requireMember(
  deps: Pick<Deps, "db">,
  accountId: string,
  visitor: Visitor,
): Promise<void> {
  if (await isMember(deps, accountId, visitor)) return;
  throw new SvcError("forbidden", "You are not a member of this project's account.");
}

/** The error for a browser that is not signed in, or whose link was used before. */
function signInFirst({ sessionId, port }: PreviewPlace): SvcError {
  const command = `svc sessions preview ${sessionId} ${port}`;
  const sentence = `Only members of the project can open this preview. Get a sign-in link, which works once, with: ${command}`;
  return new SvcError("unauthorized", sentence, {}, { "WWW-Authenticate": "Bearer" });
}
