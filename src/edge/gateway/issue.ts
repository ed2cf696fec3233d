import { eq } from "drizzle-orm";
import { projectSessions, runs, sessionSandboxes } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import type { CloneCredential, CredentialScope } from "../../contract/project.ts";
import { isAlive } from "../../contract/session.ts";
import { SERVICE_KEY_PREFIX, TOKEN_USER } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";
import { gitUrlOf } from "../../features/projects/wire.ts";
import { resolveProject, unauthorized } from "../../identity/auth/caller.ts";
import { CLONE_CREDENTIAL_LIFE_S, writeCloneCredential } from "./clone-credential.ts";
import { liveBranch } from "./pusher.ts";

/**
 * Issues a clone credential to the daemon of a sandbox (contract: Accounts, tokens, projects, secrets).
 * @param authorization a bearer token: the sandbox service key, or the project token of a session that starts or runs
 * @param scope `saved`: only for updating the ref of the session's saved work. It requires the service key, which the
 *   agent cannot read.
 * @throws unauthorized, forbidden (a user's token, another project's, a session that has ended), not_found.
 */
export async function issueCloneCredential(
  deps: Deps,
  authorization: string | null,
  projectName: string,
  scope?: CredentialScope,
): Promise<CloneCredential> {
  const run = await runOf(deps, authorization, projectName, scope === "saved");
  if (scope === "saved" && run.branch === null)
    throw new SvcError("forbidden", "This sandbox has no session, and so no work to save.");
  const expiresAt = Math.floor(deps.clock().getTime() / 1000) + CLONE_CREDENTIAL_LIFE_S;
  const token = writeCloneCredential(deps, { ...run, expiresAt, saves: scope === "saved" });
  const base = deps.config.sandboxApiUrl ?? deps.config.publicUrl;
  return {
    repo_url: gitUrlOf(base, run.projectId),
    auth: { type: "basic", username: TOKEN_USER, token },
    expires_at: new Date(expiresAt * 1000).toISOString(),
  };
}

interface LiveRun {
  runId: string;
  projectId: string;
  /** The branch that its sandbox may push; null for a run without a session, which only reads. */
  branch: string | null;
  issuedFor: string;
}

/**
 * The starting or running run of a sandbox, by its service key or its session's project token.
 * @throws unauthorized, forbidden, not_found
 */
export async function runOf(
  deps: Deps,
  authorization: string | null,
  projectName: string,
  saves: boolean,
): Promise<LiveRun> {
  const key = /^bearer +(\S{1,256}) *$/i.exec(authorization ?? "")?.[1];
  if (key?.startsWith(SERVICE_KEY_PREFIX)) return await runOfKey(deps, key, projectName);
  const { caller, project } = await resolveProject(deps, { authorization }, projectName, "write");
  if (caller.kind === "user") {
    const sentence = "Clone credentials are for sandboxes. Clone with your own token as the password.";
    throw new SvcError("forbidden", sentence);
  }
  if (saves) throw new SvcError("forbidden", "Only the sandbox's daemon can save work.");
  const { projectId } = project;
  const branch = caller.sessionId && (await liveBranch(deps, projectId, caller.sessionId));
  if (!caller.sessionId || !branch)
    throw new SvcError(
      "forbidden",
      "This token does not belong to a running session. Only the sandbox of one gets a clone credential; others use their own token with svc's git gateway.",
    );
  return { runId: caller.sessionId, projectId, branch, issuedFor: caller.tokenId };
}

async function runOfKey(deps: Deps, key: string, projectName: string): Promise<LiveRun> {
  const serviceKeyHash = deps.keys.hashToken(key);
  const [row] = await deps.db
    .select({
      runId: runs.runId,
      projectId: runs.projectId,
      branch: projectSessions.branchName,
      status: runs.status,
    })
    .from(sessionSandboxes)
    .innerJoin(runs, eq(runs.runId, sessionSandboxes.runId))
    .leftJoin(projectSessions, eq(projectSessions.sessionId, runs.runId))
    .where(eq(sessionSandboxes.serviceKeyHash, serviceKeyHash));
  if (!row) throw unauthorized("The sandbox service key is unknown or was replaced.");
  if (!UUID.test(projectName))
    throw new SvcError("validation_failed", "The project must be given by its id, a UUID.");
  if (row.projectId !== projectName.toLowerCase()) {
    throw new SvcError("forbidden", "This sandbox belongs to another project.");
  }
  if (!isAlive(row))
    throw new SvcError(
      "forbidden",
      "The session of this sandbox has ended. Restart it: svc sessions restart <id>",
    );
  const { runId, projectId, branch } = row;
  return { runId, projectId, branch, issuedFor: serviceKeyHash };
}
