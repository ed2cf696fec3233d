import { inArray } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import type { Actor } from "../../../db/schema/actor.ts";
import { users } from "../../../db/schema/index.ts";
import type { Author } from "../../contract/author.ts";
import type { Caller } from "./caller.ts";

/** Who acts for the caller's user: null for the user in person (contract: An actor). */
export function actorOf(caller: Caller): Actor | null {
  if (caller.kind === "user") return null;
  if (caller.sessionId !== null) return { kind: "agent", sessionId: caller.sessionId };
  return { kind: "token", name: caller.tokenName };
}

/** Who acted, also of rows of earlier versions: of those only that it was an agent is known, and maybe its session. */
export function recordedActor(
  recorded: Actor | null,
  isAgent: boolean,
  sessionId: string | null,
): Actor | null {
  return recorded ?? (isAgent ? { kind: "agent", sessionId } : null);
}

/** The names of users, by their ids; of one who is gone there is none. */
export async function namesOf(db: Db, userIds: readonly (string | null)[]): Promise<Map<string, string>> {
  const ids = [...new Set(userIds)].filter((id) => id !== null);
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ userId: users.userId, name: users.name })
    .from(users)
    .where(inArray(users.userId, ids));
  return new Map(rows.map(({ userId, name }) => [userId, name]));
}

/** An act's user and actor as they cross the wire. */
export function authorOf(names: ReadonlyMap<string, string>, userId: string, actor: Actor | null): Author {
  const name = names.get(userId) ?? "";
  if (actor === null) return { user_id: userId, name, kind: "user", session_id: null };
  if (actor.kind === "agent") return { user_id: userId, name, kind: "agent", session_id: actor.sessionId };
  return { user_id: userId, name: actor.name, kind: "token", session_id: null };
}
