import { randomBytes } from "node:crypto";
import { and, eq, gt, lt, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { accountMembers, browserSessions, projects } from "../../../db/schema/index.ts";
import { BROWSER_SESSION_PREFIX } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";

/** A signed-in browser in the database. */
export interface BrowserRow {
  userId: string;
  expiresAt: Date;
}

/** Where a browser signs in. */
export interface BrowserPlace {
  userAgent: string | null;
  address: string | null;
}

/** Dependencies of the lookup of credentials. */
export type Lookup = Pick<Deps, "db" | "keys" | "clock">;

/** How long a browser stays signed in after its last request. */
export const BROWSER_SESSION_LIFE_S = 30 * 86_400;
/** How often the expiry is extended at most, to avoid a write per request. */
const RENEW_EVERY_S = 86_400;

/**
 * Signs a browser in, always with a new secret, which prevents session fixation.
 * @returns the secret for its cookie; the database stores a keyed hash
 */
export async function openBrowserSession(
  deps: Lookup,
  userId: string,
  place: BrowserPlace = { userAgent: null, address: null },
): Promise<string> {
  const now = deps.clock();
  await deps.db.delete(browserSessions).where(lt(browserSessions.expiresAt, now));
  const secret = BROWSER_SESSION_PREFIX + randomBytes(32).toString("base64url");
  const expiresAt = new Date(now.getTime() + BROWSER_SESSION_LIFE_S * 1000);
  await deps.db
    .insert(browserSessions)
    .values({ hash: deps.keys.hashToken(secret), userId, ...place, expiresAt });
  return secret;
}

/** @returns null for one that is unknown, has ended or has expired */
export async function findBrowserSession(deps: Lookup, secret: string): Promise<BrowserRow | null> {
  const [row] = await deps.db
    .select({ userId: browserSessions.userId, expiresAt: browserSessions.expiresAt })
    .from(browserSessions)
    .where(eq(browserSessions.hash, deps.keys.hashToken(secret)));
  return row && row.expiresAt > deps.clock() ? row : null;
}

/** The same, with the project of a URL and the user's role in its account, in one query. */
export async function findBrowserAndProject(deps: Lookup, secret: string, by: "id" | "slug", name: string) {
  const query = by === "id" ? browserAndProjectById : browserAndProjectBySlug;
  const [row] = await query(deps.db).execute({ hash: deps.keys.hashToken(secret), name });
  return row && row.expiresAt > deps.clock() ? row : null;
}

/**
 * Extends the expiry of a browser session, once a day at most.
 * @returns whether it was extended, so that the cookie has to be set again
 */
export async function renewBrowserSession(deps: Lookup, secret: string): Promise<boolean> {
  const now = deps.clock().getTime();
  const expiresAt = new Date(now + BROWSER_SESSION_LIFE_S * 1000);
  const due = new Date(expiresAt.getTime() - RENEW_EVERY_S * 1000);
  const renewed = await deps.db
    .update(browserSessions)
    .set({ expiresAt })
    .where(
      and(
        eq(browserSessions.hash, deps.keys.hashToken(secret)),
        gt(browserSessions.expiresAt, new Date(now)),
        lt(browserSessions.expiresAt, due),
      ),
    )
    .returning({ userId: browserSessions.userId });
  return renewed.length > 0;
}

/** @returns the user and the public id of the session that was ended; null when there was none */
export async function endBrowserSession(
  deps: Lookup,
  secret: string,
): Promise<{ userId: string; signInId: string } | null> {
  const [ended] = await deps.db
    .delete(browserSessions)
    .where(eq(browserSessions.hash, deps.keys.hashToken(secret)))
    .returning({ userId: browserSessions.userId, signInId: browserSessions.signInId });
  return ended ?? null;
}

const browserAndProjectById = prepared((db) => browserAndProject(db, projects.projectId));
const browserAndProjectBySlug = prepared((db) => browserAndProject(db, projects.slug));

function browserAndProject(db: Db, column: typeof projects.projectId | typeof projects.slug) {
  return db
    .select({
      userId: browserSessions.userId,
      expiresAt: browserSessions.expiresAt,
      project: projects,
      role: accountMembers.role,
    })
    .from(browserSessions)
    .leftJoin(projects, eq(column, sql.placeholder("name")))
    .leftJoin(
      accountMembers,
      and(
        eq(accountMembers.accountId, projects.accountId),
        eq(accountMembers.userId, browserSessions.userId),
      ),
    )
    .where(eq(browserSessions.hash, sql.placeholder("hash")))
    .prepare(`browser_and_project_by_${column.name}`);
}
