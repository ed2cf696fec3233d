import { afterAll, beforeAll, expect, test } from "bun:test";
import { browserSessions } from "../../db/schema/index.ts";
import {
  endBrowserSession,
  findBrowserAndProject,
  findBrowserSession,
  openBrowserSession,
  renewBrowserSession,
} from "../../src/identity/auth/browser.ts";
import { type AccountRows, openAccountRows } from "../helpers/account-rows.ts";

const DAY_MS = 86_400_000;
let rows: AccountRows;
let userId: string;
let projectId: string;
beforeAll(async () => {
  rows = await openAccountRows();
  userId = await rows.user("a");
  projectId = await rows.project(await rows.account("a", { [userId]: "owner" }), "p");
});
afterAll(() => rows.database.close());

/** Whether it opens something, by each of the ways to ask. */
async function isOpen(secret: string): Promise<boolean> {
  const found = [
    await findBrowserSession(rows.deps, secret),
    await findBrowserAndProject(rows.deps, secret, "id", projectId),
    await findBrowserAndProject(rows.deps, secret, "slug", "p"),
  ];
  const answers = new Set(found.map((row) => row !== null));
  expect(answers.size).toBe(1);
  return answers.has(true);
}

test("a browser is signed in for exactly 30 days", async () => {
  const secret = await openBrowserSession(rows.deps, userId);
  expect(secret).toMatch(/^svc_bs_[\w-]{43}$/);
  rows.pass(30 * DAY_MS - 1);
  expect(await isOpen(secret)).toBe(true);
  rows.pass(1);
  expect(await isOpen(secret)).toBe(false);
  // what has expired is not taken up again
  expect(await renewBrowserSession(rows.deps, secret)).toBe(false);
  expect(await isOpen(secret)).toBe(false);
});

test.each([
  [0, false],
  [DAY_MS, false],
  [DAY_MS + 1, true],
  [30 * DAY_MS - 1, true],
])("one that is used %d ms later is extended by 30 days: %p", async (ms, isRenewed) => {
  const [secret, other] = [
    await openBrowserSession(rows.deps, userId),
    await openBrowserSession(rows.deps, userId),
  ];
  rows.pass(ms);
  expect(await renewBrowserSession(rows.deps, secret)).toBe(isRenewed);
  expect(await renewBrowserSession(rows.deps, secret)).toBe(false);
  rows.pass(30 * DAY_MS - ms);
  expect(await isOpen(other)).toBe(false);
  expect(await isOpen(secret)).toBe(isRenewed);
  rows.pass(ms);
  expect(await isOpen(secret)).toBe(false);
});

test("an ended or unknown session is rejected, and others stay valid", async () => {
  const [one, two] = [
    await openBrowserSession(rows.deps, userId),
    await openBrowserSession(rows.deps, userId),
  ];
  await endBrowserSession(rows.deps, one);
  expect([await isOpen(one), await isOpen(two), await isOpen("svc_bs_unknown")]).toEqual([
    false,
    true,
    false,
  ]);
  expect(await renewBrowserSession(rows.deps, one)).toBe(false);
});

test("a sign-in deletes expired sessions, and no others", async () => {
  const old = await openBrowserSession(rows.deps, userId);
  rows.pass(20 * DAY_MS);
  const kept = await openBrowserSession(rows.deps, userId);
  rows.pass(10 * DAY_MS + 1);
  const fresh = await openBrowserSession(rows.deps, userId);
  const hashes = (await rows.deps.db.select().from(browserSessions)).map(({ hash }) => hash);
  const expected = [kept, fresh].map((secret) => rows.deps.keys.hashToken(secret));
  expect(hashes).toEqual(expect.arrayContaining(expected));
  expect(hashes).not.toContain(rows.deps.keys.hashToken(old));
});
