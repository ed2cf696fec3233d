import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { Answer } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import { asks, type ReviewBench, startReviews } from "../helpers/reviewers.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let owner: string;
let bob: string;
let cleo: string;
let branches = 0;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  owner = bench.api.token;
  bob = await bench.member("bob@example.com");
  cleo = await bench.member("cleo@example.com");
});
afterEach(() => bench?.rule(asks(0)));
afterAll(() => bench?.stop());

type Cr = Answer["body"];
const call = (method: string, cr: Cr, rest = "", body?: unknown, token = owner) =>
  bench.call(method, `/change-requests/${cr.number}${rest}`, { token, ...(body !== undefined && { body }) });
const get = async (cr: Cr): Promise<Cr> => (await call("GET", cr)).body.change_request;
const enable = (cr: Cr, more: object = {}, token = owner) =>
  call("PUT", cr, "/auto-merge", { head_commit_sha: bench.remote.sha(cr.head_ref), ...more }, token);
const approve = (cr: Cr) => call("POST", cr, "/approve", undefined, bob);
const request = (cr: Cr) => call("POST", cr, "/request-changes", { body: "Why?" }, bob);
const withdraw = (cr: Cr) => call("DELETE", cr, "/request-changes", undefined, bob);
const report = (cr: Cr, state: string) =>
  bench.call("POST", `/statuses/${bench.remote.sha(cr.head_ref)}`, { body: { state, context: "test" } });
const merged = (cr: Cr) => bench.merged(cr);
const CHECKS = '[checks]\nrequired = ["test"]\n';

/** Returns when the worker has had a look at a change request that is ready, at the latest. */
async function afterARound(): Promise<void> {
  bench.rule(asks(0));
  const ready = await bench.open();
  expect((await enable(ready)).status).toBe(200);
  await merged(ready);
}

/** What keeps a change request from being merged, and what then allows it. */
type Wait = [what: string, manifest: string, block: (cr: Cr) => unknown, allow: (cr: Cr) => unknown];
/** Of people: in every run. */
const reviews: Wait[] = [
  ["an approval", asks(1), () => {}, approve],
  ["the withdrawal of requested changes", asks(0), request, withdraw],
];
const checks: Wait[] = [
  ["a check", `svc_version = 1\n${CHECKS}`, (cr) => report(cr, "pending"), (cr) => report(cr, "success")],
  [
    "a failed check that passes",
    `svc_version = 1\n${CHECKS}`,
    (cr) => report(cr, "failure"),
    (cr) => report(cr, "success"),
  ],
  ["an approval and a check", `${asks(1)}${CHECKS}`, approve, (cr) => report(cr, "success")],
];

test.each([...reviews, ...sample(1, checks)])(
  "waits for %s, then merges the commit as the person who asked",
  async (_, manifest, block, allow) => {
    bench.rule(manifest);
    const cr = await bench.open();
    await block(cr);
    const asked = await enable(cr, { method: "squash" }, cleo);
    expect(asked.body.auto_merge).toMatchObject({
      enabled: true,
      off_reason: null,
      head_commit_sha: bench.remote.sha(cr.head_ref),
      method: "squash",
      delete_branch: false,
      author: { name: "cleo", kind: "user" },
    });
    // by hand it could not be merged either
    expect((await call("POST", cr, "/merge")).status).toBe(409);
    expect(await get(cr)).toMatchObject({ status: "open", auto_merge: { enabled: true } });
    await allow(cr);
    await merged(cr);
    const now = await get(cr);
    expect(now).toMatchObject({
      merge_method: "squash",
      merger: { name: "cleo", kind: "user", session_id: null },
      head_commit_sha: bench.remote.sha(cr.head_ref),
      auto_merge: null,
    });
    expect(bench.remote.git("log", "--format=%an", "-1", now.merge_commit_sha).trim()).toBe("cleo");
  },
);

test("merges at once what can be merged, with message and method, and deletes the branch if that was chosen", async () => {
  const cr = await bench.open();
  await enable(cr, { method: "squash", message: "By itself", delete_branch: true });
  await merged(cr);
  const { merge_commit_sha } = await get(cr);
  expect(bench.remote.git("log", "-1", "--format=%s", merge_commit_sha).trim()).toBe("By itself");
  await until("the branch is gone", () => bench.remote.git("branch", "--list", cr.head_ref) === "");
});

const move = (cr: Cr) => bench.remote.commit(cr.head_ref, { [`later-${++branches}`]: "1\n" });

async function conflict({ head_ref }: Cr): Promise<void> {
  bench.remote.commit("main", { [head_ref]: "another\n" });
}

async function rebase(cr: Cr): Promise<void> {
  bench.remote.branch("another-base", "main");
  await call("PATCH", cr, "", { base_ref: "another-base" });
}

async function reopen(cr: Cr): Promise<void> {
  await call("POST", cr, "/close");
  await call("POST", cr, "/reopen");
}

async function redraft(cr: Cr): Promise<void> {
  for (const draft of [true, false]) await call("PATCH", cr, "", { draft });
}

