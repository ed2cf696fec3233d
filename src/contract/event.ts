import { type Static, Type } from "@sinclair/typebox";

/** What a project's events are about. */
export const EVENT_TYPES = [
  "change_request",
  "comment",
  "approval",
  "session",
  "branch",
  "project",
  "secret",
  "trigger",
  "app",
] as const;
export const EVENT_ACTIONS = ["created", "changed", "deleted"] as const;

const oneOf = <T extends string>(values: readonly T[]) => Type.Unsafe<T>(Type.String({ enum: [...values] }));

/**
 * The data of an event of `GET /v1/projects/:id/events`: a hint that something is other than it was, and no copy of it.
 * `event:` is the type, `id:` the event's number for `Last-Event-ID`.
 */
export const projectEvent = Type.Object({
  type: oneOf(EVENT_TYPES),
  id: Type.String({ description: "The thing's id; of a branch or secret, its name" }),
  number: Type.Optional(Type.Integer({ description: "Of the change request that it is, or belongs to" })),
  action: oneOf(EVENT_ACTIONS),
  at: Type.String({ format: "date-time" }),
});
export type ProjectEvent = Static<typeof projectEvent>;

/**
 * What the same stream says of itself. `ready` comes first: what follows is newer than its id. `reset`: events before its
 * id are not kept any more, so whatever was shown has to be asked for anew.
 */
export type StreamEvent = { type: "ready" | "reset"; seq: number };
