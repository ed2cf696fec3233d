import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { CR_STATUSES } from "./change-request.ts";
import { checksSummary } from "./commit-status.ts";
import { NAME_MAX, TRIES_MAX } from "./limits.ts";
import { RUNTIME_NAME } from "./runtimes.ts";
import { nullable, oneOf } from "./schema.ts";
import { createSessionBody, initialPrompt, session } from "./session.ts";

const uuid = Type.String({ format: "uuid" });
const { session_id: _, ...fields } = createSessionBody.properties;

/** Of the tries in turn: the first value for the first one, and from the start again. */
const inTurn = <Value extends TSchema>(what: string, value: Value) =>
  Type.Optional(
    Type.Array(value, {
      ...{ minItems: 1, maxItems: TRIES_MAX },
      description: `The ${what} of the tries, in turn: two of them for four sessions are used twice each`,
    }),
  );

/** Body of `POST /v1/projects/:id/tries`. With an id from the client, the request can be retried. */
export const createTriesBody = Type.Object({
  ...fields,
  initial_prompt: initialPrompt,
  runtimes: inTurn("agents", Type.String({ pattern: RUNTIME_NAME })),
  models: inTurn("models", Type.String({ minLength: 1, maxLength: NAME_MAX, pattern: "\\S" })),
  count: Type.Integer({ minimum: 2, maximum: TRIES_MAX, description: "The number of sessions" }),
  tries_id: Type.Optional(uuid),
});
export type CreateTriesBody = Static<typeof createTriesBody>;

/** One of several sessions that work on the same task, and how far it is. */
export const oneTry = Type.Object({
  session,
  change: nullable(
    Type.Object({
      head_sha: Type.String(),
      files_changed: Type.Integer(),
      additions: Type.Integer(),
      deletions: Type.Integer(),
    }),
    "What it has pushed, compared with its base; null if that cannot be read, for example before its branch exists",
  ),
  checks: checksSummary,
  change_request: nullable(
    Type.Object({ number: Type.Integer(), status: oneOf(CR_STATUSES) }),
    "The newest one of its branch",
  ),
});
export type OneTry = Static<typeof oneTry>;

/** Answer of `GET /v1/projects/:id/tries/:triesId`. */
export const tries = Type.Object({ tries_id: uuid, tries: Type.Array(oneTry) });
export type Tries = Static<typeof tries>;

/** Body of `POST /v1/projects/:id/tries/:triesId/choose`. */
export const chooseTryBody = Type.Object({ session_id: uuid });
