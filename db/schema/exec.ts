import { boolean, index, jsonb, pgTable, text, uuid } from "drizzle-orm/pg-core";
import { users } from "./account.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

/** The commands that people have run in sandboxes: who ran what, and when. */
export const sessionExecs = pgTable(
  "session_execs",
  {
    execId: uuid("exec_id").primaryKey(),
    sessionId: text("session_id")
      .notNull()
      .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    userId: uuid("user_id")
      .notNull()
      .references(() => users.userId),
    /** The program and its arguments; empty: a shell. */
    command: jsonb("command").$type<readonly string[]>().notNull(),
    tty: boolean("tty").notNull(),
    createdAt: time("created_at").notNull(),
  },
  (table) => [index("session_execs_session_id").on(table.sessionId, table.createdAt)],
);
