import { randomBytes } from "node:crypto";
import { and, eq, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { prepared } from "../../../db/prepared.ts";
import { accountMembers, modelKeys } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { MODEL_KEY_PREFIX } from "../../contract/token.ts";
import type { Deps } from "../../deps.ts";
import { createCache } from "../../lib/cache.ts";
import { firstModel } from "../../models/catalog.ts";
import { upstreamsOf } from "./stored-upstreams.ts";

/** The session that a key belongs to. */
export interface KeyHolder {
  sessionId: string;
  projectId: string;
  accountId: string;
  userId: string;
}

/**
 * How long a key is known to be valid. Each call checks it again in the statement that records it, so that a key which has
 * been revoked meanwhile can only list models and count tokens.
 */
const CACHE_MS = 1_000;
const CACHE_MAX = 10_000;

/** What a session's start gets of the model gateway. */
export interface ModelAccess {
  key: string;
  /** The models of sessions that do not choose one, by the format of their agent; null: the agent's own. */
  defaultModels: { openai: string | null; anthropic: string | null };
}

/**
 * Creates the key of a session's start in the transaction of its other keys, and revokes that of the last start.
 * @returns null when no upstream is configured
 */
export async function grantModels(
  deps: Pick<Deps, "keys" | "models" | "config">,
  tx: Db,
  holder: KeyHolder,
): Promise<ModelAccess | null> {
  await revokeModelKey(tx, holder.sessionId);
  const { own, server } = await upstreamsOf(deps, tx, holder.projectId);
  if (own.length + server.length === 0) return null;
  const key = MODEL_KEY_PREFIX + randomBytes(32).toString("base64url");
  await tx.insert(modelKeys).values({ ...holder, hash: deps.keys.hashToken(key) });
  const defaultModels = {
    openai: firstModel(own, "openai") ?? deps.config.defaultModel ?? firstModel(server, "openai"),
    anthropic: firstModel(own, "anthropic") ?? firstModel(server, "anthropic"),
  };
  return { key, defaultModels };
}

/** Deletes the key of a session, whose sandbox has ended. */
export async function revokeModelKey(tx: Db, sessionId: string): Promise<void> {
  await tx.delete(modelKeys).where(eq(modelKeys.sessionId, sessionId));
}

const BEARER = /^bearer +(\S{1,256}) *$/i;

/**
 * Finds the session of a request by its key, in `Authorization: Bearer` or `x-api-key`. Synchronous when it is cached.
 * @throws unauthorized, also when the session's user is no longer a member of the account
 */
export type FindKeyHolder = (header: (name: string) => string | null) => HeldKey | Promise<HeldKey>;

/** A key's hash and its session. */
export type HeldKey = KeyHolder & { hash: string };

export function createKeyFinder({ db, keys }: Deps): FindKeyHolder {
  const once = createCache<HeldKey>({ keepMs: CACHE_MS, max: CACHE_MAX }, () => true);
  return (header) => {
    const key = header("x-api-key") ?? BEARER.exec(header("authorization") ?? "")?.[1] ?? "";
    if (key === "")
      throw unauthorized("A key of the model gateway is required: Authorization: Bearer $SVC_LLM_API_KEY.");
    if (!key.startsWith(MODEL_KEY_PREFIX)) throw unknownKey();
    const hash = keys.hashToken(key);
    return once(hash, async () => {
      const [row] = await holderByHash(db).execute({ hash });
      if (!row) throw unknownKey();
      return { hash, ...row };
    });
  };
}

export function unknownKey(): SvcError {
  return unauthorized(
    "This key of the model gateway is unknown or revoked. Use SVC_LLM_API_KEY of a running session.",
  );
}

function unauthorized(sentence: string): SvcError {
  return new SvcError("unauthorized", sentence, {}, { "WWW-Authenticate": "Bearer" });
}

const holderByHash = prepared((db: Db) =>
  db
    .select({
      sessionId: modelKeys.sessionId,
      projectId: modelKeys.projectId,
      accountId: modelKeys.accountId,
      userId: modelKeys.userId,
    })
    .from(modelKeys)
    .innerJoin(
      accountMembers,
      and(eq(accountMembers.accountId, modelKeys.accountId), eq(accountMembers.userId, modelKeys.userId)),
    )
    .where(eq(modelKeys.hash, sql.placeholder("hash")))
    .prepare("model_key_holder"),
);
