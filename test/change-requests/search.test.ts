import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import type { Db } from "../../db/client.ts";
import {
  changeRequestApprovals,
  changeRequestLabels,
  changeRequestPeople,
  changeRequests,
  commitStatuses,
  labels,
  mergeVerdicts,
  projects,
} from "../../db/schema/index.ts";
import { rangeOf } from "../../src/contract/search/dates.ts";
import { parseSearch, printSearch, type Search, type Term } from "../../src/contract/search/parse.ts";
import type { Sort } from "../../src/contract/search/qualifiers.ts";
import { conditionOf } from "../../src/features/change-requests/search/conditions.ts";
import { daysOf } from "../../src/features/change-requests/search/days.ts";
import { find } from "../../src/features/change-requests/search/find.ts";
import { labelsIn } from "../../src/features/change-requests/search/labels.ts";
import { type Key, readKey, writeKey } from "../../src/features/change-requests/search/order.ts";
import { peopleOf } from "../../src/features/change-requests/search/people.ts";
import { encodeCursor } from "../../src/http/page.ts";
import { type AccountRows, openAccountRows, there } from "../helpers/account-rows.ts";
import { generator, SEED, sample, share } from "../helpers/random.ts";

/** More than are read before the index is, and with numbers in several of its blocks. */
const ROWS = 3000;
const GAP = 20;
const OTHERS = 200;
const GIT = "2.50.0";
const DAY_MS = 86_400_000;
const START = Date.UTC(2025, 10, 20);

type Row = typeof changeRequests.$inferSelect;
/** What is stored beside a row. */
interface Beside {
  reviews: { userId: string; state: "approved" | "changes_requested"; isOfHead: boolean }[];
  checks: { context: string; state: "success" | "failure" | "pending" | "error" }[];
  canMerge: boolean | null;
  labels: (keyof typeof LABELS)[];
  assignees: string[];
  reviewers: string[];
}

/** How many of a hundred rows have each: of the first, an index has more rows than are sorted. */
const LABELS = { common: 80, "two words": 20, rare: 1 } as const;

const random = generator(SEED);
const pick = <T>(from: readonly T[]): T => there(from[random(from.length)]);
const some = (percent: number) => random(100) < percent;

const WORDS =
  'Fix fix login LOGIN 100% a_b a\\b it\'s "so" é É 日本語 日本 \u202eabc שלום x zz --flag #7 #12 is:open 12:30 \ud83d\ude80 🚀'.split(
    " ",
  );
const RARE = ["quokka", "ß", "鯨"];

let rows: AccountRows;
let db: Db;
let project: typeof projects.$inferSelect;
let people: Record<"ada" | "bob" | "cleo" | "gone", string>;
let all: (Row & Beside)[];

beforeAll(async () => {
  rows = await openAccountRows();
  ({ db } = rows.deps);
  const [ada, bob] = [await rows.user("ada"), await rows.user("bob")];
  const [cleo, gone] = [await rows.user("cleo l"), await rows.user("gone")];
  people = { ada, bob, cleo, gone };
  const accountId = await rows.account("a", { [ada]: "owner", [bob]: "member", [cleo]: "member" });
  const projectId = await rows.project(accountId, "p");
  const rules = { requiredApprovals: 1, requiredChecks: ["test"] };
  [project = project] = await db
    .update(projects)
    .set(rules)
    .where(eq(projects.projectId, projectId))
    .returning();
  const otherId = await rows.project(accountId, "other");
  await insert(accountId, otherId, OTHERS);
  all = await insert(accountId, projectId, ROWS);
});
afterAll(() => rows.database.close());

const sha = (kind: string, number: number) => kind + number.toString(16).padStart(39, "0");

async function insert(accountId: string, projectId: string, count: number): Promise<(Row & Beside)[]> {
  const besides: Beside[] = [];
  const values = Array.from({ length: count }, (_, index): typeof changeRequests.$inferInsert => {
    const number = index * GAP + 1;
    const status = pick(["open", "open", "open", "merged", "closed"] as const);
    const createdAt = new Date(START + index * 3_600_000);
    // several at one moment
    const updatedAt = new Date(createdAt.getTime() + random(50) * DAY_MS);
    besides.push(beside(status));
    return {
      ...{ accountId, projectId, number, status, createdAt, updatedAt, draft: some(10) },
      title: Array.from({ length: 1 + random(4) }, () => (some(1) ? pick(RARE) : pick(WORDS))).join(" "),
      headRef: some(20) ? "fix/log%in" : `work-${number}`,
      baseRef: some(5) ? "release" : "main",
      createdBy: some(1) ? people.gone : pick([people.ada, people.bob]),
      headCommitSha: status === "open" && some(5) ? null : sha("a", number),
      baseCommitSha: sha("b", number),
      ...(status === "merged" && {
        ...{ mergedAt: new Date(updatedAt.getTime() - random(3) * DAY_MS), mergeCommitSha: sha("c", number) },
      }),
      ...(status === "closed" && { closedAt: updatedAt }),
    };
  });
  const stored: Row[] = [];
  for (let at = 0; at < count; at += 1000)
    stored.push(
      ...(await db
        .insert(changeRequests)
        .values(values.slice(at, at + 1000))
        .returning()),
    );
  stored.sort((one, other) => one.number - other.number);
  const found = stored.map((row, index) => ({ ...row, ...there(besides[index]) }));
  await storeBesides(found);
  return found;
}

