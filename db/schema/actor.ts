import { jsonb } from "drizzle-orm/pg-core";

/**
 * Who acted for a user: the agent of a session, or a script with a project token. The session is null if an earlier
 * version did not record it. No actor: the user in person. It is kept when the session or the token is deleted.
 */
export type Actor = { kind: "agent"; sessionId: string | null } | { kind: "token"; name: string };

/** A column beside the one that names the user. */
export const actor = (name: string) => jsonb(name).$type<Actor>();
