import { and, desc, eq, gt } from "drizzle-orm";
import { browserSessions } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { SignIn } from "../../contract/sign-in.ts";
import type { Deps } from "../../deps.ts";
import { addressOf } from "./attempts.ts";
import { audit } from "./audit.ts";
import { BROWSER_SESSION_LIFE_S, type BrowserPlace } from "./browser.ts";
import type { Caller } from "./caller.ts";
import { cookieRequestOf, cookieSecret } from "./cookie.ts";

/** Characters of a browser's name for itself that are kept. */
const USER_AGENT_MAX = 256;
/** The most browsers of one user that are listed, the newest first. */
const LISTED_MAX = 200;

/** The browser and the address of a request. */
export function placeOf(request: Request): BrowserPlace {
  const agent = request.headers.get("user-agent")?.slice(0, USER_AGENT_MAX) || null;
  return { userAgent: agent, address: addressOf(request) || null };
}

/** The browsers in which the caller is signed in. */
export async function listSignIns(
  deps: Deps,
  { userId }: Caller,
  request: Request,
): Promise<{ sign_ins: SignIn[] }> {
  const secret = cookieSecret(deps, cookieRequestOf(request));
  const own = secret === null ? null : deps.keys.hashToken(secret);
  const rows = await deps.db
    .select()
    .from(browserSessions)
    .where(and(eq(browserSessions.userId, userId), gt(browserSessions.expiresAt, deps.clock())))
    .orderBy(desc(browserSessions.createdAt))
    .limit(LISTED_MAX);
  return { sign_ins: rows.map((row) => toWire(row, own)) };
}

/** Signs a browser of the caller out; it may be the one in use. @throws not_found */
export async function endSignIn(deps: Deps, caller: Caller, signInId: string): Promise<{ ok: true }> {
  return await deps.db.transaction(async (tx) => {
    const [ended] = await tx
      .delete(browserSessions)
      .where(and(eq(browserSessions.signInId, signInId), eq(browserSessions.userId, caller.userId)))
      .returning({ userAgent: browserSessions.userAgent });
    if (!ended)
      throw new SvcError(
        "not_found",
        `You are not signed in as ${signInId}. List your browsers with: svc sign-ins ls`,
      );
    await audit(tx, caller, {
      action: "sign_in.ended",
      target: ended.userAgent ?? "unknown browser",
      targetId: signInId,
    });
    return { ok: true };
  });
}

function toWire(row: typeof browserSessions.$inferSelect, own: string | null): SignIn {
  return {
    sign_in_id: row.signInId,
    user_agent: row.userAgent,
    address: row.address,
    created_at: row.createdAt.toISOString(),
    // each day of use extends it by as much
    last_used_at: new Date(row.expiresAt.getTime() - BROWSER_SESSION_LIFE_S * 1000).toISOString(),
    expires_at: row.expiresAt.toISOString(),
    is_current: row.hash === own,
  };
}
