import type { TimelineEvent, TimelineEventName } from "./timeline.ts";

/** Digits of a commit in a sentence. */
const SHORT = 8;

/** Who did it: `Ada`, `an agent of Ada`, `the token "ci"`; empty when the sentence has no person in it. */
export function timelineActor({ event, actor }: TimelineEvent): string {
  if (event === "checks_completed") return "";
  if (actor?.kind === "token") return `the token "${actor.name}"`;
  if (actor) return actor.kind === "agent" ? `an agent of ${actor.name}` : actor.name;
  return BY_SOMEBODY.has(event) ? "somebody" : "svc";
}

/** What reaches the repository without svc; svc itself does the others that have no actor. */
const BY_SOMEBODY: ReadonlySet<TimelineEventName> = new Set(["pushed", "head_ref_force_pushed", "merged"]);

/** What an event is, after who did it: `pushed 2 commits`. It has names and titles unchanged: escape it. */
export function timelineText(event: TimelineEvent): string {
  return TEXTS[event.event](event);
}

const TEXTS: Readonly<Record<TimelineEventName, (event: TimelineEvent) => string>> = {
  opened: ({ from, to, number }) =>
    `wants to merge ${quoted(from)} into ${quoted(to)}${number === undefined ? "" : `, to revert #${number}`}`,
  pushed: ({ commits, to }) =>
    commits === undefined
      ? `pushed ${short(to)}`
      : `pushed ${commits} ${commits === 1 ? "commit" : "commits"}`,
  head_ref_force_pushed: ({ from, to }) => `force-pushed the branch from ${short(from)} to ${short(to)}`,
  base_ref_changed: ({ from, to }) => `changed the base from ${quoted(from)} to ${quoted(to)}`,
  automatic_base_change_succeeded: ({ from, to, number }) =>
    `merged #${number}, which changed the base from ${quoted(from)} to ${quoted(to)}`,
  renamed: ({ from, to }) => `changed the title from ${quoted(from)} to ${quoted(to)}`,
  convert_to_draft: () => "made it a draft",
  ready_for_review: () => "marked it as ready",
  reviewed: ({ state, commit_sha }) =>
    `${state === "approved" ? "approved" : "requested changes of"} ${short(commit_sha)}`,
  review_dismissed: dismissed,
  review_requested: ({ user }) => `requested a review from ${user?.name}`,
  review_request_removed: ({ user }) => `withdrew the request for a review from ${user?.name}`,
  assigned: (event) => `assigned ${isOwn(event) ? "themselves" : event.user?.name}`,
  unassigned: (event) => `unassigned ${isOwn(event) ? "themselves" : event.user?.name}`,
  labeled: ({ label }) => `added the label ${label?.name}`,
  unlabeled: ({ label }) => `removed the label ${label?.name}`,
  checks_completed: ({ state, commit_sha }) =>
    `checks of ${short(commit_sha)} ${state === "success" ? "passed" : "failed"}`,
  auto_merge_enabled: () => "turned on auto-merge",
  auto_merge_disabled: ({ reason }) => `turned off auto-merge${because(reason)}`,
  added_to_merge_queue: ({ branch }) => `added it to the merge queue of ${quoted(branch)}`,
  removed_from_merge_queue: ({ reason }) => `removed it from the merge queue${because(reason)}`,
  suggestion_applied: ({ commit_sha }) => `applied a suggestion in ${short(commit_sha)}`,
  closed: () => "closed it",
  reopened: () => "reopened it",
  merged: ({ commit_sha, branch }) =>
    `merged it${branch === undefined ? "" : ` into ${quoted(branch)}`} as ${short(commit_sha)}`,
  head_ref_deleted: ({ branch }) => `deleted the branch ${quoted(branch)}`,
  thread_resolved: () => "resolved a thread",
  thread_reopened: () => "reopened a thread",
  reverted: ({ number }) => `reverted it with #${number}`,
};

const short = (commit: string | undefined): string => commit?.slice(0, SHORT) ?? "";
const quoted = (text: string | undefined): string => `"${text ?? ""}"`;
const because = (reason: string | undefined): string => (reason === undefined ? "" : `: ${reason}`);

/** Whether a person did it to themselves. */
function isOwn({ actor, user }: TimelineEvent): boolean {
  return actor?.kind === "user" && actor.user_id === user?.user_id;
}

function dismissed(event: TimelineEvent): string {
  const what = event.state === "approved" ? "approval" : "request for changes";
  return isOwn(event) ? `withdrew their ${what}` : `dismissed the ${what} of ${event.user?.name}`;
}
