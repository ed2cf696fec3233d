import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { changeRequest } from "./change-request.ts";
import { PROMPT_MAX_BYTES } from "./limits.ts";

/** Contract: Manifest. */
export const TRIGGER_TYPES = ["cron", "webhook"] as const;

/** What made a trigger fire. */
export const FIRING_SOURCES = ["cron", "webhook", "manual"] as const;

/**
 * What became of a firing. `waiting`: for a place among the account's sessions; `skipped`: there was none for too long;
 * `missed`: nobody was there at the due times, or too late for them.
 */
export const FIRING_STATES = ["waiting", "fired", "failed", "skipped", "missed"] as const;

/** Firings that wait in one project: more would be fired long after anybody cares. */
export const WAITING_MAX = 1_000;
/** What waits longer than this is skipped, and a time that was due before is missed: in seconds. */
export const STALE_S = 3_600;

/** The largest body of a webhook, in bytes. */
export const WEBHOOK_MAX_BYTES = 1024 * 1024;

const text = Type.String();
const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });
const nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);
const oneOf = <T extends string>(values: readonly T[]) => Type.Unsafe<T>(Type.String({ enum: [...values] }));

/** A trigger as it stands in the manifest of the default branch, and when it fires. */
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
  last_error: nullable(Type.String({ description: "Why it did not fire when it last should have" })),
  webhook_url: nullable(text),
});
export type Trigger = Static<typeof trigger>;

/** One firing, or the due times between two that nobody fired. */
export const firing = Type.Object({
  firing_id: uuid,
  source: oneOf(FIRING_SOURCES),
  state: oneOf(FIRING_STATES),
  due_at: time,
  due_until: nullable(Type.String({ format: "date-time", description: "The last that was missed" })),
  session_id: nullable(Type.String({ description: "The session's, also while it is still to be made" })),
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
      Type.Array(text, { description: "Those that its sessions get, of those that are for them; null: all" }),
    ),
    firings: Type.Array(firing, { description: "The last, newest first" }),
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
  commit: nullable(Type.String({ description: "Of the default branch, whose manifest this is" })),
  failure: nullable(
    Type.String({ description: "Why the default branch could not be read when it was last tried" }),
  ),
});
export type TriggerList = Static<typeof triggerList>;

/** Body of `POST /v1/projects/:id/triggers/:slug/fire`; it may be left out. */
export const fireBody = Type.Object({
  text: Type.Optional(Type.String({ minLength: 1, maxLength: PROMPT_MAX_BYTES })),
});

/** `fired`: the session is there. `waiting`: it is made when the account has a place for it, under this id. */
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
 * Answer to it. `unchanged`: the default branch says so already. `merged`: it does now. `open`: it will when the change
 * request is merged; `reason` says why it is not.
 */
export const switched = Type.Object({
  slug: text,
  enabled: Type.Boolean({ description: "What was asked for" }),
  status: oneOf(["unchanged", "merged", "open"] as const),
  reason: nullable(text),
  change_request: nullable(changeRequest),
});
export type Switched = Static<typeof switched>;
