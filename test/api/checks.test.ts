import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import { CONTEXTS_MAX } from "../../src/contract/commit-status.ts";
import type { MergeStep } from "../../src/deps.ts";
import { followEvents } from "../helpers/event-stream.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { mergePause, type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
/** A project token, as CI has one. */
let ci: string;
const pause = mergePause();

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews({ deps: pause.deps });
  ci = await bench.agent();
});
afterAll(() => bench?.stop());
afterEach(() => pause.clear());

const requires = (...checks: string[]) => `svc_version = 1\n[checks]\nrequired = ${JSON.stringify(checks)}\n`;
const headOf = (cr: { head_ref: string }) => bench.remote.sha(cr.head_ref);
const report = (sha: string, body: object, token = ci) =>
  bench.call("POST", `/statuses/${sha}`, { token, body });
const combined = async (sha: string) => (await bench.call("GET", `/commits/${sha}/status`)).body;
const get = async (cr: { number: number }) =>
  (await bench.call("GET", `/change-requests/${cr.number}`)).body.change_request;
const merge = (cr: { number: number }) => bench.call("POST", `/change-requests/${cr.number}/merge`);

test("a status has GitHub's fields, and a later one of its context replaces it", async () => {
  bench.rule(requires());
  const cr = await bench.open();
  const sha = headOf(cr);
  expect(await combined(sha)).toEqual({ sha, state: "pending", total_count: 0, statuses: [] });
  const made = await report(sha.toUpperCase(), {
    state: "pending",
    context: "ci / test",
    description: "80 to go",
    target_url: "https://ci.example.com/7?a=b",
  });
  expect(made).toMatchObject({
    status: 201,
    body: {
      sha,
      state: "pending",
      context: "ci / test",
      description: "80 to go",
      target_url: "https://ci.example.com/7?a=b",
      creator: { kind: "token", name: "agent" },
    },
  });
  const later = await report(sha, { state: "success", context: "ci / test" });
  expect(later.body).toMatchObject({ id: made.body.id, description: null, target_url: null });
  expect(later.body.created_at).toBe(made.body.created_at);
  await report(sha, { state: "error" }, bench.api.token);
  expect(await combined(sha)).toMatchObject({
    state: "failure",
    total_count: 2,
    statuses: [
      { context: "ci / test", state: "success" },
      { context: "default", state: "error", creator: { kind: "user" } },
    ],
  });
  expect((await get(cr)).checks).toEqual({
    state: "failure",
    total: 2,
    passed: 1,
    failed: 1,
    pending: 0,
    required: [],
  });
  const { body: list } = await bench.call("GET", "/change-requests");
  expect(list.change_requests[0].checks.total).toBe(2);
  // checks that are not required do not hold a merge
  expect((await merge(cr)).status).toBe(200);
});

test("invalid reports are refused, and nothing is stored", async () => {
  const sha = headOf(await bench.open());
  const rows: [sha: string, body: object, status: number][] = [
    [sha, {}, 400],
    [sha, { state: "passed" }, 400],
    [sha, { state: "success", context: "" }, 400],
    [sha, { state: "success", context: " " }, 400],
    [sha, { state: "success", context: "a\nb" }, 400],
    [sha, { state: "success", context: "\u001b[31m" }, 400],
    [sha, { state: "success", context: "x".repeat(256) }, 400],
    [sha, { state: "success", description: "x".repeat(141) }, 400],
    [sha, { state: "success", description: "\0" }, 400],
    [sha, { state: "success", target_url: "javascript:alert(1)" }, 400],
    [sha, { state: "success", target_url: "https://me:secret@ci.example.com/" }, 400],
    [sha, { state: "success", target_url: "/relative" }, 400],
    [sha.slice(0, 12), { state: "success" }, 400],
    ["main", { state: "success" }, 400],
    ["f".repeat(40), { state: "success" }, 400],
  ];
  for (const [at, body, status] of rows)
    expect([body, (await report(at, body)).status]).toEqual([body, status]);
  expect((await combined(sha)).total_count).toBe(0);
});

test("a commit has a limited number of contexts, which can still change", async () => {
  const sha = headOf(await bench.open());
  for (let at = 0; at < CONTEXTS_MAX; at++)
    expect((await report(sha, { state: "pending", context: `c${at}` })).status).toBe(201);
  expect((await report(sha, { state: "pending", context: "more" })).status).toBe(400);
  expect((await report(sha, { state: "success", context: "c7" })).status).toBe(201);
  expect((await combined(sha)).total_count).toBe(CONTEXTS_MAX);
});

