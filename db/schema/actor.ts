import { jsonb } from "drizzle-orm/pg-core";

/**
 * Who acted for a user: the agent of a session (null: an earlier version has not kept which), or a script with a project token. Null: the user in person. It is kept
 * as it was, also when the session or the token is gone.
 */
export type Actor = { kind: "agent"; sessionId: string | null } | { kind: "token"; name: string };

/** A column beside the one that names the user. */
export const actor = (name: string) => jsonb(name).$type<Actor>();
