import { type Static, Type } from "@sinclair/typebox";
import { changeRequest } from "./change-request.ts";
import { PROMPT_MAX_BYTES } from "./limits.ts";
import { nullable, oneOf } from "./schema.ts";

/** Contract: Manifest. */
export const TRIGGER_TYPES = ["cron", "webhook"] as const;

/** The source of a firing. */
export const FIRING_SOURCES = ["cron", "webhook", "manual"] as const;

/**
 * The outcome of a firing. `waiting`: for a free session slot of the account; `skipped`: no slot was free for too long;
 * `missed`: no server was running at the due times.
 */
export const FIRING_STATES = ["waiting", "fired", "failed", "skipped", "missed"] as const;

/** Waiting firings of one project. */
export const WAITING_MAX = 1_000;
/** Seconds after which a waiting firing is skipped, and a due time is missed. */
export const STALE_S = 3_600;

/** The largest body of a webhook, in bytes. */
export const WEBHOOK_MAX_BYTES = 1024 * 1024;

const text = Type.String();
const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });

/** A trigger in the manifest of the default branch, and when it fires. */
export const trigger = Type.Object({
  slug: text,
  name: nullable(text),
  type: oneOf(TRIGGER_TYPES),
  agent: nullable(text),
  model: nullable(text),
  enabled: Type.Boolean(),
  cron: nullable(text),
  timezone: text,
  next_fire_at: nullable(time),
  last_fired_at: nullable(time),
  last_error: nullable(Type.String({ description: "Why the last firing failed" })),
  webhook_url: nullable(text),
});
export type Trigger = Static<typeof trigger>;

/** One firing, or a range of missed due times. */
export const firing = Type.Object({
  firing_id: uuid,
  source: oneOf(FIRING_SOURCES),
  state: oneOf(FIRING_STATES),
  due_at: time,
  due_until: nullable(Type.String({ format: "date-time", description: "The last missed time" })),
  session_id: nullable(Type.String({ description: "The id of the session, also before it is created" })),
  error: nullable(text),
  created_at: time,
  ended_at: nullable(time),
});
export type Firing = Static<typeof firing>;

/** Answer of `GET /v1/projects/:id/triggers/:slug`. */
export const triggerDetail = Type.Composite([
  trigger,
  Type.Object({
    prompt: text,
    secret_env: nullable(text),
    secrets: nullable(
      Type.Array(text, {
        description: "Limits the secrets that its sessions get; null: all that are for them",
      }),
    ),
    firings: Type.Array(firing, { description: "The last firings, newest first" }),
  }),
]);
export type TriggerDetail = Static<typeof triggerDetail>;

/** Answer of `GET /v1/projects/:id/triggers`. */
export const triggerList = Type.Object({
  triggers: Type.Array(trigger),
  errors: Type.Array(
    Type.Object({
      path: text,
      message: text,
      line: Type.Integer(),
      column: Type.Integer(),
      severity: oneOf(["error", "warning"] as const),
    }),
  ),
  commit: nullable(Type.String({ description: "The commit of the default branch with this manifest" })),
  failure: nullable(Type.String({ description: "Why the last read of the default branch failed" })),
});
export type TriggerList = Static<typeof triggerList>;

/** Body of `POST /v1/projects/:id/triggers/:slug/fire`; the body is optional. */
export const fireBody = Type.Object({
  text: Type.Optional(Type.String({ minLength: 1, maxLength: PROMPT_MAX_BYTES })),
});

/** `fired`: the session exists. `waiting`: it is created with this id when the account has a free slot. */
export const fired = Type.Object({
  status: oneOf(["fired", "waiting"] as const),
  session_id: uuid,
});
export type Fired = Static<typeof fired>;

/** Answer to a webhook. */
export const accepted = Type.Object({ status: Type.Literal("accepted"), session_id: uuid });
export type Accepted = Static<typeof accepted>;

/** Body of `PATCH /v1/projects/:id/triggers/:slug`. */
export const switchBody = Type.Object({ enabled: Type.Boolean() });

/**
 * Answer to it. `unchanged`: the trigger already has this state. `merged`: the change is merged. `open`: the change request
 * is open; `reason` says why it was not merged.
 */
export const switched = Type.Object({
  slug: text,
  enabled: Type.Boolean({ description: "The requested state" }),
  status: oneOf(["unchanged", "merged", "open"] as const),
  reason: nullable(text),
  change_request: nullable(changeRequest),
});
export type Switched = Static<typeof switched>;