test("a merge requires the checks of the manifest on the last commit", async () => {
  bench.rule(requires("test", "lint"));
  const cr = await bench.open();
  const earlier = headOf(cr);
  await report(earlier, { state: "success", context: "test" });
  await report(earlier, { state: "success", context: "lint" });
  bench.remote.commit(cr.head_ref, { more: "1\n" });
  const sha = headOf(cr);
  const refused = (checks: object[]) => ({ status: 409, body: { code: "checks_required", checks } });
  expect(await merge(cr)).toMatchObject(
    refused([
      { context: "test", state: null },
      { context: "lint", state: null },
    ]),
  );
  await report(sha, { state: "success", context: "test" });
  await report(sha, { state: "success", context: "other" });
  for (const state of ["pending", "failure", "error"]) {
    await report(sha, { state, context: "lint" });
    expect(await merge(cr)).toMatchObject(refused([{ context: "lint", state }]));
  }
  expect((await merge(cr)).body.error).toContain('"lint" failed. See them with: svc cr checks');
  expect((await get(cr)).checks).toMatchObject({
    state: "failure",
    required: [
      { context: "test", state: "success" },
      { context: "lint", state: "error" },
    ],
  });
  // an invalid list removes no rule
  bench.rule("svc_version = 1\n[checks]\nrequired = [1]\n");
  expect((await merge(cr)).body.code).toBe("checks_required");
  await report(sha, { state: "success", context: "lint" });
  const merged = await merge(cr);
  expect([merged.status, merged.body.checks.state]).toEqual([200, "success"]);
});

test("the error of a merge names up to three checks", async () => {
  const cr = await bench.open();
  const missing = (name: string) => `"${name}" has not been reported`;
  const [a, b, c] = [missing("a"), missing("b"), missing("c")];
  const rows: [checks: string[], said: string][] = [
    [["a"], a],
    [["a", "b", "c"], `${a}, ${b}, ${c}`],
    [["a", "b", "c", "d"], `${a}, ${b}, ${c}, 1 more`],
    [["a", "b", "c", "d", "e"], `${a}, ${b}, ${c}, 2 more`],
  ];
  for (const [checks, said] of rows) {
    bench.rule(requires(...checks));
    expect((await merge(cr)).body.error).toContain(`on its last commit: ${said}. See them`);
  }
});

test("a check that fails during a merge holds it until the intent is recorded", async () => {
  bench.rule(requires("test"));
  const rows: [step: MergeStep, status: number][] = [
    ["commit-written", 409],
    ["intent-recorded", 200],
  ];
  for (const [step, status] of rows) {
    const cr = await bench.open();
    await report(headOf(cr), { state: "success", context: "test" });
    pause.at(step, () => report(headOf(cr), { state: "failure", context: "test" }));
    expect([step, (await merge(cr)).status]).toEqual([step, status]);
  }
});

test("checks that the base begins to require during a merge are required", async () => {
  bench.rule(requires());
  const cr = await bench.open();
  pause.at("commit-written", () => bench.rule(requires("test")));
  expect((await merge(cr)).body.code).toBe("checks_required");
});

test("an event names the open change requests of the commit", async () => {
  bench.rule(requires());
  const cr = await bench.open();
  const sha = headOf(cr);
  const other = bench.remote.sha("main");
  const stream = await followEvents(bench.api.url, bench.api.token, bench.project.project_id);
  await report(other, { state: "pending" });
  await report(sha, { state: "pending" });
  await stream.waitFor(
    "that of the change request",
    ({ type, number }) => type === "check" && number === cr.number,
  );
  const events = stream.events().filter(({ type }) => type === "check");
  expect(events).toMatchObject([
    { id: other, action: "changed" },
    { id: sha, number: cr.number, action: "changed" },
  ]);
  expect(events[0]).not.toHaveProperty("number");
  await stream.close();
});

test("an event of a commit names the first twenty of its open change requests", async () => {
  const first = await bench.open();
  const sha = headOf(first);
  const numbers = [first.number];
  for (let i = 1; i <= 20; i++) {
    bench.remote.branch(`same-${i}`, sha);
    const made = await bench.call("POST", "/change-requests", {
      body: { title: "t", head_ref: `same-${i}` },
    });
    numbers.push(made.body.number);
  }
  const { api, project } = bench;
  const stream = await followEvents(api.url, api.token, project.project_id);
  await report(sha, { state: "pending" });
  await report(bench.remote.sha("main"), { state: "pending" });
  await stream.waitFor("the event after them", ({ type, id }) => type === "check" && id !== sha);
  const named = stream.events().filter(({ type, id }) => type === "check" && id === sha);
  expect(named.map(({ number }) => number)).toEqual(numbers.slice(0, 20));
  await stream.close();
});
