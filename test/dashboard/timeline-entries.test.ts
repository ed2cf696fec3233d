import { expect, test } from "bun:test";
import { threadsOf } from "../../dashboard/pages/change-requests/threads.ts";
import { entriesOf } from "../../dashboard/pages/change-requests/timeline-entries.ts";
import type { TimelineEvent } from "../../src/contract/timeline.ts";
import { ADA } from "../helpers/authors.ts";
import { comment } from "../helpers/cli-api.ts";

const BOB = { ...ADA, user_id: crypto.randomUUID(), name: "Bob" };
const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const label = (name: string) => ({ label: { name, color: "d73a4a" } });

/** Events a minute apart. */
const events = (...given: (Partial<TimelineEvent> & Pick<TimelineEvent, "event">)[]) =>
  given.map((event, n): TimelineEvent => ({ id: n + 1, actor: ADA, created_at: at(n), ...event }));
const push = (head: number, commits?: number): Partial<TimelineEvent> & Pick<TimelineEvent, "event"> => ({
  ...{ event: "pushed", head, from: "a".repeat(40), to: "b".repeat(40) },
  ...(commits !== undefined && { commits }),
});

/** The lines, and `-` for a thread. */
const shown = (given: TimelineEvent[], threadsAt: number[] = [], limit = 100) => {
  const threads = threadsOf(
    threadsAt.map((minute) => comment({ comment_id: `at ${minute}`, created_at: at(minute) })),
  );
  const { entries, hidden } = entriesOf(threads, given, limit);
  const lines = entries.map((entry) => (entry.kind === "thread" ? "-" : `${entry.who} ${entry.text}`));
  return { lines, hidden, since: entries.map((entry) => (entry.kind === "thread" ? null : entry.since)) };
};

test("consecutive pushes, labels and people of one person are one line, and begin at the first", () => {
  const all = events(
    { event: "opened" },
    push(2, 1),
    push(3, 2),
    { event: "labeled", ...label("bug") },
    { event: "unlabeled", ...label("ui") },
    { event: "labeled", ...label("x"), actor: BOB },
    push(4, 1),
  );
  expect(shown(all)).toEqual({
    lines: [
      "Ada pushed 3 commits",
      "Ada added the label bug, removed the label ui",
      "Bob added the label x",
      "Ada pushed 1 commit",
    ],
    hidden: 0,
    since: [1, null, null, 3],
  });
});

test("a comment, another person or an unknown number of commits parts them", () => {
  const all = events(push(2, 1), push(3, 1), push(4), { ...push(5, 1), actor: BOB }, push(6, 1));
  expect(shown(all, [0.5]).lines).toEqual([
    "Ada pushed 1 commit",
    "-",
    "Ada pushed 1 commit",
    "Ada pushed bbbbbbbb",
    "Bob pushed 1 commit",
    "Ada pushed 1 commit",
  ]);
});

test("the newest lines are shown, and all comments", () => {
  const all = events({ event: "closed" }, { event: "reopened" }, { event: "closed" }, { event: "reopened" });
  expect(shown(all, [0.5, 1.5], 2)).toMatchObject({
    lines: ["-", "-", "Ada closed it", "Ada reopened it"],
    hidden: 2,
  });
});
