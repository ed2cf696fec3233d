import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { attempts } from "../../db/schema/index.ts";
import { SvcError } from "../../src/contract/errors.ts";
import {
  addressOf,
  countAttempt,
  forgetAttempt,
  forgetAttempts,
  type Limit,
} from "../../src/identity/auth/attempts.ts";
import { type AccountRows, openAccountRows } from "../helpers/account-rows.ts";

let rows: AccountRows;
beforeAll(async () => {
  rows = await openAccountRows();
});
afterAll(() => rows.database.close());
beforeEach(async () => {
  await rows.deps.db.delete(attempts);
});

const TWICE: Limit = { name: "guess", max: 2, windowS: 60 };
/** What the refusal says; null: it was counted, and may be tried. */
const attempt = (by = "a", limit = TWICE): Promise<SvcError | null> =>
  countAttempt(rows.deps, limit, by).then(
    () => null,
    (error: unknown) => {
      if (error instanceof SvcError) return error;
      throw error;
    },
  );
const statuses = async (count: number, by?: string, limit?: Limit) => {
  const codes: string[] = [];
  for (let tries = 0; tries < count; tries++) codes.push((await attempt(by, limit))?.code ?? "ok");
  return codes;
};

test("allows attempts up to the limit, in a window that begins with the first", async () => {
  expect(await statuses(1)).toEqual(["ok"]);
  rows.pass(30_000);
  expect(await statuses(3)).toEqual(["ok", "rate_limited", "rate_limited"]);
  rows.pass(29_999);
  expect(await statuses(1)).toEqual(["rate_limited"]);
  rows.pass(1);
  expect(await statuses(3)).toEqual(["ok", "ok", "rate_limited"]);
});

test("limits each caller and each action separately", async () => {
  expect(await statuses(3)).toEqual(["ok", "ok", "rate_limited"]);
  expect(await statuses(1, "b")).toEqual(["ok"]);
  expect(await statuses(1, "a", { ...TWICE, name: "ask" })).toEqual(["ok"]);
  expect(await statuses(1)).toEqual(["rate_limited"]);
});

test("a successful attempt resets the caller's count, or does not count", async () => {
  for (const by of ["a", "b"]) await statuses(2, by);
  await forgetAttempt(rows.deps, TWICE, "a");
  expect(await statuses(2)).toEqual(["ok", "rate_limited"]);
  await forgetAttempts(rows.deps, TWICE, "a");
  expect(await statuses(3)).toEqual(["ok", "ok", "rate_limited"]);
  expect(await statuses(1, "b")).toEqual(["rate_limited"]);
  // forgotten attempts give no credit
  for (let times = 0; times < 3; times++) await forgetAttempt(rows.deps, TWICE, "c");
  await statuses(1, "c");
  for (let times = 0; times < 3; times++) await forgetAttempt(rows.deps, TWICE, "c");
  expect(await statuses(3, "c")).toEqual(["ok", "ok", "rate_limited"]);
});

test("expired attempts are deleted when a caller is limited", async () => {
  const count = async () => await rows.deps.db.$count(attempts);
  for (const by of ["a", "b"]) await attempt(by);
  rows.pass(30_000);
  await statuses(3, "c");
  expect(await count()).toBe(3);
  rows.pass(30_000);
  await statuses(1, "c");
  expect(await count()).toBe(1);
});

describe("the error says how long to wait", () => {
  test.each([
    [0, 1, 1, "a second"],
    [0, 2, 2, "2 seconds"],
    [500, 2, 2, "2 seconds"],
    [1000, 2, 1, "a second"],
    [1999, 2, 1, "a second"],
    [0, 90, 90, "90 seconds"],
    [0, 91, 91, "2 minutes"],
    [0, 120, 120, "2 minutes"],
    [0, 121, 121, "3 minutes"],
    [0, 3600, 3600, "60 minutes"],
  ])("%d ms after the start of a window of %d s: %d s, as text %s", async (ms, windowS, seconds, words) => {
    const limit = { name: "words", max: 1, windowS };
    expect(await attempt("a", limit)).toBeNull();
    rows.pass(ms);
    const refusal = await attempt("a", limit);
    expect(refusal?.message).toBe(`Too many attempts. Try again in ${words}.`);
    expect(refusal?.headers).toEqual({
      "Retry-After": `${seconds}`,
      "X-RateLimit-Limit": "1",
      "X-RateLimit-Remaining": "0",
    });
  });
});

test.each([
  ["203.0.113.7", "203.0.113.7"],
  ["::ffff:203.0.113.7", "203.0.113.7"],
  // an owner of one address of a network has all of them
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"],
  ["2001:db8:1:2:ffff::1", "2001:db8:1:2::"],
  ["2001:db8:1:3::1", "2001:db8:1:3::"],
  ["::1", "::"],
  ["", ""],
  ["no address", "no address"],
  [null, ""],
])("the address %p counts as %p", (given, counted) => {
  const headers = given === null ? {} : { "X-Forwarded-For": given };
  expect(addressOf(new Request("http://localhost/", { headers }))).toBe(counted);
});