/** What turns it off although the change request is then approved; null: without a reason. */
type End = [what: string, act: (cr: Cr) => unknown, reason: string | null];
/** Without these, what nobody has seen or wants any more would be merged: in every run. */
const revoked: End[] = [
  ["a push", move, "pushed|moved"],
  ["the person leaving", () => bench.leave("cleo@example.com"), "left the account"],
  ["being turned off", (cr) => call("DELETE", cr, "/auto-merge"), null],
];
const ends: End[] = [
  [
    "a push that is taken back",
    async (cr) => {
      const head = bench.remote.sha(cr.head_ref);
      move(cr);
      await get(cr);
      bench.remote.branch(cr.head_ref, head);
    },
    "pushed",
  ],
  ["closing, and reopening", reopen, "closed"],
  ["another base", rebase, "base"],
  ["becoming a draft, and ready again", redraft, "draft"],
  ["a conflict", conflict, "conflict"],
  ["the method being forbidden", () => bench.rule(`${asks(1)}methods = ["rebase"]\n`), "method"],
  ["its branch being deleted", (cr) => bench.remote.deleteBranch(cr.head_ref), "no longer has the branch"],
];

test.each([...revoked, ...sample(2, ends)])(
  "%s turns it off, with the reason in the change request",
  async (_, act, reason) => {
    bench.rule(asks(1));
    const cr = await bench.open();
    expect((await enable(cr, { method: "squash" }, cleo)).status).toBe(200);
    await act(cr);
    await approve(cr);
    if (reason !== null) {
      await until("it is off", async () => (await get(cr)).auto_merge?.enabled === false);
      expect((await get(cr)).auto_merge.off_reason).toMatch(new RegExp(reason));
    } else expect((await get(cr)).auto_merge).toBeNull();
    await afterARound();
    expect((await get(cr)).status).toBe("open");
    cleo = await bench.member("cleo@example.com").catch(() => cleo);
  },
);

test("the merge of the change request below, which changes the base, turns it off", async () => {
  bench.rule(asks(1));
  const lower = await bench.open();
  const head = `top-${++branches}`;
  bench.remote.commit(head, { [head]: "1\n" }, { from: lower.head_ref });
  const body = { title: "top", head_ref: head, base_ref: lower.head_ref };
  const { body: upper } = await bench.call("POST", "/change-requests", { body });
  await enable(upper);
  await approve(lower);
  expect((await call("POST", lower, "/merge")).status).toBe(200);
  expect((await get(upper)).auto_merge).toMatchObject({
    enabled: false,
    off_reason: expect.stringContaining("base"),
  });
});

test("a token that has ended merges nothing; while it is there, it merges as the script", async () => {
  bench.rule(asks(1));
  const [first, second] = [await bench.open(), await bench.open()];
  const [keeps, ends] = [await bench.agent(), await bench.agent()];
  expect((await enable(first, {}, keeps)).body.auto_merge.author).toMatchObject({
    kind: "token",
    name: "agent",
  });
  await enable(second, {}, ends);
  expect((await bench.api.call("POST", "/v1/auth/revoke", { token: ends })).status).toBeLessThan(300);
  await approve(first);
  await approve(second);
  await merged(first);
  expect((await get(first)).merger).toMatchObject({ kind: "token", name: "agent" });
  await until("it is off", async () => (await get(second)).auto_merge.enabled === false);
  expect((await get(second)).auto_merge.off_reason).toContain("token");
});

test("is refused where a merge would be, and in the place of an earlier wish", async () => {
  bench.rule(asks(1));
  const cr = await bench.open();
  const old = "a".repeat(40);
  const script = await bench.agent();
  const refusals: [body: object, token: string, status: number, code: string][] = [
    [{ head_commit_sha: old }, owner, 409, "head_moved"],
    [{ head_commit_sha: "main" }, owner, 400, "validation_failed"],
    [{ method: "ff-only", message: "m" }, owner, 400, "validation_failed"],
    [{ method: "octopus" }, owner, 400, "validation_failed"],
    [{ message: "a\0" }, owner, 400, "validation_failed"],
    [{ delete_branch: true }, script, 403, "forbidden"],
  ];
  for (const [body, token, status, code] of refusals) {
    const answer = await enable(cr, body, token);
    expect([body, answer.status, answer.body.code]).toEqual([body, status, code]);
  }
  expect((await get(cr)).auto_merge).toBeNull();
  await enable(cr, { method: "squash" });
  expect((await enable(cr, { method: "rebase" }, bob)).body.auto_merge).toMatchObject({
    method: "rebase",
    author: { name: "bob" },
  });
  expect((await call("DELETE", cr, "/auto-merge", undefined, script)).body.auto_merge).toBeNull();
  expect((await call("DELETE", cr, "/auto-merge")).status).toBe(200);
  await call("PATCH", cr, "", { draft: true });
  expect((await enable(cr)).body.code).toBe("draft");
  await call("POST", cr, "/close");
  expect((await enable(cr)).body.code).toBe("not_open");
  expect((await call("DELETE", cr, "/auto-merge")).body.code).toBe("not_open");
});
