import { type Static, Type } from "@sinclair/typebox";
import { oneOf } from "./schema.ts";

/** Types of events of a project. */
export const EVENT_TYPES = [
  "change_request",
  "comment",
  "approval",
  "check",
  "session",
  "branch",
  "project",
  "secret",
  "trigger",
  "app",
  "connector",
  "connector_ask",
  "label",
] as const;
export const EVENT_ACTIONS = ["created", "changed", "deleted"] as const;

/**
 * The data of an event of `GET /v1/projects/:id/events`: a hint that something has changed, without its data.
 * `event:` is the type, `id:` the event's number for `Last-Event-ID`.
 */
export const projectEvent = Type.Object({
  type: oneOf(EVENT_TYPES),
  id: Type.String({ description: "The id; of a branch, secret or label, its name" }),
  number: Type.Optional(
    Type.Integer({ description: "The number of the change request that it is or belongs to" }),
  ),
  action: oneOf(EVENT_ACTIONS),
  at: Type.String({ format: "date-time" }),
});
export type ProjectEvent = Static<typeof projectEvent>;

/**
 * Control events of the same stream. `ready` comes first: the events that follow are newer than its id. `reset`: events
 * before its id are no longer stored, so the client must reload its data.
 */
export type StreamEvent = { type: "ready" | "reset"; seq: number };
