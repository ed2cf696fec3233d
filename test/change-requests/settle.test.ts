import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import pino from "pino";
import {
  changeRequests,
  mergeIntents,
  projectEvents,
  projectManifests,
  projects,
} from "../../db/schema/index.ts";
import { forgetIntent, removeIntents } from "../../src/features/change-requests/merge-intent.ts";
import {
  type Intent,
  markMerged,
  markReached,
  settle,
  settleAll,
} from "../../src/features/change-requests/settle.ts";
import type { Branches } from "../../src/git/git.ts";
import { type AccountRows, openAccountRows, there } from "../helpers/account-rows.ts";

const HOUR_MS = 3_600_000;
let rows: AccountRows;
let userId: string;
let one: typeof projects.$inferSelect;
let two: typeof projects.$inferSelect;
/** Branches of the one repository and of the other; null: it does not answer. */
let branches: Record<string, Record<string, string> | null>;
/** Commits that are there, each with those that it has come from. */
let history: Record<string, readonly string[]>;
/** Each with the names of its commits. */
let kept: string[];

beforeAll(async () => {
  rows = await openAccountRows();
  userId = await rows.user("a");
  const accountId = await rows.account("a", { [userId]: "owner" });
  for (const slug of ["p", "q"]) await rows.project(accountId, slug);
  const found = await rows.deps.db.select().from(projects).orderBy(projects.slug);
  [one, two] = [there(found[0]), there(found[1])];
});
afterAll(() => rows.database.close());
beforeEach(async () => {
  await rows.deps.db.delete(changeRequests);
  await rows.deps.db.delete(projectManifests);
  await rows.deps.db.delete(projectEvents);
  branches = {};
  history = {
    base: [],
    head: ["base"],
    merge: ["base", "head"],
    later: ["base", "head", "merge"],
    aside: ["base"],
  };
  kept = [];
});

const listing = (tips: Record<string, string>): Branches => ({
  tips: new Map(Object.entries(tips)),
  head: "main",
  symbolic: new Map(),
});
const deps = () => ({
  ...rows.deps,
  config: { publicUrl: "https://svc.example.com" },
  api: () => ({ port: 0 }),
  verdicts: new Map(),
  databaseTime: async () => rows.now(),
  checkpoint: () => {},
  git: {
    version: "2.50.0",
    async listBranches({ id }: { id: string }) {
      const tips = branches[id];
      if (!tips) throw new Error("it does not answer");
      return listing(tips);
    },
    ensureCommits: async (_: unknown, commits: readonly string[]) =>
      commits.every((commit) => commit.length > 0 && Object.hasOwn(history, commit)),
    countAdded: async () => 1,
    isAncestor: async (_: unknown, ancestor: string, of: string) => history[of]?.includes(ancestor) === true,
    async keep(_: unknown, number: number, commits: Readonly<Record<string, string>>) {
      kept.push(`${number} ${Object.keys(commits).join(" ")}`);
    },
  },
});

/** The head of a merge, and its other commits. */
const keptOf = ({ number }: { number: number }) => [`${number} head/1`, `${number} base merge`];

/** The columns that a change request of each status has. */
const STATES = {
  open: {},
  closed: { status: "closed", closedAt: new Date() },
  merged: {
    status: "merged",
    mergedAt: new Date(),
    mergeCommitSha: "x",
    baseCommitSha: "y",
    headCommitSha: "z",
  },
} as const;

async function open(project = one, more: Partial<typeof changeRequests.$inferInsert> = {}) {
  const number = (await rows.deps.db.$count(changeRequests)) + 1;
  const { projectId, accountId } = project;
  const refs = { baseRef: "main", headRef: "work", title: "t" };
  const values = { accountId, projectId, number, createdBy: userId, ...refs, ...more };
  return there((await rows.deps.db.insert(changeRequests).values(values).returning())[0]);
}
async function intend({ crId }: { crId: string }, more: Partial<Intent> = {}): Promise<Intent> {
  const commits = { baseSha: "base", headSha: "head", mergeSha: "merge" };
  const times = { intendedAt: rows.now(), expiresAt: new Date(rows.now().getTime() + HOUR_MS) };
  const values = { crId, ...commits, ...times, fastForward: false, message: "m", mergedBy: userId, ...more };
  return there((await rows.deps.db.insert(mergeIntents).values(values).returning())[0]);
}
const statusOf = async ({ crId }: { crId: string }) =>
  (await rows.deps.db.select().from(changeRequests).where(eq(changeRequests.crId, crId)))[0]?.status ??
  "gone";