const LABEL_NAMES = ["common", "two words", "rare"] as const;

function beside(status: Row["status"]): Beside {
  const reviewers = [people.ada, people.bob, people.cleo, people.gone];
  return {
    reviews: reviewers
      .filter(() => some(15))
      .map((userId) => ({
        ...{ userId, isOfHead: some(70) },
        state: some(70) ? ("approved" as const) : ("changes_requested" as const),
      })),
    checks: ["test", "lint"]
      .filter(() => some(50))
      .map((context) => ({
        context,
        state: pick(["success", "success", "failure", "pending", "error"] as const),
      })),
    canMerge: status === "open" ? pick([null, true, true, false]) : null,
    labels: LABEL_NAMES.filter((name) => some(LABELS[name])),
    assignees: reviewers.filter(() => some(5)),
    reviewers: reviewers.filter(() => some(2)),
  };
}

async function storeBesides(found: readonly (Row & Beside)[]): Promise<void> {
  const { projectId } = there(found[0]);
  const reviews = found.flatMap(({ crId, headCommitSha, reviews }) =>
    reviews.map(({ userId, state, isOfHead }) => ({
      ...{ crId, userId, state, body: state === "approved" ? null : "no" },
      headCommitSha: isOfHead && headCommitSha !== null ? headCommitSha : sha("d", 1),
    })),
  );
  const checks = found.flatMap(({ headCommitSha, checks }) =>
    headCommitSha === null ? [] : checks.map((check) => ({ ...check, projectId, sha: headCommitSha })),
  );
  const verdicts = found.flatMap(({ canMerge, headCommitSha, baseCommitSha }) =>
    canMerge === null || headCommitSha === null || baseCommitSha === null
      ? []
      : [{ projectId, canMerge, headSha: headCommitSha, baseSha: baseCommitSha }],
  );
  const fixed = { gitVersion: GIT, mergeBase: null, isUpToDate: false, canFastForward: false, conflicts: [] };
  await db.insert(changeRequestApprovals).values(reviews);
  await db.insert(commitStatuses).values(checks);
  const made = await db
    .insert(labels)
    .values(LABEL_NAMES.map((name) => ({ projectId, name, key: name, color: "ededed" })))
    .returning();
  const idOf = (name: string) => there(made.find((label) => label.name === name)).labelId;
  const labelled = found.flatMap(({ crId, labels: names }) =>
    names.map((name) => ({ crId, labelId: idOf(name) })),
  );
  const parts = found.flatMap(({ crId, assignees, reviewers }) => [
    ...assignees.map((userId) => ({ crId, userId, part: "assignee" as const })),
    ...reviewers.map((userId) => ({ crId, userId, part: "reviewer" as const })),
  ]);
  await db.insert(changeRequestLabels).values(labelled);
  await db.insert(changeRequestPeople).values(parts);
  await db.insert(mergeVerdicts).values(verdicts.map((verdict) => ({ ...verdict, ...fixed })));
}

const named = (value: string) => ({ "@me": people.ada, bob: people.bob, "cleo l": people.cleo })[value];

