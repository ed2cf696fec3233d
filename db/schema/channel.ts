import { sql } from "drizzle-orm";
import { index, integer, jsonb, pgEnum, pgTable, text, unique, uuid } from "drizzle-orm/pg-core";
import { CHANNEL_KINDS } from "../../src/contract/channel.ts";
import { users } from "./account.ts";
import { projects } from "./project.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const channelKind = pgEnum("channel_kind", CHANNEL_KINDS);
export const channelTaskKind = pgEnum("channel_task_kind", ["message", "click", "relay"]);

/** Workspaces of chat services that are connected to a project. */
export const channels = pgTable(
  "channels",
  {
    channelId: uuid("channel_id").primaryKey(),
    projectId: uuid("project_id")
      .notNull()
      .references(() => projects.projectId, { onDelete: "cascade" }),
    kind: channelKind("kind").notNull(),
    teamId: text("team_id").notNull(),
    teamName: text("team_name").notNull(),
    appId: text("app_id").notNull(),
    botUserId: text("bot_user_id").notNull(),
    /** The only channel of the workspace that is connected; empty: all of them. */
    room: text("room").notNull(),
    /** Sealed, bound to project and channel. */
    botToken: text("bot_token").notNull(),
    signingSecret: text("signing_secret").notNull(),
    createdBy: uuid("created_by").references(() => users.userId, { onDelete: "set null" }),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [
    index("channels_project_id").on(table.projectId),
    unique("channels_team_app_room").on(table.teamId, table.appId, table.room),
  ],
);

/** Threads of a chat, each of which is a session. */
export const channelThreads = pgTable(
  "channel_threads",
  {
    threadId: uuid("thread_id").primaryKey().defaultRandom(),
    channelId: uuid("channel_id")
      .notNull()
      .references(() => channels.channelId, { onDelete: "cascade" }),
    /** The channel or conversation of the workspace, and the first message of the thread. */
    room: text("room").notNull(),
    ts: text("ts").notNull(),
    sessionId: text("session_id")
      .notNull()
      .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    /** Change requests that were posted, by number: the message, and what it shows. */
    posted: jsonb("posted").$type<Record<string, { ts: string; shown: string }>>().notNull().default({}),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [
    unique("channel_threads_room_ts").on(table.channelId, table.room, table.ts),
    index("channel_threads_session_id").on(table.sessionId),
  ],
);

/**
 * What is to do for a chat: a message or a click to handle, a prompt to report on. Rows that are done stay for a while,
 * since their keys recognize what is sent again.
 */
export const channelTasks = pgTable(
  "channel_tasks",
  {
    taskId: uuid("task_id").primaryKey().defaultRandom(),
    channelId: uuid("channel_id")
      .notNull()
      .references(() => channels.channelId, { onDelete: "cascade" }),
    key: text("key").notNull(),
    kind: channelTaskKind("kind").notNull(),
    /** Null once it is done. */
    payload: jsonb("payload").$type<Record<string, unknown>>(),
    /** Of a relay: the server that reaches the session's sandbox does it. */
    sessionId: text("session_id").references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    /** When it may be started; while a server works on it, when its claim ends. Null: it is done. */
    dueAt: time("due_at"),
    /** Counts the claims, so that a server whose claim has ended changes nothing. */
    attempts: integer("attempts").notNull().default(0),
    /** Since the last success. */
    failures: integer("failures").notNull().default(0),
    createdAt: time("created_at").notNull().defaultNow(),
  },
  (table) => [
    unique("channel_tasks_key").on(table.channelId, table.key),
    index("channel_tasks_due").on(table.dueAt).where(sql`${table.dueAt} is not null`),
    index("channel_tasks_session_id").on(table.sessionId),
    index("channel_tasks_created_at").on(table.createdAt),
  ],
);
