import { type Static, Type } from "@sinclair/typebox";
import { nullable, oneOf } from "./schema.ts";

/** Why something waits for a person, the most urgent first. */
export const INBOX_REASONS = [
  "review_requested",
  "waiting",
  "review",
  "changes_requested",
  "conflicts",
  "checks_failed",
  "ready",
  "failed",
] as const;
export type InboxReason = (typeof INBOX_REASONS)[number];

/** Where a session is on the board. */
export const BOARD_STATES = ["working", "waiting", "review", "done"] as const;

const placed = {
  project_id: Type.String({ format: "uuid" }),
  project_slug: Type.String(),
  project_name: Type.String(),
  title: Type.String({ description: "The title of the session or the change request" }),
  url: Type.String({ description: "Its page" }),
  since: Type.String({ format: "date-time" }),
};

/** Something that waits for a person. */
export const inboxItem = Type.Object({
  reason: oneOf(INBOX_REASONS),
  ...placed,
  session_id: nullable(Type.String(), "Null if it is about a change request"),
  change_request: nullable(Type.Integer({ description: "Its number, if it is about one" })),
  text: Type.String({ description: "What it waits for, such as the question or the failed checks" }),
});
export type InboxItem = Static<typeof inboxItem>;

/** A session of the caller, at work or done in the last days. */
export const boardSession = Type.Object({
  state: oneOf(BOARD_STATES),
  ...placed,
  session_id: Type.String(),
  change_request: nullable(Type.Integer({ description: "Its open change request" })),
});
export type BoardSession = Static<typeof boardSession>;

/** Answer of `GET /v1/accounts/inbox`. */
export const inbox = Type.Object({
  items: Type.Array(inboxItem, { description: "By reason, the newest of each first" }),
  sessions: Type.Array(boardSession, { description: "The newest first" }),
  truncated: Type.Boolean({ description: "Whether there are more than these" }),
});
export type Inbox = Static<typeof inbox>;
