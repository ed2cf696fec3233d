import { and, asc, eq, gt } from "drizzle-orm";
import { projectSessions, tokens } from "../../../db/schema/index.ts";
import type { MintedProjectToken, MintProjectTokenBody, ProjectToken } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import { NAME_MAX } from "../../contract/limits.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import { storable } from "../../http/text.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { mintToken, readExpiry, type TokenRow, tokenCreated } from "../../identity/auth/token.ts";

/** The project's tokens, without their secrets. */
export async function listProjectTokens(deps: Deps, project: ProjectRow, { limit, cursor }: Page) {
  const after = readCursor(cursor, UUID);
  const found = await deps.db
    .select()
    .from(tokens)
    .where(and(eq(tokens.projectId, project.projectId), after ? gt(tokens.tokenId, after) : undefined))
    .orderBy(asc(tokens.tokenId))
    .limit(limit + 1);
  const { rows, next } = page(found, limit, (row) => row.tokenId);
  return { tokens: rows.map((row) => toWire(project, row)), ...next };
}

/**
 * Creates a token that acts as the caller in this project only (spec 5.2).
 * @throws not_found when the project has no session with this `session_id`; validation_failed for an expiry in the past
 */
export async function mintProjectToken(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  wanted: NonNullable<MintProjectTokenBody>,
): Promise<MintedProjectToken> {
  const sessionId = wanted.session_id;
  if (sessionId !== undefined)
    await requireSession(deps, project, storable("session_id", sessionId, NAME_MAX));
  const name = storable("name", wanted.name ?? "project token", NAME_MAX * 4);
  const expiresAt = readExpiry(deps, wanted.expires_at);
  return await deps.db.transaction(async (tx) => {
    const { row, secret } = await mintToken(tx, deps.keys, {
      userId: caller.userId,
      projectId: project.projectId,
      name,
      ...(sessionId !== undefined && { sessionId }),
      scopes: wanted.scopes,
      expiresAt,
    });
    await audit(tx, caller, { ...tokenCreated(row), project });
    return { ...toWire(project, row), token: secret };
  });
}

/** Revokes one of the project's tokens. */
export async function revokeProjectToken(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  tokenId: string,
): Promise<{ ok: true }> {
  return await deps.db.transaction(async (tx) => {
    const [removed] = await tx
      .delete(tokens)
      .where(and(eq(tokens.tokenId, tokenId), eq(tokens.projectId, project.projectId)))
      .returning({ name: tokens.name });
    if (!removed)
      throw new SvcError(
        "not_found",
        `${project.name} has no token ${tokenId}. List its tokens with: svc tokens ls --project ${project.slug}`,
      );
    await audit(tx, caller, { action: "token.revoked", target: removed.name, targetId: tokenId, project });
    return { ok: true };
  });
}

async function requireSession(deps: Deps, project: ProjectRow, sessionId: string): Promise<void> {
  const [session] = await deps.db
    .select({ sessionId: projectSessions.sessionId })
    .from(projectSessions)
    .where(and(eq(projectSessions.sessionId, sessionId), eq(projectSessions.projectId, project.projectId)));
  if (!session)
    throw new SvcError(
      "not_found",
      `${project.name} has no session ${sessionId}. List its sessions with: svc sessions ls`,
    );
}

function toWire(project: ProjectRow, row: TokenRow): ProjectToken {
  return {
    token_id: row.tokenId,
    name: row.name,
    project_id: project.projectId,
    session_id: row.sessionId,
    scopes: row.scopes,
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    expires_at: row.expiresAt?.toISOString() ?? null,
  };
}
