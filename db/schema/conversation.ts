import {
  bigint,
  boolean,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgEnum,
  pgTable,
  primaryKey,
  serial,
  text,
  unique,
  uuid,
} from "drizzle-orm/pg-core";
import type { AttachedFile } from "../../src/contract/attachment.ts";
import {
  PART_KINDS,
  TURN_STATES,
  type TurnChange,
  type TurnPlan,
  type TurnRequest,
  type TurnTool,
} from "../../src/contract/turn.ts";
import type { TokensUsed } from "../../src/contract/usage.ts";
import { users } from "./account.ts";
import { bytes } from "./bytes.ts";
import { projectSessions } from "./session.ts";
import { time } from "./time.ts";

export const turnState = pgEnum("turn_state", TURN_STATES);
export const partKind = pgEnum("part_kind", PART_KINDS);

/** How far the stored conversation of a session is. Its row is locked by each change. */
export const conversations = pgTable("conversations", {
  /** The session in the rows of its turns and parts, and in their indexes: in each, its own id would be as long as the rest. */
  id: serial("id").notNull().unique("conversations_id"),
  sessionId: text("session_id")
    .primaryKey()
    .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
  /** Increases with each change; changed turns and parts get its new value. */
  version: bigint("version", { mode: "number" }).notNull().default(0),
  /** The last number of a turn, and of a part. */
  lastTurn: integer("last_turn").notNull().default(0),
  lastPart: integer("last_part").notNull().default(0),
  /** The size of all parts. */
  bytes: bigint("bytes", { mode: "number" }).notNull().default(0),
});

/** A prompt and its answer, by the id of the prompt's message in the agent runtime. */
export const conversationTurns = pgTable(
  "conversation_turns",
  {
    conversation: integer("conversation")
      .notNull()
      .references(() => conversations.id, { onDelete: "cascade" }),
    number: integer("number").notNull(),
    turnId: text("turn_id").notNull(),
    /** Without a foreign key: old prompts are removed, and their turns are kept. */
    promptId: uuid("prompt_id"),
    /** The generation of the run whose sandbox answered it. */
    generation: integer("generation").notNull(),
    state: turnState("state").notNull(),
    error: text("error"),
    retry: jsonb("retry").$type<TurnChange["retry"]>(),
    model: text("model"),
    tokens: jsonb("tokens").$type<TokensUsed>(),
    cost: doublePrecision("cost"),
    startedAt: time("started_at").notNull(),
    endedAt: time("ended_at"),
    version: bigint("version", { mode: "number" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.conversation, table.number] }),
    unique("conversation_turns_turn_id").on(table.conversation, table.turnId),
    index("conversation_turns_version").on(table.conversation, table.version),
    index("conversation_turns_prompt_id").on(table.conversation, table.promptId),
  ],
);

/** The pieces of the turns, by their ids in the agent runtime. */
export const conversationParts = pgTable(
  "conversation_parts",
  {
    conversation: integer("conversation")
      .notNull()
      .references(() => conversations.id, { onDelete: "cascade" }),
    number: integer("number").notNull(),
    partId: text("part_id").notNull(),
    turn: integer("turn").notNull(),
    /** The use of a tool that started the subagent whose part this is. */
    parentId: text("parent_id"),
    kind: partKind("kind").notNull(),
    isComplete: boolean("is_complete").notNull(),
    /** One of these two has the text (`stored-text.ts`). */
    plainText: text("text").notNull(),
    deflatedText: bytes("deflated_text"),
    tool: jsonb("tool").$type<TurnTool>(),
    file: jsonb("file").$type<AttachedFile>(),
    plan: jsonb("plan").$type<TurnPlan>(),
    request: jsonb("request").$type<Omit<TurnRequest, "answered_by">>(),
    /** Of a question or a permission request: whether a person rejected it. */
    isRejected: boolean("is_rejected").notNull().default(false),
    isCut: boolean("is_cut").notNull().default(false),
    /** The size of text, tool, file, plan and request. */
    bytes: integer("bytes").notNull(),
    at: time("at").notNull(),
    version: bigint("version", { mode: "number" }).notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.conversation, table.number] }),
    unique("conversation_parts_part_id").on(table.conversation, table.partId),
    index("conversation_parts_version").on(table.conversation, table.version),
    index("conversation_parts_turn").on(table.conversation, table.turn),
  ],
);

/** The agent's own record of a session's conversation, with which it continues in a new sandbox. */
export const agentRecords = pgTable("agent_records", {
  sessionId: text("session_id")
    .primaryKey()
    .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
  /** The agent whose record it is. */
  runtime: text("runtime").notNull(),
  /** The last turn in it, by the id of its prompt's message in the agent runtime. */
  turnId: text("turn_id").notNull(),
  /** The folder of the clone in the sandbox. */
  workspace: text("workspace").notNull(),
  /** A compressed tar in base64, sealed like a secret, bound to project and session. */
  record: text("record").notNull(),
  savedAt: time("saved_at").notNull(),
});

/** Who answered what agents asked. An answer that was sent to the agent runtime directly has no row. */
export const conversationAnswers = pgTable(
  "conversation_answers",
  {
    sessionId: text("session_id")
      .notNull()
      .references(() => projectSessions.sessionId, { onDelete: "cascade" }),
    requestId: text("request_id").notNull(),
    answeredBy: uuid("answered_by")
      .notNull()
      .references(() => users.userId),
    at: time("at").notNull(),
  },
  (table) => [primaryKey({ columns: [table.sessionId, table.requestId] })],
);
