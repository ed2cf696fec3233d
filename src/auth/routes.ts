import { eq } from "drizzle-orm";
import { Elysia } from "elysia";
import { projects } from "../../db/schema/index.ts";
import type { Identity } from "../contract/account.ts";
import type { Deps } from "../deps.ts";
import { type Caller, userOf } from "./caller.ts";
import { guard } from "./guard.ts";

/** `GET /auth/whoami`: whom a token acts for; the one route that both kinds of token may ask about themselves. */
export const authRoutes = (deps: Deps) =>
  new Elysia({ prefix: "/auth", tags: ["auth"] })
    .use(guard(deps))
    .get("/whoami", ({ caller }) => identify(deps, caller), { caller: true });

async function identify(deps: Deps, caller: Caller): Promise<Identity> {
  const user = await userOf(deps, caller);
  const common = { user_id: caller.userId, ...user, expires_at: caller.expiresAt?.toISOString() ?? null };
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
