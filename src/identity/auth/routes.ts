import { eq } from "drizzle-orm";
import { Elysia } from "elysia";
import { projects, tokens } from "../../../db/schema/index.ts";
import { type Identity, identity } from "../../contract/account.ts";
import { SvcError } from "../../contract/errors.ts";
import { DEFAULT_SCOPES, type Scope } from "../../contract/scope.ts";
import type { Deps } from "../../deps.ts";
import { answer, ok } from "../../http/schema.ts";
import { audit } from "./audit.ts";
import { type Caller, userOf } from "./caller.ts";
import { guard } from "./guard.ts";

/**
 * `GET /auth/whoami`, the identity of a token, and `POST /auth/revoke`, which revokes it: for both kinds of token.
 */
export const authRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/auth", tags: ["auth"] })
    .use(guard(deps))
    .get("/whoami", ({ caller }) => identify(deps, caller), {
      caller: "any",
      ...answer(200, identity),
    })
    .post("/revoke", ({ caller }) => revoke(deps, caller), { caller: "any", ...answer(200, ok) });

/** The holder of a token can always revoke it. @throws forbidden to a browser, which signs out instead */
async function revoke(deps: Deps, caller: Caller): Promise<{ ok: true }> {
  const { tokenId } = caller;
  if (tokenId === null)
    throw new SvcError("forbidden", "A browser session has no token to revoke. Sign out instead.");
  await deps.db.transaction(async (tx) => {
    const [revoked] = await tx
      .delete(tokens)
      .where(eq(tokens.tokenId, tokenId))
      .returning({ name: tokens.name, projectId: tokens.projectId });
    if (!revoked) return;
    const [project] =
      revoked.projectId === null
        ? []
        : await tx
            .select({ projectId: projects.projectId, accountId: projects.accountId })
            .from(projects)
            .where(eq(projects.projectId, revoked.projectId));
    const entry = { action: "token.revoked", target: revoked.name, targetId: tokenId } as const;
    await audit(tx, caller, { ...entry, ...(project && { project }) });
  });
  return { ok: true };
}

async function scopesOf({ db }: Deps, { tokenId }: Caller): Promise<Scope[]> {
  const [token] =
    tokenId === null
      ? []
      : await db.select({ scopes: tokens.scopes }).from(tokens).where(eq(tokens.tokenId, tokenId));
  return token?.scopes ?? [...DEFAULT_SCOPES];
}

async function identify(deps: Deps, caller: Caller): Promise<Identity> {
  const user = await userOf(deps, caller);
  const common = {
    user_id: caller.userId,
    ...user,
    scopes: await scopesOf(deps, caller),
    expires_at: caller.expiresAt?.toISOString() ?? null,
  };
  if (caller.kind === "user") {
    return { kind: "user", ...common, project_id: null, project_name: null, session_id: null };
  }
  const [project] = await deps.db
    .select({ name: projects.name })
    .from(projects)
    .where(eq(projects.projectId, caller.projectId));
  return {
    kind: "project",
    ...common,
    project_id: caller.projectId,
    project_name: project?.name ?? null,
    session_id: caller.sessionId,
  };
}