/** The judge: what a term means, of one row. */
function holds(row: Row & Beside, { name, value, not }: Term): boolean {
  return meant() !== not;

  function meant(): boolean {
    switch (name) {
      case "text": {
        const has = (text: string) => text.toLowerCase().includes(value.toLowerCase());
        return (
          has(row.title) ||
          has(row.headRef) ||
          has(row.baseRef) ||
          value.replace(/^#/, "") === `${row.number}`
        );
      }
      case "is":
        return value === "draft" ? row.draft : row.status === value;
      case "author":
        return row.createdBy === named(value);
      case "assignee":
        return row.assignees.some((id) => id === named(value));
      case "review-requested":
        return row.reviewers.some((id) => id === named(value));
      case "label":
        return row.labels.some((label) => label === value.toLowerCase());
      case "base":
        return row.baseRef === value;
      case "head":
        return row.headRef === value;
      case "session":
        return row.originSessionId === value;
      case "review":
        return reviewed(row, value);
      case "checks":
        return checksOf(row) === value;
      case "mergeable": {
        const known = row.headCommitSha === null ? null : row.canMerge;
        return (
          row.status === "open" && value === (known === null ? "unknown" : known ? "clean" : "conflicts")
        );
      }
      default: {
        const at = { created: row.createdAt, updated: row.updatedAt, merged: row.mergedAt }[name];
        const { from, to } = there(rangeOf(value) ?? undefined);
        return at !== null && (from === null || at >= from) && (to === null || at < to);
      }
    }
  }
}

function reviewed({ reviews, createdBy, headCommitSha }: Row & Beside, value: string): boolean {
  const members = reviews.filter(({ userId }) => userId !== people.gone);
  const counting = members.filter(
    ({ state, isOfHead, userId }) =>
      state === "approved" && isOfHead && headCommitSha !== null && userId !== createdBy,
  ).length;
  const isBlocked = members.some(({ state }) => state === "changes_requested");
  const meant: Record<string, boolean> = {
    approved: !isBlocked && counting >= 1,
    changes_requested: isBlocked,
    none: members.length === 0,
    required: counting < 1,
  };
  return there(meant[value]);
}

function checksOf({ checks, headCommitSha }: Row & Beside): string {
  const states = headCommitSha === null ? [] : checks.map(({ state }) => state);
  if (states.some((state) => state === "failure" || state === "error")) return "failure";
  const hasRequired = headCommitSha !== null && checks.some(({ context }) => context === "test");
  return states.includes("pending") || !hasRequired ? "pending" : "success";
}

function sorted(found: readonly (Row & Beside)[], sort: Sort): number[] {
  const sign = sort.endsWith("-desc") ? -1 : 1;
  const at = (row: Row) => (sort.startsWith("updated") ? row.updatedAt.getTime() : 0);
  return found
    .toSorted((one, other) => sign * (at(one) - at(other) || one.number - other.number))
    .map(({ number }) => number);
}

/** All pages of a search, with what happens between two. */
async function pagesOf(search: Search, limit: number, between = async () => {}): Promise<number[]> {
  const { terms, sort = "created-desc" } = search;
  const members = await peopleOf(db, project, { userId: people.ada }, terms);
  const labelled = await labelsIn(db, project, terms);
  const context = { project, gitVersion: GIT, people: members, labels: labelled };
  const conditions = terms.map((term) => conditionOf(term, context));
  const numbers: number[] = [];
  let cursor: Key | null = null;
  for (;;) {
    const wanted = { projectId: project.projectId, conditions, sort, cursor, limit };
    const { rows: found, next } = await find(db, wanted);
    numbers.push(...found.map(({ number }) => number));
    if (next === null) return numbers;
    cursor = readKey(sort, encodeCursor(writeKey(next)));
    await between();
  }
}

const SORTS = [undefined, "created-desc", "created-asc", "updated-desc", "updated-asc"] as const;

function randomTerm(): Term {
  const rare = [
    ...RARE,
    "absent",
    "zzz",
    "%",
    "_",
    "\\",
    "fix log",
    "g%i",
    "12",
    "#41",
    "21",
    "#59981",
    "59982",
    "o",
  ];
  const values: [Term["name"], () => string][] = [
    ["text", () => pick(WORDS)],
    ["text", () => pick(rare)],
    ["is", () => pick(["open", "merged", "closed", "draft"])],
    ["author", () => pick(["@me", "bob", "cleo l"])],
    [pick(["assignee", "review-requested"] as const), () => pick(["@me", "bob", "cleo l"])],
    ["label", () => pick([...LABEL_NAMES, "RARE"])],
    ["base", () => pick(["main", "release", "none"])],
    ["head", () => pick(["fix/log%in", "work-17", "WORK-17"])],
    ["session", () => "none"],
    ["review", () => pick(["approved", "changes_requested", "none", "required"])],
    ["checks", () => pick(["success", "failure", "pending", "none"])],
    ["mergeable", () => pick(["clean", "conflicts", "unknown"])],
    [pick(["created", "updated", "merged"] as const), randomDates],
  ];
  const [name, value] = pick(values);
  return { name, value: value(), not: some(20) };
}

function randomDates(): string {
  const day = () => new Date(START + random(200) * DAY_MS).toISOString().slice(0, 10);
  const time = () => `${day()}T0${random(10)}:00:00Z`;
  const one = some(70) ? day() : time();
  return pick([
    one,
    `>${one}`,
    `>=${one}`,
    `<${one}`,
    `<=${one}`,
    `${one}..${day()}`,
    `*..${one}`,
    `${one}..*`,
  ]);
}

test("searches find what a filter in JavaScript finds, in the same order, in pages of any size", async () => {
  for (let run = 0; run < share(30, 3000); run++) {
    const terms = Array.from({ length: random(4) }, randomTerm);
    const sort = SORTS[random(SORTS.length)];
    const written = printSearch(sort === undefined ? { terms } : { terms, sort });
    const parsed = parseSearch(written);
    if ("problem" in parsed) throw new Error(`${written}: ${parsed.problem}`);
    const wanted = sorted(
      all.filter((row) => terms.every((term) => holds(row, term))),
      sort ?? "created-desc",
    );
    const limit = pick([1, 7, 50, 200, 1000]);
    expect([written, await pagesOf(parsed.search, wanted.length > 300 ? 1000 : limit)]).toEqual([
      written,
      wanted,
    ]);
  }
});

test("searches of several numbers, and of parts of words of each length", async () => {
  for (const written of [
    "#41",
    "41",
    "1 #41",
    "#41 1",
    "#41 -1",
    "#41 is:open",
    "-#41 -work",
    "k-4",
    "k-41",
    "rk-4",
    "ork-5998",
  ]) {
    const parsed = parseSearch(written);
    if ("problem" in parsed) throw new Error(parsed.problem);
    const { terms } = parsed.search;
    const wanted = all.filter((row) => terms.every((term) => holds(row, term)));
    expect([written, await pagesOf(parsed.search, 200)]).toEqual([written, sorted(wanted, "created-desc")]);
  }
});

test("a label of a few change requests, and one of more than are sorted, in each order", async () => {
  for (const name of LABEL_NAMES)
    for (const sort of sample(2, SORTS)) {
      const terms = [{ name: "label", value: name, not: false }] as const;
      const wanted = sorted(
        all.filter((row) => row.labels.includes(name)),
        sort ?? "created-desc",
      );
      expect([name, sort, await pagesOf({ terms, ...(sort && { sort }) }, 1000)]).toEqual([
        name,
        sort,
        wanted,
      ]);
    }
});

test("a range is the fewest days, months and years that cover it", () => {
  const rows: [range: string, days: string[]][] = [
    ["2026-02-28", ["2026-02-28"]],
    ["2026-01-30..2026-03-01", ["2026-01-30", "2026-01-31", "2026-02", "2026-03-01"]],
    ["2025-12-31..2027-01-01", ["2025-12-31", "2026", "2027-01-01"]],
    ["2026-01-01..2026-12-31", ["2026"]],
    ["2026-01-01..2026-01-31", ["2026-01"]],
    [">=2099-11-30", ["2099-11-30", "2099-12"]],
    ["<2001-02-02", ["2000", "2001-01", "2001-02-01"]],
    [">2026-01-31T23:59:59Z", []],
    ["<1999-01-01", []],
    [">2100-01-01", []],
    ["2026-03-01..2026-01-01", []],
  ];
  for (const [range, days] of rows) {
    const found = daysOf(there(rangeOf(range) ?? undefined));
    if (range.includes("T")) expect(found.slice(0, 2)).toEqual(["2026-01-31", "2026-02"]);
    else expect([range, found]).toEqual([range, days]);
  }
});

test("rows that are added and changed between two pages neither hide nor repeat the others", async () => {
  const [first] = all;
  const { accountId, projectId, createdBy } = there(first);
  for (const sort of sample(2, SORTS)) {
    const search = { terms: [{ name: "text", value: "fix", not: false }], ...(sort && { sort }) } as const;
    const before = await pagesOf(search, 1000);
    let number = ROWS * GAP + 1 + random(1_000_000);
    const moved = new Set(before.filter(() => some(1)));
    const found = await pagesOf(search, 100, async () => {
      const [next] = moved;
      if (next !== undefined) {
        moved.delete(next);
        touched.add(next);
        await db.update(changeRequests).set({ updatedAt: new Date() }).where(eq(changeRequests.number, next));
      }
      const values = {
        accountId,
        projectId,
        createdBy,
        number: number++,
        title: "fix it",
        baseRef: "b",
        headRef: "h",
      };
      await db.insert(changeRequests).values(values);
    });
    const old = found.filter((each) => each < ROWS * GAP && !touched.has(each));
    expect(old).toEqual(before.filter((each) => each < ROWS * GAP && !touched.has(each)));
  }
});
const touched = new Set<number>();
