import { and, eq } from "drizzle-orm";
import { projectSessions } from "../../../db/schema/index.ts";
import type { Role } from "../../contract/account.ts";
import { savedRef } from "../../contract/daemon.ts";
import { SvcError } from "../../contract/errors.ts";
import { isAlive } from "../../contract/session.ts";
import { CLONE_CREDENTIAL_PREFIX } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";
import {
  type Caller,
  type CallerLookup,
  type ProjectRow,
  resolveProject,
  unauthorized,
} from "../../identity/auth/caller.ts";
import { resolveCloneCredential } from "./clone-credential.ts";

/** The caller of a fetch or push. `project`: a project token without a session, as a script has. */
export type Pusher =
  | { kind: "user"; id: string; role: Role }
  | { kind: "project"; id: string }
  | { kind: "session"; id: string; branch: string }
  /** The daemon of a run without a branch, such as a deployment: it only reads. */
  | { kind: "reader"; id: string }
  /** The daemon of a session's sandbox, when it saves work. */
  | { kind: "saver"; id: string; branch: string; ref: string };

/**
 * Authenticates git's `Authorization` header: HTTP basic (RFC 7617) with the credential as the password, or as the user
 * name without a password; or a bearer token.
 * @param required the scope that a token needs
 * @throws unauthorized, forbidden, not_found, validation_failed, insufficient_scope.
 */
export async function resolvePusher(
  deps: CallerLookup,
  authorization: string | null,
  projectName: string,
  required: "git:read" | "git:write",
): Promise<{ pusher: Pusher; project: ProjectRow }> {
  const credential = readCredential(authorization);
  if (credential.startsWith(CLONE_CREDENTIAL_PREFIX)) {
    const { project, runId, branch, saves } = await resolveCloneCredential(deps, credential);
    if (projectName.toLowerCase() !== project.projectId && projectName !== project.slug) {
      throw new SvcError("forbidden", "This clone credential belongs to another project.");
    }
    if (branch === null) return { pusher: { kind: "reader", id: runId }, project };
    if (saves) return { pusher: { kind: "saver", id: runId, branch, ref: savedRef(runId) }, project };
    return { pusher: { kind: "session", id: runId, branch }, project };
  }
  const { caller, project, role } = await resolveProject(
    deps,
    { authorization: `Bearer ${credential}` },
    projectName,
    required,
  );
  return { pusher: await pusherOf(deps, caller, role), project };
}

async function pusherOf(deps: CallerLookup, caller: Caller, role: Role): Promise<Pusher> {
  if (caller.kind === "user") return { kind: "user", id: caller.userId, role };
  if (caller.sessionId === null) return { kind: "project", id: caller.tokenId };
  const branch = await liveBranch(deps, caller.projectId, caller.sessionId);
  if (branch === null)
    throw new SvcError(
      "forbidden",
      "The session of this token is not running. Restart it: svc sessions restart <id>",
    );
  return { kind: "session", id: caller.sessionId, branch };
}

/** The branch of a session that starts or runs; null otherwise. */
export async function liveBranch(
  deps: Pick<Deps, "db">,
  projectId: string,
  sessionId: string,
): Promise<string | null> {
  const [session] = await deps.db
    .select({ branch: projectSessions.branchName, status: projectSessions.status })
    .from(projectSessions)
    .where(and(eq(projectSessions.sessionId, sessionId), eq(projectSessions.projectId, projectId)));
  return session && isAlive(session) ? session.branch : null;
}

function readCredential(authorization: string | null): string {
  if (authorization === null)
    throw unauthorized("Authentication is required: use your svc token as the password.");
  const [, basic] = /^basic +([a-z0-9+/=_-]{1,4096}) *$/i.exec(authorization) ?? [];
  if (basic === undefined) {
    const [, token] = /^bearer +([\x21-\x7e]{1,1024}) *$/i.exec(authorization) ?? [];
    if (token !== undefined) return token;
    throw unauthorized("The Authorization header must be HTTP basic, with your svc token as the password.");
  }
  const text = Buffer.from(basic, "base64").toString();
  const colon = text.indexOf(":");
  const password = colon < 0 ? "" : text.slice(colon + 1);
  const credential =
    password === "" || password === "x-oauth-basic" ? text.slice(0, Math.max(colon, 0)) : password;
  if (!/^[\x21-\x7e]{1,1024}$/.test(credential)) throw unauthorized("The password must be an svc token.");
  return credential;
}
