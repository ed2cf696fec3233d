import { eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { projectSessions } from "../../../db/schema/index.ts";
import { runtimeKind } from "../../contract/runtimes.ts";
import type { Deps } from "../../deps.ts";
import type { Caller } from "../../identity/auth/caller.ts";
import { type OpenSecrets, openSecrets, openSecretsOf } from "../secrets/open.ts";
import { openOwnSecrets } from "../secrets/own/open.ts";
import type { SessionRow } from "./row.ts";

type Holder = Pick<SessionRow, "createdBy" | "getsOwnSecrets">;

/**
 * The secrets of a session's sandbox: the project's, and those that the person who launched the session holds for the
 * project, which take precedence. A key of theirs for the session's agent replaces all of the project's for that agent,
 * which would otherwise go first: Claude Code prefers an API key to a login.
 */
export async function openSessionSecrets(
  deps: Pick<Deps, "db" | "keys" | "customRuntimes">,
  session: Holder & Pick<SessionRow, "projectId" | "secretAudience" | "secretNames" | "runtime">,
): Promise<OpenSecrets> {
  const { projectId, secretAudience, secretNames, runtime } = session;
  const shared = await openSecrets(deps, projectId, secretAudience, secretNames);
  const holder = holderOf(session);
  const own = holder === null ? {} : await openOwnSecrets(deps, holder, projectId);
  if (Object.keys(own).length === 0) return shared;
  const keys = runtimeKind(runtime ?? "", deps.customRuntimes)?.secrets ?? [];
  const replaced = keys.some((name) => Object.hasOwn(own, name)) ? keys : [];
  const kept = Object.entries(shared.values).filter(([name]) => !replaced.includes(name));
  return openSecretsOf(deps, projectId, { ...Object.fromEntries(kept), ...own });
}

/** The person whose own secrets a session gets; null: nobody's. */
export function holderOf({ createdBy, getsOwnSecrets }: Holder): string | null {
  return getsOwnSecrets ? createdBy : null;
}

/**
 * The same for a session that a caller starts. An agent's gets those that the agent's session gets; a script's token may
 * be in anybody's hands.
 */
export async function holderFor(db: Db, caller: Caller): Promise<string | null> {
  if (caller.kind === "user") return caller.userId;
  if (caller.sessionId === null) return null;
  const { createdBy, getsOwnSecrets, sessionId } = projectSessions;
  const [parent] = await db
    .select({ createdBy, getsOwnSecrets })
    .from(projectSessions)
    .where(eq(sessionId, caller.sessionId));
  return parent ? holderOf(parent) : null;
}
