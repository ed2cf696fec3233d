import { timingSafeEqual } from "node:crypto";
import { and, eq, isNull, or, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import {
  accountMembers,
  projectSessions,
  projects,
  runs,
  sessionSandboxes,
  tokens,
} from "../../../db/schema/index.ts";
import { isAlive } from "../../contract/session.ts";
import { CLONE_CREDENTIAL_PREFIX } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";
import type { Lookup } from "../../identity/auth/browser.ts";
import { type ProjectRow, unauthorized } from "../../identity/auth/caller.ts";

/** Fifteen minutes (contract: Accounts, tokens, projects, secrets). */
export const CLONE_CREDENTIAL_LIFE_S = 15 * 60;
const PURPOSE = "clone-credential";
const SAVES = "saves";

/**
 * The claims of a clone credential. It is signed, not stored: it is valid while its session is alive and the token or key
 * that it was issued for exists.
 */
export interface CloneClaims {
  runId: string;
  projectId: string;
  /** The session's branch; null for a run without a session. */
  branch: string | null;
  /** Seconds since 1970. */
  expiresAt: number;
  /** The project token's id, or the hash of the sandbox service key. */
  issuedFor: string;
  /** Only for saving the session's work, not for pushing branches. */
  saves?: boolean;
}

/** `svc_git_<claims>.<HMAC-SHA256 of them>`, both base64url. */
export function writeCloneCredential(deps: Pick<Deps, "keys">, claims: CloneClaims): string {
  const { runId, projectId, branch, expiresAt, issuedFor, saves } = claims;
  const text = JSON.stringify([runId, projectId, branch, expiresAt, issuedFor, ...(saves ? [SAVES] : [])]);
  const body = Buffer.from(text).toString("base64url");
  return `${CLONE_CREDENTIAL_PREFIX}${body}.${deps.keys.mac(PURPOSE, body).toString("base64url")}`;
}

/**
 * Verifies a clone credential.
 * @throws unauthorized when the credential is not from this server, has expired, or its session has ended.
 */
export async function resolveCloneCredential(
  deps: Lookup,
  credential: string,
): Promise<{
  project: ProjectRow;
  runId: string;
  branch: string | null;
  saves: boolean;
}> {
  const claims = readClaims(deps, credential);
  const { runId, projectId, branch, expiresAt, issuedFor, saves = false } = claims;
  if (expiresAt * 1000 <= deps.clock().getTime())
    throw unauthorized("The clone credential has expired; fetch a new one.");
  const [row] = await liveRun(deps.db).execute({ runId, projectId, issuedFor });
  const isIssued = row?.tokenId === issuedFor || row?.serviceKeyHash === issuedFor;
  if (!row || !isIssued || row.branch !== branch || !isAlive(row)) {
    throw unauthorized("The session of this clone credential has ended.");
  }
  return { project: row.project, runId, branch, saves };
}

const liveRun = prepared((db: Db) =>
  db
    .select({
      project: projects,
      branch: projectSessions.branchName,
      status: runs.status,
      serviceKeyHash: sessionSandboxes.serviceKeyHash,
      tokenId: tokens.tokenId,
    })
    .from(runs)
    .leftJoin(projectSessions, eq(projectSessions.sessionId, runs.runId))
    .innerJoin(projects, eq(projects.projectId, runs.projectId))
    .innerJoin(
      accountMembers,
      and(
        eq(accountMembers.accountId, projects.accountId),
        // a run without a session belongs to the project, not to a member
        or(eq(accountMembers.userId, projectSessions.createdBy), isNull(projectSessions.sessionId)),
      ),
    )
    .leftJoin(sessionSandboxes, eq(sessionSandboxes.runId, runs.runId))
    .leftJoin(
      tokens,
      and(eq(sql`${tokens.tokenId}::text`, sql.placeholder("issuedFor")), eq(tokens.sessionId, runs.runId)),
    )
    .where(and(eq(runs.runId, sql.placeholder("runId")), eq(runs.projectId, sql.placeholder("projectId"))))
    .prepare("live_run"),
);

function readClaims(deps: Pick<Deps, "keys">, credential: string): CloneClaims {
  const [body = "", signature = ""] = credential.slice(CLONE_CREDENTIAL_PREFIX.length).split(".");
  const expected = deps.keys.mac(PURPOSE, body);
  const given = Buffer.from(signature, "base64url");
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw unauthorized("The clone credential is not from this server.");
  }
  const claims: unknown = JSON.parse(Buffer.from(body, "base64url").toString());
  if (!Array.isArray(claims)) throw new Error("signed claims are not a list");
  const [runId, projectId, branch, expiresAt, issuedFor, use]: unknown[] = claims;
  if (
    typeof runId !== "string" ||
    typeof projectId !== "string" ||
    (branch !== null && typeof branch !== "string") ||
    typeof expiresAt !== "number" ||
    typeof issuedFor !== "string"
  ) {
    throw new Error("signed claims are malformed");
  }
  return { runId, projectId, branch, expiresAt, issuedFor, saves: use === SAVES };
}
