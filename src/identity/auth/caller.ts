import { timingSafeEqual } from "node:crypto";
import { and, eq, isNull, lt, or, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { accountMembers, projects, tokens, users } from "../../../db/schema/index.ts";
import { type Role, SERVICE_KEY_PREFIX, TOKEN_PREFIX } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import { includesScope, type Scope } from "../../contract/scope.ts";
import type { Deps } from "../../deps.ts";
import { type BrowserRow, findBrowserAndProject, findBrowserSession, type Lookup } from "./browser.ts";

/** Dependencies of the lookup of callers. */
export type CallerLookup = Lookup & Pick<Deps, "log">;

/** Where a request comes from, for the audit log. */
export interface Origin {
  /** The client's address, as `addressOf` has it; null: not known. */
  address: string | null;
  requestId: string;
}

/** The credentials of a request. A token takes precedence. */
export interface Credentials {
  /** The `Authorization` header. */
  authorization: string | null;
  /** The secret of a signed-in browser, from its cookie. */
  browser?: string | null;
  origin?: Origin;
}

/** The caller of a request. A project token acts as the user who created it, inside one project. */
export type Caller =
  /** `tokenId`: null for a signed-in browser. `origin`: none for what svc does later for this caller. */
  | { kind: "user"; userId: string; tokenId: string | null; expiresAt: Date | null; origin?: Origin }
  | {
      kind: "project";
      origin?: Origin;
      userId: string;
      tokenId: string;
      tokenName: string;
      expiresAt: Date | null;
      projectId: string;
      sessionId: string | null;
    };

export type ProjectRow = typeof projects.$inferSelect;

/** How often `last_used_at` is written at most, to avoid a write per request. */
const LAST_USED_EVERY_MS = 15 * 60_000;
const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;

/**
 * Authenticates a request.
 * @param required the scope that a token needs; null: any token is enough
 * @throws unauthorized for a missing, unknown or expired token, and for a browser that is not signed in; insufficient_scope
 */
export async function resolveCaller(
  deps: CallerLookup,
  { authorization, browser, origin }: Credentials,
  required: Scope | null,
): Promise<Caller> {
  if (authorization === null && browser)
    return from(visitorOf(await findBrowserSession(deps, browser)), origin);
  const hash = deps.keys.hashToken(bearer(authorization));
  const [row] = await deps.db.select(tokenColumns).from(tokens).where(eq(tokens.hash, hash));
  const caller = callerOf(deps, row, hash);
  if (required !== null) requireScope(row?.scopes, required);
  return from(caller, origin);
}

/**
 * Finds the caller, the project of a URL (by id or slug) and the caller's role in it, in one query. Slugs can be guessed,
 * so a slug without access is `not_found`, like one that does not exist.
 * @throws unauthorized, forbidden (an id of another project than the token's, or without a membership), not_found,
 *   validation_failed, insufficient_scope.
 */
export async function resolveProject(
  deps: CallerLookup,
  credentials: Credentials,
  name: string,
  required: Scope,
): Promise<{ caller: Caller; project: ProjectRow; role: Role }> {
  const by = UUID.test(name) ? "id" : "slug";
  const named = by === "id" || SLUG.test(name);
  const { caller, row, scopes } = await findWithProject(
    deps,
    credentials,
    by,
    named ? name.toLowerCase() : "",
  );
  if (!named)
    throw new SvcError(
      "validation_failed",
      "A project must be given by its id (a UUID) or its slug. List yours with: svc projects ls",
    );
  const project = row?.project ?? null;
  const isOwn = caller.kind === "user" || caller.projectId === project?.projectId;
  if (by === "slug" && !(isOwn && row?.role)) throw noSuchProject(name);
  if (!isOwn)
    throw new SvcError(
      "forbidden",
      "This token belongs to another project. Use a token of your user: svc login",
    );
  if (!project) throw noSuchProject(name);
  if (!row?.role)
    throw new SvcError(
      "forbidden",
      "You are not a member of this project's account. Ask an owner or admin of it for an invitation.",
    );
  requireScope(scopes, required);
  return { caller: from(caller, credentials.origin), project, role: row.role };
}

function from(caller: Caller, origin: Origin | undefined): Caller {
  return origin === undefined ? caller : { ...caller, origin };
}

/** @param scopes of a token; undefined: of a browser, which may do what its user may */
function requireScope(scopes: readonly Scope[] | undefined, required: Scope): void {
  if (scopes === undefined || includesScope(scopes, required)) return;
  throw new SvcError(
    "insufficient_scope",
    `This request requires the scope ${required}; the token has: ${scopes.join(", ")}. Create one that includes it: svc tokens new`,
    {},
    { "WWW-Authenticate": `Bearer error="insufficient_scope", scope="${required}"` },
  );
}

/** The same for a project that does not exist and one of an account that the caller is not in. */
function noSuchProject(name: string): SvcError {
  return new SvcError(
    "not_found",
    `Project "${name}" not found among those of your accounts. List them with: svc projects ls`,
  );
}

/** The caller, the row with the project and the role, and the scopes of a token. */
async function findWithProject(
  deps: CallerLookup,
  { authorization, browser }: Credentials,
  by: "id" | "slug",
  name: string,
) {
  if (authorization === null && browser) {
    const row = await findBrowserAndProject(deps, browser, by, name);
    return { caller: visitorOf(row), row, scopes: undefined };
  }
  const hash = deps.keys.hashToken(bearer(authorization));
  const query = by === "id" ? tokenAndProjectById : tokenAndProjectBySlug;
  const [row] = await query(deps.db).execute({ hash, name });
  return { caller: callerOf(deps, row, hash), row, scopes: row?.scopes };
}

/** The user behind a caller, for `whoami`. */
export async function userOf(
  deps: Pick<Deps, "db">,
  caller: Caller,
): Promise<{ email: string; name: string }> {
  const [user] = await deps.db
    .select({ email: users.email, name: users.name })
    .from(users)
    .where(eq(users.userId, caller.userId));
  if (!user) throw unauthorized("The token's user no longer exists.");
  return user;
}

/** Whether a caller manages the server's own settings. */
export async function isOperator({ db }: Pick<Deps, "db">, { userId }: Caller): Promise<boolean> {
  return (await db.$count(users, and(eq(users.userId, userId), users.isOperator))) > 0;
}

const tokenColumns = {
  tokenId: tokens.tokenId,
  tokenName: tokens.name,
  userId: tokens.userId,
  tokenProjectId: tokens.projectId,
  sessionId: tokens.sessionId,
  scopes: tokens.scopes,
  hash: tokens.hash,
  expiresAt: tokens.expiresAt,
  lastUsedAt: tokens.lastUsedAt,
};

const tokenAndProjectById = prepared((db) => tokenAndProject(db, projects.projectId));
const tokenAndProjectBySlug = prepared((db) => tokenAndProject(db, projects.slug));

function tokenAndProject(db: Db, column: typeof projects.projectId | typeof projects.slug) {
  return db
    .select({ ...tokenColumns, project: projects, role: accountMembers.role })
    .from(tokens)
    .leftJoin(projects, eq(column, sql.placeholder("name")))
    .leftJoin(
      accountMembers,
      and(eq(accountMembers.accountId, projects.accountId), eq(accountMembers.userId, tokens.userId)),
    )
    .where(eq(tokens.hash, sql.placeholder("hash")))
    .prepare(`token_and_project_by_${column.name}`);
}

type FoundToken = Pick<
  typeof tokens.$inferSelect,
  "tokenId" | "userId" | "sessionId" | "scopes" | "hash" | "expiresAt" | "lastUsedAt"
> & {
  tokenProjectId: string | null;
  tokenName: string;
};

function callerOf(deps: CallerLookup, row: FoundToken | undefined, hash: string): Caller {
  if (!row || !timingSafeEqual(Buffer.from(row.hash), Buffer.from(hash))) {
    throw unauthorized("The token is unknown or revoked. Sign in again with: svc login");
  }
  const now = deps.clock();
  if (row.expiresAt && row.expiresAt <= now)
    throw unauthorized("The token has expired. Sign in again with: svc login");
  noteUse(deps, row, now);
  const { tokenId, userId, expiresAt } = row;
  if (row.tokenProjectId === null) return { kind: "user", userId, tokenId, expiresAt };
  return {
    kind: "project",
    userId,
    tokenId,
    tokenName: row.tokenName,
    expiresAt,
    projectId: row.tokenProjectId,
    sessionId: row.sessionId,
  };
}

function visitorOf(row: BrowserRow | null): Caller {
  if (!row) throw unauthorized("You are signed out. Sign in again.");
  return { kind: "user", userId: row.userId, tokenId: null, expiresAt: row.expiresAt };
}

/** Written in the background: neither the write nor its failure affects the request. */
function noteUse(deps: CallerLookup, row: FoundToken, now: Date): void {
  const due = new Date(now.getTime() - LAST_USED_EVERY_MS);
  if (row.lastUsedAt && row.lastUsedAt > due) return;
  deps.db
    .update(tokens)
    .set({ lastUsedAt: now })
    .where(and(eq(tokens.tokenId, row.tokenId), or(isNull(tokens.lastUsedAt), lt(tokens.lastUsedAt, due))))
    .then(
      () => {},
      () => deps.log.warn({ token: row.tokenId }, "cannot record the last use of a token"),
    );
}

function bearer(authorization: string | null): string {
  if (!authorization) throw unauthorized("A token is required. Sign in with: svc login");
  // `token` is the scheme of GitHub's clients
  const token = /^(?:bearer|token) +([\x21-\x7e]{1,256}) *$/i.exec(authorization)?.[1];
  if (!token) throw unauthorized("The Authorization header must read: Bearer <token>");
  if (token.startsWith(SERVICE_KEY_PREFIX))
    throw unauthorized("A sandbox service key cannot be used for this route.");
  if (!token.startsWith(TOKEN_PREFIX)) throw unauthorized(`An svc token begins with ${TOKEN_PREFIX}.`);
  return token;
}

/** The error for a missing or invalid credential. */
export function unauthorized(message: string): SvcError {
  return new SvcError("unauthorized", message, {}, { "WWW-Authenticate": "Bearer" });
}
