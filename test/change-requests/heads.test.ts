import { afterAll, beforeAll, expect, test } from "bun:test";
import { asc, eq } from "drizzle-orm";
import pino from "pino";
import type { Database } from "../../db/client.ts";
import { accounts, changeRequestHeads, changeRequests, projects, users } from "../../db/schema/index.ts";
import { followHeads, movedHeads } from "../../src/features/change-requests/follow-heads.ts";
import { keepHeads, recordHeads } from "../../src/features/change-requests/heads.ts";
import { createKeys } from "../../src/keys.ts";
import { openDatabase } from "../helpers/postgres.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

const AT = new Date("2026-01-01T00:00:00Z");
const sha = (name: string) => name.repeat(40);

/** A change request whose head has been at each of `commits`, and a git that records what it keeps. */
async function setUp(commits: string) {
  const { db } = database;
  const [userId, accountId, projectId, crId] = Array.from({ length: 4 }, () => crypto.randomUUID());
  if (!userId || !accountId || !projectId || !crId) throw new Error("unreachable");
  await db.insert(users).values({ userId, email: `${userId}@example.com`, name: "u" });
  await db.insert(accounts).values({ accountId, name: "a", slug: accountId });
  const repoUrl = "https://example.com/x";
  const values = { projectId, accountId, name: "p", slug: projectId, repoUrl, defaultBranch: "main" };
  const [project] = await db.insert(projects).values(values).returning();
  if (!project) throw new Error("no project");
  const cr = { crId, accountId, projectId, number: 7, title: "t", baseRef: "main", headRef: "w" };
  await db.insert(changeRequests).values({ ...cr, createdBy: userId });
  for (const commit of commits)
    await recordHeads(db, [{ crId, headCommitSha: sha(commit), baseCommitSha: sha("0") }], AT, "moved");
  const refs: Record<string, string> = {};
  const git = {
    /** Commits that the repository no longer has, and those of which it cannot be said. */
    gone: new Set<string>(),
    failing: new Set<string>(),
    async ensureCommits(_: unknown, [commit = ""]: readonly string[]) {
      if (git.failing.has(commit)) throw new Error("unreachable");
      return !git.gone.has(commit);
    },
    countAdded: async () => 1,
    async keep(_: unknown, number: number, kept: Readonly<Record<string, string>>) {
      for (const [name, commit] of Object.entries(kept)) refs[`${number}/${name}`] = commit;
    },
  };
  const deps = { db, git, keys: createKeys(Buffer.alloc(32)), log: pino({ level: "silent" }) };
  const keep = () => keepHeads(deps, project, [{ crId }]);
  const recorded = async () => {
    const rows = await db
      .select()
      .from(changeRequestHeads)
      .where(eq(changeRequestHeads.crId, crId))
      .orderBy(asc(changeRequestHeads.number));
    return rows.map(({ number, commitSha, kept }) => `${number} ${commitSha[0]} ${kept}`);
  };
  // no head has moved, so nothing else of a server is needed
  const poll = () =>
    followHeads(deps as unknown as Parameters<typeof followHeads>[0], project, {
      ...{ tips: new Map(), head: null, symbolic: new Map() },
    });
  return { db, project, cr: { ...cr, createdBy: userId }, git, keep, poll, recorded, refs };
}

test("heads are numbered in order; the same one twice in a row is one", async () => {
  const { recorded } = await setUp("aabba");
  expect(await recorded()).toEqual(["1 a null", "2 b null", "3 a null"]);
});

test("a head without a commit is not recorded", async () => {
  const { recorded } = await setUp("");
  expect(await recorded()).toEqual([]);
});

test("heads that the repository no longer has are given up, the others are kept", async () => {
  const { git, keep, recorded, refs } = await setUp("abc");
  git.gone.add(sha("b"));
  await keep();
  expect(await recorded()).toEqual(["1 a true", "2 b false", "3 c true"]);
  expect(refs).toEqual({ "7/head/1": sha("a"), "7/head/3": sha("c") });
});

test("after a failure the next poll of the project keeps the rest", async () => {
  const { git, keep, poll, recorded, refs } = await setUp("abc");
  git.failing.add(sha("b"));
  await keep();
  expect(await recorded()).toEqual(["1 a true", "2 b null", "3 c null"]);
  git.failing.clear();
  await poll();
  expect(await recorded()).toEqual(["1 a true", "2 b true", "3 c true"]);
  expect(Object.keys(refs)).toEqual(["7/head/1", "7/head/2", "7/head/3"]);
});

test("open change requests whose branches have moved are found in pages, the first ones first", async () => {
  const { db, project, cr } = await setUp("");
  const tips = new Map<string, string>();
  const crId = (number: number) => `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
  const kinds = ["moved", "same", "gone", "closed", "moved", "same", "moved", "moved"] as const;
  for (const [index, kind] of kinds.entries()) {
    const headRef = `w-${index}`;
    const status = kind === "closed" ? ("closed" as const) : ("open" as const);
    const closed = kind === "closed" ? { closedBy: cr.createdBy, closedAt: AT } : {};
    const row = { ...cr, ...closed, crId: crId(index), number: index + 8, headRef, status };
    await db.insert(changeRequests).values({ ...row, headCommitSha: sha("a") });
    if (kind !== "gone") tips.set(headRef, sha(kind === "same" ? "a" : "b"));
  }
  const moved = [0, 4, 6, 7].map(crId);
  for (const page of [1, 2, 3, 9, 100])
    for (const most of [1, 2, 3, 4, 5])
      expect([page, most, await movedHeads({ db }, project.projectId, tips, { page, most })]).toEqual([
        ...[page, most],
        moved.slice(0, most),
      ]);
});
