import { eq } from "drizzle-orm";
import { projectSessions, sessionSandboxes } from "../../db/schema/index.ts";
import { resolveProject, unauthorized } from "../auth/caller.ts";
import { SvcError } from "../contract/errors.ts";
import { UUID } from "../contract/id.ts";
import type { CloneCredential, CredentialScope } from "../contract/project.ts";
import { isAlive, type SESSION_PURPOSES } from "../contract/session.ts";
import { SERVICE_KEY_PREFIX, TOKEN_USER } from "../contract/token.ts";
import type { Deps } from "../deps.ts";
import { gitUrlOf } from "../projects/wire.ts";
import { CLONE_CREDENTIAL_LIFE_S, writeCloneCredential } from "./clone-credential.ts";
import { liveBranch } from "./pusher.ts";

/**
 * Gives the daemon of a sandbox what opens the gateway for its session (contract: Accounts, tokens, projects, secrets).
 * @param authorization a bearer: the sandbox service key, or the project token of a session that starts or runs
 * @param scope `saved`: one that moves the ref of the session's saved work, and nothing else. Only the service key gets
 *   it, which nothing that the agent runs can read.
 * @throws unauthorized, forbidden (a user's token, another project's, a session that has ended), not_found.
 */
export async function issueCloneCredential(
  deps: Deps,
  authorization: string | null,
  projectName: string,
  scope?: CredentialScope,
): Promise<CloneCredential> {
  const session = await sessionOf(deps, authorization, projectName, scope === "saved");
  if (scope === "saved" && session.purpose === "app")
    throw new SvcError("forbidden", "A deployed app has no work to save.");
  const expiresAt = Math.floor(deps.clock().getTime() / 1000) + CLONE_CREDENTIAL_LIFE_S;
  const token = writeCloneCredential(deps, { ...session, expiresAt, saves: scope === "saved" });
  const base = deps.config.sandboxApiUrl ?? deps.config.publicUrl;
  return {
    repo_url: gitUrlOf(base, session.projectId),
    auth: { type: "basic", username: TOKEN_USER, token },
    expires_at: new Date(expiresAt * 1000).toISOString(),
  };
}

interface LiveSession {
  sessionId: string;
  projectId: string;
  branch: string;
  issuedFor: string;
  purpose: (typeof SESSION_PURPOSES)[number];
}

/**
 * The session that starts or runs whose sandbox asks, by its service key or its project token.
 * @throws unauthorized, forbidden, not_found
 */
export async function sessionOf(
  deps: Deps,
  authorization: string | null,
  projectName: string,
  saves: boolean,
): Promise<LiveSession> {
  const key = /^bearer +(\S{1,256}) *$/i.exec(authorization ?? "")?.[1];
  if (key?.startsWith(SERVICE_KEY_PREFIX)) return await sessionOfKey(deps, key, projectName);
  const { caller, project } = await resolveProject(deps, { authorization }, projectName);
  if (caller.kind === "user") {
    const sentence = "A clone credential is a sandbox's. People clone with their own token as the password.";
    throw new SvcError("forbidden", sentence);
  }
  if (saves) throw new SvcError("forbidden", "Work is saved by the sandbox's daemon alone.");
  const { projectId } = project;
  const branch = caller.sessionId && (await liveBranch(deps, projectId, caller.sessionId));
  if (!caller.sessionId || !branch)
    throw new SvcError("forbidden", "This token belongs to no session that runs.");
  return { sessionId: caller.sessionId, projectId, branch, issuedFor: caller.tokenId, purpose: "agent" };
}

async function sessionOfKey(deps: Deps, key: string, projectName: string): Promise<LiveSession> {
  const serviceKeyHash = deps.keys.hashToken(key);
  const [row] = await deps.db
    .select({
      sessionId: projectSessions.sessionId,
      projectId: projectSessions.projectId,
      branch: projectSessions.branchName,
      status: projectSessions.status,
      purpose: projectSessions.purpose,
    })
    .from(sessionSandboxes)
    .innerJoin(projectSessions, eq(projectSessions.sessionId, sessionSandboxes.sessionId))
    .where(eq(sessionSandboxes.serviceKeyHash, serviceKeyHash));
  if (!row) throw unauthorized("The sandbox service key is unknown or was replaced.");
  if (!UUID.test(projectName))
    throw new SvcError("validation_failed", "The project is named by its id, a UUID.");
  if (row.projectId !== projectName.toLowerCase()) {
    throw new SvcError("forbidden", "This sandbox belongs to another project.");
  }
  if (!isAlive(row)) throw new SvcError("forbidden", "The session of this sandbox has ended.");
  const { sessionId, projectId, branch, purpose } = row;
  return { sessionId, projectId, branch, purpose, issuedFor: serviceKeyHash };
}
