import { afterAll, beforeAll, expect } from "bun:test";
import { ASSIGNEES_MAX, REVIEWERS_MAX } from "../../src/contract/limits.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let bob: string;
let cleo: string;
/** Ids of members, by name. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  bob = await bench.member("bob@example.com");
  cleo = await bench.member("cleo@example.com");
  for (const [name, token] of Object.entries({ first: bench.api.token, bob, cleo }))
    ids[name] = (await bench.api.call("GET", "/v1/accounts/me", { token })).body.user_id;
});
afterAll(() => bench?.stop());

const edit = (number: number, body: object, token = bench.api.token) =>
  bench.call("PATCH", `/change-requests/${number}`, { body, token });
const get = async (number: number) =>
  (await bench.call("GET", `/change-requests/${number}`)).body.change_request;
const person = (name: string) => ({ user_id: ids[name], name });
const inboxOf = async (token: string, number: number) =>
  (await bench.api.call("GET", "/v1/accounts/inbox", { token })).body.items
    .filter(({ change_request }: { change_request: number }) => change_request === number)
    .map(({ reason }: { reason: string }) => reason);

test("people are named by name, address, id and @me, in any case, and each once", async () => {
  const { number } = await bench.open();
  const assignees = ["@Bob", "bob@example.com", ids["cleo"], "me"];
  const set = await edit(number, { assignees });
  expect(set.status).toBe(200);
  expect(new Set(set.body.assignees)).toEqual(new Set([person("bob"), person("cleo"), person("first")]));
  expect(
    (await edit(number, { add_assignees: ["bob"], remove_assignees: ["cleo", "@me"] })).body.assignees,
  ).toEqual([person("bob")]);
  expect(
    (await edit(number, { assignees: ["bob", "cleo"], remove_assignees: ["bob"] })).body.assignees,
  ).toEqual([person("cleo")]);
  for (const key of ["assignees", "requested_reviewers"])
    expect(await edit(number, { title: "not stored", [key]: ["cleoo"] })).toMatchObject({
      status: 400,
      body: { code: "validation_failed", error: expect.stringContaining('Did you mean "cleo"?') },
    });
  expect(await get(number)).toMatchObject({ title: "t", requested_reviewers: [] });
  // for an agent, `@me` is its user
  const agent = await bench.agent();
  expect((await edit(number, { assignees: ["@me"] }, agent)).body.assignees).toEqual([person("first")]);
});

test("two members of one name are told apart by their addresses", async () => {
  await bench.member("sam@one.example");
  await bench.member("sam@two.example");
  const { number } = await bench.open();
  expect(await edit(number, { assignees: ["sam"] })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining("Several members") },
  });
  expect((await edit(number, { assignees: ["sam@two.example"] })).body.assignees).toMatchObject([
    { name: "sam" },
  ]);
});

test("a review answers the request for it, of that person alone, and they can be asked again", async () => {
  const { number } = await bench.open();
  const ask = () => edit(number, { add_requested_reviewers: ["bob"] });
  expect(
    (await edit(number, { requested_reviewers: ["bob", "cleo"] })).body.requested_reviewers,
  ).toHaveLength(2);
  expect(await inboxOf(bob, number)).toEqual(["review_requested"]);
  await bench.call("POST", `/change-requests/${number}/approve`, { token: bob });
  expect((await get(number)).requested_reviewers).toEqual([person("cleo")]);
  expect(await inboxOf(bob, number)).toEqual([]);
  expect((await ask()).body.requested_reviewers).toEqual([person("cleo"), person("bob")]);
  await bench.call("POST", `/change-requests/${number}/request-changes`, {
    token: bob,
    body: { body: "Why?" },
  });
  expect((await get(number)).requested_reviewers).toEqual([person("cleo")]);
  const gone = await edit(number, { remove_requested_reviewers: ["cleo"] });
  expect(gone.body.requested_reviewers).toEqual([]);
  await ask();
  await bench.call("POST", `/change-requests/${number}/close`);
  expect(await inboxOf(bob, number)).toEqual([]);
  expect(await edit(number, { requested_reviewers: ["cleo"] })).toMatchObject({
    status: 409,
    body: { code: "not_open" },
  });
  expect((await edit(number, { requested_reviewers: [] })).body.requested_reviewers).toEqual([]);
});

test("who opened it cannot be asked, nor whose agent did; a draft can be asked for", async () => {
  for (const token of [bench.api.token, await bench.agent()]) {
    const { number } = await bench.open(token);
    await edit(number, { draft: true });
    expect(await edit(number, { add_requested_reviewers: ["@me"] }, token)).toMatchObject({
      status: 400,
      body: { code: "validation_failed" },
    });
    expect(
      (await edit(number, { add_requested_reviewers: ["bob"] }, token)).body.requested_reviewers,
    ).toEqual([person("bob")]);
    expect(await inboxOf(bob, number)).toEqual(["review_requested"]);
  }
});

test("lists have those of a person", async () => {
  const { number } = await bench.open();
  await edit(number, { assignees: ["cleo"], requested_reviewers: ["bob"] });
  const list = async (query: string, token = bench.api.token) =>
    (await bench.call("GET", `/change-requests?${query}`, { token })).body.change_requests.map(
      (cr: { number: number }) => cr.number,
    );
  expect(await list("q=assignee:cleo&limit=1")).toEqual([number]);
  expect(await list("q=assignee:@me", cleo)).toContain(number);
  expect(await list(`q=assignee:${ids["bob"]}`)).not.toContain(number);
  expect(await list("q=review-requested:@me", bob)).toContain(number);
  expect(await list("q=review-requested:@me", cleo)).not.toContain(number);
  expect((await bench.call("GET", "/change-requests?q=assignee:nobody-here")).status).toBe(400);
});

test("who leaves the account is neither shown nor counted", async () => {
  await bench.member("dora@example.com");
  const { number } = await bench.open();
  await edit(number, { assignees: ["dora"], requested_reviewers: ["dora"] });
  await bench.leave("dora@example.com");
  expect(await get(number)).toMatchObject({ assignees: [], requested_reviewers: [] });
});

test("a limited number of people is assigned and asked", async () => {
  const { number } = await bench.open();
  const emails = Array.from({ length: REVIEWERS_MAX + 1 }, (_, index) => `many-${index}@example.com`);
  for (const email of emails) await bench.member(email);
  const [last = "", ...others] = emails.toReversed();
  expect((await edit(number, { requested_reviewers: others })).body.requested_reviewers).toHaveLength(
    REVIEWERS_MAX,
  );
  expect(await edit(number, { add_requested_reviewers: [last] })).toMatchObject({ status: 400 });
  const assignees = others.slice(0, ASSIGNEES_MAX);
  expect((await edit(number, { assignees })).body.assignees).toHaveLength(ASSIGNEES_MAX);
  expect(await edit(number, { add_assignees: [last] })).toMatchObject({ status: 400 });
});
