import { inArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import type { Actor } from "../../../db/schema/actor.ts";
import { users } from "../../../db/schema/index.ts";
import type { Author } from "../../contract/author.ts";
import type { Caller } from "./caller.ts";

/** The actor on behalf of the caller's user; null for the user themselves (contract: An actor). */
export function actorOf(caller: Caller): Actor | null {
  if (caller.kind === "user") return null;
  if (caller.sessionId !== null) return { kind: "agent", sessionId: caller.sessionId };
  return { kind: "token", name: caller.tokenName };
}

/** The actor of a row. Rows of earlier versions only have `isAgent`, and perhaps the session. */
export function recordedActor(
  recorded: Actor | null,
  isAgent: boolean,
  sessionId: string | null,
): Actor | null {
  return recorded ?? (isAgent ? { kind: "agent", sessionId } : null);
}

/** Ids → names of users; without deleted users. */
export async function namesOf(db: Db, userIds: readonly (string | null)[]): Promise<Map<string, string>> {
  const ids = [...new Set(userIds)].filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ userId: users.userId, name: users.name })
    .from(users)
    .where(inArray(users.userId, ids));
  return new Map(rows.map(({ userId, name }) => [userId, name]));
}

/** A user and actor as the API returns them. */
export function authorOf(names: ReadonlyMap<string, string>, userId: string, actor: Actor | null): Author {
  const name = names.get(userId) ?? "";
  if (actor === null) return { user_id: userId, name, kind: "user", session_id: null };
  if (actor.kind === "agent") return { user_id: userId, name, kind: "agent", session_id: actor.sessionId };
  return { user_id: userId, name: actor.name, kind: "token", session_id: null };
}
