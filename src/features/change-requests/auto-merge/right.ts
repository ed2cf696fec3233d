import { and, eq } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { accountMembers, autoMerges, tokens } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import type { AutoMergeRow } from "./row.ts";

/**
 * The caller as which svc merges: who asked for the merge, with the rights that they have now.
 * @throws forbidden when they have left the account, or their token is gone
 */
export async function callerFor(
  db: Db,
  { accountId, projectId }: Pick<ProjectRow, "accountId" | "projectId">,
  { userId, tokenId }: Pick<AutoMergeRow, "userId" | "tokenId">,
  now: Date,
): Promise<Caller> {
  const isMember = and(eq(accountMembers.accountId, accountId), eq(accountMembers.userId, userId));
  if ((await db.$count(accountMembers, isMember)) === 0)
    throw new SvcError("forbidden", "The person who asked for the merge has left the account.");
  if (tokenId === null) return { kind: "user", userId, tokenId, expiresAt: null };
  const [token] = await db
    .select()
    .from(tokens)
    .where(and(eq(tokens.tokenId, tokenId), eq(tokens.projectId, projectId), eq(tokens.userId, userId)));
  if (!token || (token.expiresAt !== null && token.expiresAt <= now))
    throw new SvcError("forbidden", "The token that asked for the merge has expired or was revoked.");
  const { name: tokenName, expiresAt, sessionId } = token;
  return { kind: "project", userId, tokenId, tokenName, expiresAt, projectId, sessionId };
}

/**
 * Verifies that the auto-merge of which this is a try is still on, and was not turned on anew.
 * @param tx has locked the row of the change request
 * @throws forbidden
 */
export async function requireStillOn(
  tx: Db,
  { crId, headSha, userId, createdAt }: Pick<AutoMergeRow, "crId" | "headSha" | "userId" | "createdAt">,
): Promise<void> {
  const [row] = await tx.select().from(autoMerges).where(eq(autoMerges.crId, crId));
  const isSame =
    row?.offReason === null &&
    row.headSha === headSha &&
    row.userId === userId &&
    row.createdAt.getTime() === createdAt.getTime();
  if (!isSame) throw new SvcError("forbidden", "Auto-merge was turned off.");
}
