import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { REVIEW_STATES } from "./change-request.ts";
import { labelRef } from "./label.ts";
import { MERGE_METHODS } from "./merge-method.ts";
import { person } from "./people.ts";
import { nullable, oneOf } from "./schema.ts";

/** Events of a change request, by GitHub's names where it has them. */
export const TIMELINE_EVENTS = [
  "opened",
  "pushed",
  "head_ref_force_pushed",
  "base_ref_changed",
  "automatic_base_change_succeeded",
  "renamed",
  "convert_to_draft",
  "ready_for_review",
  "reviewed",
  "review_dismissed",
  "review_requested",
  "review_request_removed",
  "assigned",
  "unassigned",
  "labeled",
  "unlabeled",
  "checks_completed",
  "auto_merge_enabled",
  "auto_merge_disabled",
  "added_to_merge_queue",
  "removed_from_merge_queue",
  "suggestion_applied",
  "closed",
  "reopened",
  "merged",
  "head_ref_deleted",
  "reverted",
  "thread_resolved",
  "thread_reopened",
] as const;
export type TimelineEventName = (typeof TIMELINE_EVENTS)[number];

/** What an event is about, besides the change request and the actor. */
const about = {
  from: Type.Optional(
    Type.String({
      description:
        "Before: the title of `renamed`, the branch of a changed base, the commit of a push; the head branch of `opened`",
    }),
  ),
  to: Type.Optional(Type.String({ description: "The same after the event; the base branch of `opened`" })),
  head: Type.Optional(
    Type.Integer({ description: "The number of the head that a push made, as in `/heads`" }),
  ),
  commits: Type.Optional(
    Type.Integer({
      description: "How many commits `pushed` added, at most 1,000; absent when not known yet",
    }),
  ),
  commit_sha: Type.Optional(
    Type.String({ description: "What was reviewed, checked or committed, or the commit of the merge" }),
  ),
  state: Type.Optional(oneOf([...REVIEW_STATES, "success", "failure"] as const)),
  body: Type.Optional(Type.String({ description: "What a review says has to change" })),
  label: Type.Optional(labelRef),
  reason: Type.Optional(Type.String({ description: "Why svc did it" })),
  number: Type.Optional(
    Type.Integer({
      description:
        "The change request whose merge changed the base or reverted this one, or that `opened` reverts",
    }),
  ),
  method: Type.Optional(oneOf(MERGE_METHODS)),
  comment_id: Type.Optional(
    Type.String({
      format: "uuid",
      description: "The comment with the suggestion, or the first of the thread",
    }),
  ),
  branch: Type.Optional(Type.String({ description: "The branch that was deleted, or of the merge queue" })),
};

/** An event of `GET …/change-requests/:crId/timeline`. */
export const timelineEvent = Type.Object({
  id: Type.Integer({ minimum: 1, description: "Orders the events of a change request" }),
  event: oneOf(TIMELINE_EVENTS),
  actor: nullable(author, "Null: svc itself, or who did it is not known"),
  created_at: Type.String({ format: "date-time" }),
  user: Type.Optional(
    Type.Object(person.properties, {
      description: "Who is assigned or asked for a review, or whose review was dismissed",
    }),
  ),
  ...about,
});
export type TimelineEvent = Static<typeof timelineEvent>;

/** What is stored of an event, besides when and by whom. */
const stored = Type.Object(about);
export type TimelineData = Static<typeof stored> & { user_id?: string };
