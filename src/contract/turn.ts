import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { attachedFile } from "./prompt.ts";
import { nullable, oneOf } from "./schema.ts";
import { PERMISSION_REPLIES } from "./session.ts";
import { costUsed, tokensUsed } from "./usage.ts";

/**
 * `working` while the agent answers, `done` when it has finished. Otherwise the turn ended early: it failed, was aborted,
 * or was cut off with its sandbox.
 */
export const TURN_STATES = ["working", "done", "failed", "aborted", "interrupted"] as const;
export type TurnState = (typeof TURN_STATES)[number];

/** What a person said and attached; what the agent wrote, thought, did and plans; and what it asked a person. */
export const PART_KINDS = [
  "prompt",
  "text",
  "reasoning",
  "tool",
  "file",
  "plan",
  "question",
  "permission",
] as const;
export type PartKind = (typeof PART_KINDS)[number];

/**
 * `running` also before the agent has written all of a tool's input, and while it waits for a person. `failed` also if a
 * person rejected what it asked.
 */
export const PART_STATES = ["running", "done", "failed", "interrupted"] as const;

const time = Type.String({ format: "date-time" });

/** A use of a tool. Each text is cut at `DETAIL_MAX` characters. */
export const toolUse = Type.Object({
  name: Type.String({ description: "As the agent runtime calls it, such as `bash` or `edit`" }),
  title: Type.String({ description: "One line: the command, the file or the pattern" }),
  input: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  output: Type.String(),
  error: nullable(Type.String()),
  files: Type.Array(
    Type.Object({
      path: Type.String(),
      additions: nullable(Type.Integer()),
      deletions: nullable(Type.Integer()),
    }),
    { description: "The files that it reports as changed" },
  ),
  patch: Type.String({ description: "The change that it reports, as a unified diff" }),
});
export type TurnTool = Static<typeof toolUse>;

export const PLAN_STATES = ["pending", "in_progress", "completed", "cancelled"] as const;

/** The whole plan, each time the agent changes it. */
export const plan = Type.Array(Type.Object({ text: Type.String(), state: oneOf(PLAN_STATES) }));
export type TurnPlan = Static<typeof plan>;

/** What the agent asked a person, and the answer. */
export const turnRequest = Type.Object({
  request_id: Type.String({
    description: "Of the permission request, or of the tool call that asks the questions",
  }),
  permission: nullable(
    Type.String({ description: "What it asked to be allowed, such as `bash`; null for questions" }),
  ),
  patterns: Type.Array(Type.String({ description: "Which commands, files or addresses" })),
  reply: nullable(
    oneOf(PERMISSION_REPLIES),
    "The answer to a permission request; null also if svc did not see it",
  ),
  questions: Type.Array(
    Type.Object({
      question: Type.String(),
      options: Type.Array(Type.Object({ label: Type.String(), description: Type.String() })),
      answers: Type.Array(Type.String({ description: "The chosen labels, or free text" })),
    }),
  ),
  answered_by: nullable(author, "Null also for an answer that was sent to the agent runtime directly"),
});
export type TurnRequest = Static<typeof turnRequest>;

/** One piece of a turn. */
export const turnPart = Type.Object({
  part_id: Type.String(),
  number: Type.Integer({ description: "Its place in the conversation; numbers may be missing" }),
  parent_id: nullable(Type.String(), "The part that started the subagent which did this"),
  kind: oneOf(PART_KINDS),
  state: oneOf(PART_STATES),
  text: Type.String({ description: "Of a prompt, a text or a thought; empty for the other kinds" }),
  tool: nullable(toolUse),
  file: nullable(
    attachedFile,
    "Of kind `file`: what was attached to the prompt. svc does not keep its content",
  ),
  plan: nullable(plan),
  request: nullable(turnRequest, "Of a question or a permission request"),
  cut: Type.Boolean({ description: "Whether svc kept only the beginning of it" }),
  brief: Type.Boolean({
    description: "Whether input, output and patch of the tool were left out, as `brief=true` asks for",
  }),
  at: time,
});
export type TurnPart = Static<typeof turnPart>;

const fields = {
  turn_id: Type.String(),
  session_id: Type.String(),
  number: Type.Integer({ description: "Its place among the turns of the session, from 1" }),
  prompt_id: nullable(
    Type.String({ format: "uuid" }),
    "The prompt of svc that it answers; null for a message that was sent to the agent runtime directly",
  ),
  author: nullable(author),
  state: oneOf(TURN_STATES),
  error: nullable(Type.String({ description: "Why it ended early, as a sentence" })),
  retry: nullable(
    Type.Object({
      attempt: Type.Integer({ description: "The number of failed attempts" }),
      message: Type.String(),
      at: nullable(time, "When the next attempt is made"),
    }),
    "While the model does not answer, and the agent runtime tries again",
  ),
  sandbox: Type.Integer({ description: "The number of the session's start whose sandbox answers it" }),
  model: nullable(Type.String()),
  tokens: nullable(tokensUsed, "As the agent runtime reports them"),
  cost: costUsed,
  started_at: time,
  ended_at: nullable(time),
};

/** A turn without its parts, as the stream sends it. */
export const turnChange = Type.Object(fields);
export type TurnChange = Static<typeof turnChange>;

/** A prompt, and all that the agent did to answer it. */
export const turn = Type.Object({ ...fields, parts: Type.Array(turnPart) });
export type Turn = Static<typeof turn>;

/** Query of both ways to read a conversation. */
export const conversationQuery = {
  brief: Type.Optional(
    Type.Literal("true", {
      description:
        "Leaves out input, output and patch of tools where they are long; `…/conversation/parts/:part_id` has them",
    }),
  ),
};

/** Answer of `GET /v1/projects/:id/sessions/:sid/conversation`. */
export const conversationPage = Type.Object({
  turns: Type.Array(turn, {
    description:
      "The newest parts, grouped by their turns, in order. A turn may have earlier parts on the next page.",
  }),
  next_cursor: Type.Optional(Type.String()),
  event_id: Type.String({ description: "The `Last-Event-ID` that continues after this page's state" }),
});
export type ConversationPage = Static<typeof conversationPage>;

/**
 * What `GET …/conversation/events` sends, one JSON an event; `event:` is the type, `id:` a cursor for `Last-Event-ID`.
 * `part` replaces what was sent of that part; `text` continues it, after its first `from` characters (UTF-16).
 */
export const conversationEvent = Type.Union([
  Type.Object({ type: Type.Literal("turn"), turn: turnChange }),
  Type.Object({ type: Type.Literal("part"), turn_id: Type.String(), part: turnPart }),
  Type.Object({
    type: Type.Literal("text"),
    turn_id: Type.String(),
    part_id: Type.String(),
    from: Type.Integer(),
    text: Type.String(),
  }),
  Type.Object({ type: Type.Literal("deleted"), session_id: Type.String() }),
]);
export type ConversationStreamEvent = Static<typeof conversationEvent>;
