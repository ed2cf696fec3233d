import { sql } from "drizzle-orm";
import { index, integer, pgEnum, pgTable, primaryKey, text, unique, uuid } from "drizzle-orm/pg-core";
import { PROMPT_STATES } from "../../src/contract/prompt.ts";
import { users } from "./account.ts";
import { actor } from "./actor.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const promptState = pgEnum("prompt_state", PROMPT_STATES);

/** The prompts of a session: the history, and the queue. */
export const sessionPrompts = pgTable(
  "session_prompts",
  {
    sessionId: text("session_id")
      .notNull()
      .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    /** Chosen by the client, so it is only unique in its session. */
    promptId: uuid("prompt_id").notNull(),
    number: integer("number").notNull(),
    text: text("text").notNull(),
    state: promptState("state").notNull().default("queued"),
    error: text("error"),
    /** The generation of the run whose sandbox received it. */
    generation: integer("generation"),
    createdBy: uuid("created_by")
      .notNull()
      .references(() => users.userId),
    createdActor: actor("created_actor"),
    createdAt: time("created_at").notNull().defaultNow(),
    /** When the sandbox had accepted it; null before, also while it is being sent. */
    startedAt: time("started_at"),
    endedAt: time("ended_at"),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.promptId] }),
    unique("session_prompts_number").on(table.sessionId, table.number),
    // those that have not ended
    index("session_prompts_open").on(table.sessionId).where(sql`${table.endedAt} is null`),
  ],
);