const published = async () =>
  (await rows.deps.db.select().from(projectEvents)).map(({ type, action }) => `${type} ${action}`).toSorted();
const intentsOf = async ({ crId }: { crId: string }) =>
  (await rows.deps.db.select().from(mergeIntents).where(eq(mergeIntents.crId, crId)))
    .map(({ mergeSha }) => mergeSha)
    .toSorted();

describe("a merge with a lost outcome has happened if the base contains its commit", () => {
  test.each<[what: string, tips: Record<string, string>, isMerged: boolean]>([
    ["the commit itself", { main: "merge" }, true],
    ["a descendant of it", { main: "later" }, true],
    ["its earlier commit", { main: "base" }, false],
    ["another descendant of that", { main: "aside" }, false],
    ["an unknown commit", { main: "unknown" }, false],
    ["nothing: the branch is deleted", { other: "merge" }, false],
  ])("%s", async (_, tips, isMerged) => {
    const [cr, other] = [await open(), await open()];
    await intend(cr);
    const settled = await settle(deps(), one, cr, listing(tips));
    expect([settled?.crId ?? null, await statusOf(cr)]).toEqual(
      isMerged ? [cr.crId, "merged"] : [null, "open"],
    );
    if (isMerged)
      expect(settled).toMatchObject({
        baseCommitSha: "base",
        headCommitSha: "head",
        mergeCommitSha: "merge",
        mergedBy: userId,
      });
    expect([await statusOf(other), kept]).toEqual(["open", isMerged ? keptOf(cr) : []]);
    expect(await intentsOf(cr)).toEqual(["merge"]);
  });

  test("of several attempts, the one that arrived is recorded", async () => {
    const cr = await open();
    for (const mergeSha of ["lost", "merge", "never"]) await intend(cr, { mergeSha });
    const settled = await settle(deps(), one, cr, listing({ main: "merge" }));
    expect(settled?.mergeCommitSha).toBe("merge");
  });

  test("another change request's merge does not count", async () => {
    const [cr, other] = [await open(), await open()];
    await intend(other);
    expect(await settle(deps(), one, cr, listing({ main: "merge" }))).toBeNull();
    expect([await statusOf(cr), await statusOf(other)]).toEqual(["open", "open"]);
  });

  test("deletes attempts that are known to have failed, of this change request only", async () => {
    const [cr, other] = [await open(), await open()];
    for (const mergeSha of ["failed", "open"])
      for (const each of [cr, other]) await intend(each, { mergeSha });
    expect(await settle(deps(), one, cr, listing({ main: "aside" }))).toBeNull();
    expect(await intentsOf(cr)).toEqual(["failed", "open"]);
    expect(await settle(deps(), one, cr, listing({ main: "aside" }), new Set(["failed"]))).toBeNull();
    expect([await intentsOf(cr), await intentsOf(other)]).toEqual([["open"], ["failed", "open"]]);
  });

  test.each([
    ["merged", true],
    ["open", false],
    ["closed", false],
  ] as const)(
    "one without a merge in progress that is %s is published as merged: %p",
    async (status, isTold) => {
      await open(one, STATES.merged);
      const cr = await open(one, STATES[status]);
      await open(one, STATES.merged);
      const settled = await settle(deps(), one, cr, listing({ main: "base" }));
      expect(settled?.crId ?? null).toBe(isTold ? cr.crId : null);
    },
  );
});

test.each([
  ["main", true],
  ["stable", false],
])("a merge into %s enqueues a check of the manifest: %p", async (baseRef, isAsked) => {
  const cr = await open(one, { baseRef });
  const intent = await intend(cr);
  expect((await markMerged(deps(), one, cr.number, intent))?.status).toBe("merged");
  expect(await rows.deps.db.$count(projectManifests)).toBe(isAsked ? 1 : 0);
  // a second call returns the same, and publishes nothing
  expect((await markMerged(deps(), one, cr.number, intent))?.status).toBe("merged");
  expect(await published()).toEqual(["branch changed", "change_request changed"]);
});

