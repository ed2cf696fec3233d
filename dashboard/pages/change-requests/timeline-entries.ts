import type { TimelineEvent } from "../../../src/contract/timeline.ts";
import { timelineActor, timelineText } from "../../../src/contract/timeline-text.ts";
import type { Thread } from "./threads.ts";

/** A line of the timeline: consecutive events about the same, by the same person, are one. */
export interface EventLine {
  kind: "event";
  /** Of its first event. */
  id: number;
  /** Of its first event, which decides its look. */
  event: TimelineEvent["event"];
  /** Of its first event. */
  at: string;
  who: string;
  text: string;
  /** What a review says has to change. */
  body: string | null;
  /** Of a push, once they are counted. */
  commits: number | null;
  /** The number of the head before a push, from which its diff begins. */
  since: number | null;
}

/** What the conversation has, in its order. */
export type Entry = { kind: "thread"; at: string; thread: Thread } | EventLine;

/** Event lines that are shown at first; the page offers the earlier ones. */
export const LINES_SHOWN = 100;

/**
 * Threads and events in the order in which they began. The page itself says who opened the change request.
 * @param shown of the newest event lines
 * @returns the entries, and how many earlier event lines are left out
 */
export function entriesOf(
  threads: readonly Thread[],
  events: readonly TimelineEvent[],
  shown: number,
): { entries: Entry[]; hidden: number } {
  const lines = events.filter(({ event }) => event !== "opened").map(lineOf);
  const all = [
    ...lines,
    ...threads.map((thread): Entry => ({ kind: "thread", at: thread.first.created_at, thread })),
  ].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  const entries: Entry[] = [];
  for (const next of all) {
    const last = entries.at(-1);
    if (last?.kind === "event" && next.kind === "event" && areOne(last, next))
      entries[entries.length - 1] = joined(last, next);
    else entries.push(next);
  }
  const hidden = Math.max(0, entries.filter(({ kind }) => kind === "event").length - shown);
  let left = hidden;
  return { entries: entries.filter(({ kind }) => kind === "thread" || left-- <= 0), hidden };
}

function joined(last: EventLine, next: EventLine): EventLine {
  if (last.commits === null || next.commits === null) return { ...last, text: `${last.text}, ${next.text}` };
  const commits = last.commits + next.commits;
  return { ...last, commits, text: `pushed ${commits} commits` };
}

function lineOf(event: TimelineEvent): EventLine {
  return {
    ...{ kind: "event", id: event.id, event: event.event, at: event.created_at },
    ...{ who: timelineActor(event), text: timelineText(event), body: event.body ?? null },
    commits: event.commits ?? null,
    since: event.head === undefined ? null : event.head - 1,
  };
}

/** Events that share a line, by what they are about. */
const FOLDED: Partial<Record<TimelineEvent["event"], string>> = {
  pushed: "push",
  labeled: "label",
  unlabeled: "label",
  assigned: "assignee",
  unassigned: "assignee",
  review_requested: "reviewer",
  review_request_removed: "reviewer",
  suggestion_applied: "thread",
  thread_resolved: "thread",
  thread_reopened: "thread",
};

/** A push whose commits are not counted yet stays a line of its own. */
function areOne(last: EventLine, next: EventLine): boolean {
  const kind = FOLDED[next.event];
  const isCounted = kind !== "push" || (last.commits !== null && next.commits !== null);
  return kind !== undefined && kind === FOLDED[last.event] && last.who === next.who && isCounted;
}
