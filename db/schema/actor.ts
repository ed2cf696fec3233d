import { jsonb } from "drizzle-orm/pg-core";

/**
 * Who acted for a user: the agent of a session, which is null where an earlier version has not kept it, or a script with
 * a project token. No actor: the user in person. It is kept as it was, also when the session or the token is gone.
 */
export type Actor = { kind: "agent"; sessionId: string | null } | { kind: "token"; name: string };

/** A column beside the one that names the user. */
export const actor = (name: string) => jsonb(name).$type<Actor>();
