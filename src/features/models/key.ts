import { randomBytes } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { accountMembers, accounts, modelKeys, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { MODEL_KEY_PREFIX } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";

/** The session that a key belongs to, and the limits of its account and project. */
export interface KeyHolder {
  sessionId: string;
  projectId: string;
  accountId: string;
  userId: string;
  budgets: {
    account: number | null;
    project: number | null;
    /** The lower of the account's and the project's. */
    session: number | null;
  };
}

/**
 * Creates the key of a session's start in the transaction of its other keys, and revokes that of the last start.
 * @returns null when no upstream is configured
 */
export async function mintModelKey(
  { keys, models }: Pick<Deps, "keys" | "models">,
  tx: Db,
  holder: Omit<KeyHolder, "budgets">,
): Promise<string | null> {
  await revokeModelKey(tx, holder.sessionId);
  if (models.upstreams().length === 0) return null;
  const key = MODEL_KEY_PREFIX + randomBytes(32).toString("base64url");
  await tx.insert(modelKeys).values({ ...holder, hash: keys.hashToken(key) });
  return key;
}

/** Deletes the key of a session, whose sandbox has ended. */
export async function revokeModelKey(tx: Db, sessionId: string): Promise<void> {
  await tx.delete(modelKeys).where(eq(modelKeys.sessionId, sessionId));
}

const BEARER = /^bearer +(\S{1,256}) *$/i;

/**
 * Finds the session of a request by its key, in `Authorization: Bearer` or `x-api-key`.
 * @throws unauthorized, also when the session's user is no longer a member of the account
 */
export async function findKeyHolder({ db, keys }: Deps, headers: Headers): Promise<KeyHolder> {
  const key = headers.get("x-api-key") ?? BEARER.exec(headers.get("authorization") ?? "")?.[1] ?? "";
  const [row] = key.startsWith(MODEL_KEY_PREFIX)
    ? await holderByHash(db).execute({ hash: keys.hashToken(key) })
    : [];
  if (!row) {
    const sentence =
      key === ""
        ? "A key of the model gateway is required: Authorization: Bearer $SVC_LLM_API_KEY."
        : "This key of the model gateway is unknown or revoked. Use SVC_LLM_API_KEY of a running session.";
    throw new SvcError("unauthorized", sentence, {}, { "WWW-Authenticate": "Bearer" });
  }
  const { sessionId, projectId, accountId, userId } = row;
  return {
    ...{ sessionId, projectId, accountId, userId },
    budgets: {
      account: row.accountBudget,
      project: row.projectBudget,
      session: lower(row.accountSessionBudget, row.projectSessionBudget),
    },
  };
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}

const holderByHash = prepared((db: Db) =>
  db
    .select({
      sessionId: modelKeys.sessionId,
      projectId: modelKeys.projectId,
      accountId: modelKeys.accountId,
      userId: modelKeys.userId,
      accountBudget: accounts.modelBudget,
      accountSessionBudget: accounts.modelSessionBudget,
      projectBudget: projects.modelBudget,
      projectSessionBudget: projects.modelSessionBudget,
    })
    .from(modelKeys)
    .innerJoin(accounts, eq(accounts.accountId, modelKeys.accountId))
    .innerJoin(projects, eq(projects.projectId, modelKeys.projectId))
    .innerJoin(
      accountMembers,
      and(eq(accountMembers.accountId, modelKeys.accountId), eq(accountMembers.userId, modelKeys.userId)),
    )
    .where(eq(modelKeys.hash, sql.placeholder("hash")))
    .prepare("model_key_holder"),
);