describe("commits that reach the base another way mark a change request as merged", () => {
  const commits = { base: "base", head: "head", merge: "later" };
  test.each<[what: string, status: "open" | "closed" | "merged", own: number[], isMerged: boolean]>([
    ["without a merge", "open", [], true],
    ["with a merge that may be in progress", "open", [HOUR_MS], false],
    ["with a merge that may be in progress, after others that have ended", "open", [-HOUR_MS, 1], false],
    ["with merges that have all ended", "open", [-HOUR_MS, 0], true],
    ["which is closed", "closed", [], false],
    ["which is merged", "merged", [], false],
  ])("%s", async (_, status, own, isMerged) => {
    const [before, cr, other] = [await open(), await open(one, STATES[status]), await open()];
    for (const ms of own)
      await intend(cr, { mergeSha: `${ms}`, expiresAt: new Date(rows.now().getTime() + ms) });
    await intend(other);
    const reached = await markReached(deps(), one, cr, commits);
    expect(reached?.crId ?? null).toBe(isMerged ? cr.crId : null);
    if (isMerged)
      expect(reached).toMatchObject({
        status: "merged",
        mergedBy: null,
        mergeCommitSha: "later",
        baseCommitSha: "base",
      });
    else expect(await statusOf(cr)).toBe(status);
    expect([await statusOf(before), await statusOf(other)]).toEqual(["open", "open"]);
    expect(await published()).toEqual(isMerged ? ["change_request changed"] : []);
  });
});

test("deletes one merge intent, or all of a change request, once", async () => {
  const { db } = rows.deps;
  const [cr, other] = [await open(), await open()];
  for (const mergeSha of ["first", "second", "third"])
    for (const each of [cr, other]) await intend(each, { mergeSha });
  await forgetIntent(db, { crId: cr.crId, mergeSha: "second" });
  expect(await intentsOf(cr)).toEqual(["first", "third"]);
  expect([await removeIntents(db, cr.crId), await removeIntents(db, cr.crId)]).toEqual([true, false]);
  expect([await intentsOf(cr), await intentsOf(other)]).toEqual([[], ["first", "second", "third"]]);
  const last = await open();
  await intend(last);
  expect(await removeIntents(db, last.crId)).toBe(true);
});

describe("a starting server", () => {
  test("settles merges of each repository, even if another is unreachable", async () => {
    const [arrived, waits] = [await open(two), await open(two, { baseRef: "stable" })];
    const [unreachable, closed] = [await open(one), await open(two, STATES.closed)];
    const untouched = await open(two);
    for (const cr of [arrived, waits, unreachable, closed]) await intend(cr);
    branches = { [one.mirrorId]: null, [two.mirrorId]: { main: "merge", stable: "base" } };
    const lines: string[] = [];
    const log = pino({ level: "info" }, { write: (line) => void lines.push(line) });
    await settleAll({ ...deps(), log });
    const logged = lines.map((line): unknown => JSON.parse(line));
    expect(logged).toHaveLength(2);
    expect(logged).toContainEqual(expect.objectContaining({ cr: arrived.crId, level: 30 }));
    expect(logged).toContainEqual(expect.objectContaining({ cr: unreachable.crId, level: 40 }));
    const all = [arrived, waits, unreachable, closed, untouched];
    expect(await Promise.all(all.map(statusOf))).toEqual(["merged", "open", "open", "closed", "open"]);
    expect(kept).toEqual(keptOf(arrived));
  });

  test("settles a merge, and leaves a change request without one", async () => {
    const [cr, other] = [await open(), await open()];
    await intend(cr);
    branches = { [one.mirrorId]: { main: "merge" } };
    await settleAll(deps());
    expect([await statusOf(cr), await statusOf(other)]).toEqual(["merged", "open"]);
  });

  test("deletes merge intents that are more than a day too old", async () => {
    const cr = await open();
    for (const hours of [-25, -24, -23, 1])
      await intend(cr, {
        mergeSha: `${hours}`,
        expiresAt: new Date(rows.now().getTime() + hours * HOUR_MS - 1),
      });
    branches = { [one.mirrorId]: { main: "base" } };
    await settleAll(deps());
    expect(await intentsOf(cr)).toEqual(["-23", "1"]);
  });
});
