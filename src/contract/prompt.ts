import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { ATTACHMENTS_MAX, ATTACHMENTS_MAX_BYTES, FILE_NAME_MAX, PROMPT_MAX_BYTES } from "./limits.ts";
import { oneOf } from "./schema.ts";

/**
 * `queued` until the agent starts it; `answered` when the agent has finished. Otherwise it ended without an answer: it
 * failed, was aborted or withdrawn, or its sandbox was stopped.
 */
export const PROMPT_STATES = ["queued", "running", "answered", "failed", "aborted", "interrupted"] as const;
export type PromptState = (typeof PROMPT_STATES)[number];

/** Queued prompts of one session. More are likely a mistake of a program. */
export const PROMPTS_QUEUED_MAX = 100;

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });
const optionalTime = Type.Union([time, Type.Null()]);

/** A file that was attached to a prompt, without its content. */
export const attachedFile = Type.Object({
  name: Type.String(),
  type: Type.String({ description: "The media type, by the content" }),
  size: Type.Integer({ description: "In bytes" }),
});

const fields = {
  prompt_id: uuid,
  session_id: uuid,
  number: Type.Integer({ description: "Its number among the prompts of the session, from 1" }),
  state: oneOf(PROMPT_STATES),
  error: Type.Union([Type.String({ description: "Why it was not answered, as a sentence" }), Type.Null()]),
  attachments: Type.Array(attachedFile),
  created_by: uuid,
  author,
  created_at: time,
  started_at: optionalTime,
  ended_at: optionalTime,
};

/** A prompt as it crosses the wire. */
export const prompt = Type.Object({
  ...fields,
  text: Type.String(),
  answer: Type.Union([
    Type.String({ description: "What the agent wrote at the end: its texts after its last use of a tool" }),
    Type.Null(),
  ]),
});
export type Prompt = Static<typeof prompt>;

/** A prompt in a stream of events, without the texts, which would be repeated. */
export const promptChange = Type.Omit(prompt, ["text", "answer"]);
export type PromptChange = Static<typeof promptChange>;

/** Body of `POST /v1/projects/:id/sessions/:sid/prompt`. With an id from the client, the request can be retried. */
/** Files that are sent with a prompt. */
export const attachments = Type.Optional(
  Type.Array(
    Type.Object({
      name: Type.String({ minLength: 1, maxLength: FILE_NAME_MAX }),
      data: Type.String({ minLength: 1, description: "The content, in base64" }),
    }),
    { maxItems: ATTACHMENTS_MAX, description: `At most ${ATTACHMENTS_MAX_BYTES} bytes together` },
  ),
);

export const createPromptBody = Type.Object({
  text: Type.String({ minLength: 1, maxLength: PROMPT_MAX_BYTES, pattern: "\\S" }),
  prompt_id: Type.Optional(uuid),
  attachments,
});
export type CreatePromptBody = Static<typeof createPromptBody>;
