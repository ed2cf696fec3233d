import { integer, pgEnum, pgTable, text } from "drizzle-orm/pg-core";
import { SANDBOX_STATES } from "../../src/contract/session.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const sandboxState = pgEnum("sandbox_state", SANDBOX_STATES);

/** The sandbox of a session; the two share their id. */
export const sessionSandboxes = pgTable("session_sandboxes", {
  sessionId: text("session_id")
    .primaryKey()
    .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
  state: sandboxState("state").notNull(),
  /** HMAC-SHA256 of the sandbox service key, as of a token: a restart writes another. */
  serviceKeyHash: text("service_key_hash").notNull().unique("session_sandboxes_service_key_hash_unique"),
  /** The key itself, sealed for the project and this session: the API signs with it for the daemon. */
  serviceKey: text("service_key").notNull(),
  /** Of the session's starts, the one that this sandbox came from. */
  generation: integer("generation").notNull().default(1),
  /** Where the daemon listens, as the API reaches it; null while that is not known. */
  host: text("host"),
  port: integer("port"),
  createdAt: time("created_at").notNull().defaultNow(),
  updatedAt: time("updated_at").notNull().defaultNow(),
});
