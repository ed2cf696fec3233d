import { sql } from "drizzle-orm";
import {
  foreignKey,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import type { AttachedFile, Attachment } from "../../src/contract/attachment.ts";
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
    attachments: jsonb("attachments").$type<AttachedFile[]>().notNull().default([]),
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

/** The content of the attachments of prompts that have not ended: afterwards the agent has it, and svc does not. */
export const promptAttachments = pgTable(
  "prompt_attachments",
  {
    sessionId: text("session_id").notNull(),
    promptId: uuid("prompt_id").notNull(),
    position: integer("position").notNull(),
    name: text("name").notNull(),
    type: text("type").$type<Attachment["type"]>().notNull(),
    /** In base64. */
    data: text("data").notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.sessionId, table.promptId, table.position] }),
    foreignKey({
      columns: [table.sessionId, table.promptId],
      foreignColumns: [sessionPrompts.sessionId, sessionPrompts.promptId],
      name: "prompt_attachments_prompt",
    }).onDelete("cascade"),
  ],
);
