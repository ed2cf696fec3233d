import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "../../db/client.ts";
import {
  accountMembers,
  accounts,
  autoMerges,
  changeRequests,
  projects,
  users,
} from "../../db/schema/index.ts";
import { callerFor, requireStillOn } from "../../src/features/change-requests/auto-merge/right.ts";
import { openDatabase } from "../helpers/postgres.ts";

let database: Database;

beforeAll(async () => {
  database = await openDatabase();
});
afterAll(() => database.close());

const AT = new Date("2026-01-01T00:00:00Z");
const LATER = new Date("2026-01-01T00:00:01Z");

/** An auto-merge that is on, as a round has read it. */
async function setUp() {
  const { db } = database;
  const [userId, otherId, accountId, projectId, crId] = Array.from({ length: 5 }, () => crypto.randomUUID());
  if (!userId || !otherId || !accountId || !projectId || !crId) throw new Error("unreachable");
  for (const id of [userId, otherId])
    await db.insert(users).values({ userId: id, email: `${id}@example.com`, name: "u" });
  await db.insert(accounts).values({ accountId, name: "a", slug: accountId });
  const repoUrl = "https://example.com/x";
  const values = { projectId, accountId, name: "p", slug: projectId, repoUrl, defaultBranch: "main" };
  await db.insert(projects).values(values);
  const cr = { crId, accountId, projectId, number: 1, title: "t", baseRef: "main", headRef: "w" };
  await db.insert(changeRequests).values({ ...cr, createdBy: userId });
  const read = { crId, headSha: "a".repeat(40), userId, createdAt: AT };
  await db.insert(autoMerges).values({ ...read, deleteBranch: false, dueAt: AT });
  return { db, read, otherId, project: { accountId, projectId } };
}

type Place = Awaited<ReturnType<typeof setUp>>;

/** What can happen to it after a round has read it. */
const CHANGES: [what: string, change: (place: Place) => unknown][] = [
  ["it was turned off", ({ db }) => db.update(autoMerges).set({ offReason: "Commits were pushed." })],
  ["it was turned on for another head", ({ db }) => db.update(autoMerges).set({ headSha: "b".repeat(40) })],
  ["another person turned it on", ({ db, otherId }) => db.update(autoMerges).set({ userId: otherId })],
  ["it was turned on anew", ({ db }) => db.update(autoMerges).set({ createdAt: LATER })],
  ["it was removed", ({ db }) => db.delete(autoMerges)],
];

test.each(CHANGES)("a try does not merge if meanwhile %s", async (_, change) => {
  const place = await setUp();
  await requireStillOn(place.db, place.read);
  await change(place);
  await expect(requireStillOn(place.db, place.read)).rejects.toMatchObject({ code: "forbidden" });
});

test("it merges as the person who turned it on, while they are a member", async () => {
  const { db, read, project } = await setUp();
  const wanted = { userId: read.userId, tokenId: null };
  await expect(callerFor(db, project, wanted, AT)).rejects.toMatchObject({ code: "forbidden" });
  await db
    .insert(accountMembers)
    .values({ accountId: project.accountId, userId: read.userId, role: "member" });
  expect(await callerFor(db, project, wanted, AT)).toMatchObject({ kind: "user", userId: read.userId });
  // its token is gone
  const byToken = { ...wanted, tokenId: crypto.randomUUID() };
  await expect(callerFor(db, project, byToken, AT)).rejects.toMatchObject({ code: "forbidden" });
});
