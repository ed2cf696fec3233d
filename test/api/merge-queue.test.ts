import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { Answer } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import { looseRef } from "../helpers/remote.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let bob: string;
let now = 0;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews({ deps: { clock: () => new Date(Date.now() + now) } });
  bob = await bench.member("bob@example.com");
});
afterEach(() => {
  now = 0;
});
afterAll(() => bench?.stop());

type Cr = Answer["body"];
const call = (method: string, cr: Cr, rest = "", body?: unknown, token = bench.api.token) =>
  bench.call(method, `/change-requests/${cr.number}${rest}`, { token, ...(body !== undefined && { body }) });
const get = async (cr: Cr): Promise<Cr> => (await call("GET", cr)).body.change_request;
const merge = (cr: Cr, body: object = {}, token?: string) => call("POST", cr, "/merge", body, token);
const report = (sha: string, state: string, context = "test") =>
  bench.call("POST", `/statuses/${sha}`, { body: { state, context } });
const branchOf = (cr: Cr) => `svc-queue/main/${cr.number}`;
const queue = async (): Promise<Cr[]> => (await bench.call("GET", "/queue")).body.entries;

const rule = (more = "") =>
  bench.rule(`svc_version = 1\n[merge]\nqueue = true\n[checks]\nrequired = ["test"]\n${more}`);

/** A change request in the queue. */
async function queued(body: object = {}, files?: Record<string, string>): Promise<Cr> {
  const cr = await bench.open();
  if (files) bench.remote.commit(cr.head_ref, files);
  expect(await merge(cr, body)).toMatchObject({ status: 202 });
  return cr;
}

/** The result that is tested, once its branch has it. @param but an earlier one */
async function tested(cr: Cr, but?: string): Promise<string> {
  let sha = "";
  await until(`the result of #${cr.number} is tested`, async () => {
    sha = looseRef(bench.remote.path, branchOf(cr)) ?? "";
    return sha !== "" && sha !== but && (await get(cr)).queue?.tested_commit_sha === sha;
  });
  return sha;
}

const merged = (cr: Cr) => bench.merged(cr);
const removed = async (cr: Cr): Promise<string> => {
  await until(`#${cr.number} is out`, async () => {
    const [row] = await bench.sql`select out_reason from merge_queue_entries where cr_id = ${cr.cr_id}`;
    return typeof row?.["out_reason"] === "string";
  });
  const { state, reason } = (await get(cr)).queue;
  expect(state).toBe("removed");
  return reason;
};
const cleared = () =>
  until("its branches are gone", () => bench.remote.commitsBelow("svc-queue").length === 0);

test("lands exactly the commit that was tested, and says so all along", async () => {
  rule();
  const base = bench.remote.sha("main");
  const cr = await bench.open();
  bench.remote.commit("main", { b: "1\n" });
  const answer = await merge(cr, { message: "Once", delete_branch: true });
  expect(answer).toMatchObject({
    status: 202,
    body: {
      status: "open",
      merge_queue: true,
      queue: {
        position: 1,
        reason: null,
        method: "merge",
        delete_branch: true,
        queued_by: { name: "first" },
      },
    },
  });
  expect(answer.body.merge).toBeUndefined();
  const sha = await tested(cr);
  expect(bench.remote.git("log", "-1", "--format=%P %s", sha)).toBe(
    `${bench.remote.sha("main")} ${bench.remote.sha(cr.head_ref)} Once\n`,
  );
  expect((await get(cr)).queue).toMatchObject({
    state: "testing",
    checks: { state: "pending", required: [{ context: "test", state: null }] },
  });
  expect(await queue()).toMatchObject([{ number: cr.number, queue: { position: 1 } }]);
  const { branches } = (await bench.call("GET", "/branches")).body;
  expect(branches.map(({ name }: { name: string }) => name)).not.toContain(branchOf(cr));
  // the head's own check does not count
  await report(bench.remote.sha(cr.head_ref), "success");
  await report(sha, "pending");
  await report(sha, "success", "other");
  expect(bench.remote.sha("main")).not.toBe(base);
  expect(bench.remote.sha("main")).not.toBe(sha);
  await report(sha, "success");
  await merged(cr);
  expect(bench.remote.sha("main")).toBe(sha);
  expect(await get(cr)).toMatchObject({ merge_commit_sha: sha, queue: null, merger: { name: "first" } });
  await until("the head branch is deleted", async () => !bench.remote.has(cr.head_ref));
  await cleared();
  expect(await queue()).toEqual([]);
});

test.each(sample(1, ["squash", "rebase", "merge", "ff-only"]))(
  "each is tested on top of the one before it: %s",
  async (method) => {
    rule('[change_requests]\nmethods = ["squash", "rebase", "merge"]\n');
    const first = await queued({ method });
    const one = await tested(first);
    const second = await queued({ method: method === "ff-only" ? "squash" : method });
    const two = await tested(second);
    expect(bench.remote.git("rev-parse", `${two}^1`).trim()).toBe(one);
    // the second has passed, and waits for the first
    await report(two, "success");
    expect(await queue()).toMatchObject([{ number: first.number }, { queue: { position: 2 } }]);
    await report(one, "success");
    await merged(second);
    expect(bench.remote.sha("main")).toBe(two);
    await cleared();
  },
);

test("a failed one leaves with the reason, and those behind it are tested without it", async () => {
  rule();
  const first = await queued();
  const one = await tested(first);
  const second = await queued();
  const two = await tested(second);
  await report(two, "success");
  await report(one, "failure");
  expect(await removed(first)).toContain('The required check "test" failed');
  const again = await tested(second, two);
  expect(bench.remote.git("rev-parse", `${again}^1`).trim()).toBe(bench.remote.sha("main"));
  expect(bench.remote.git("ls-tree", "--name-only", again)).not.toContain(first.head_ref);
  await report(again, "success");
  await merged(second);
  expect((await get(first)).queue).toMatchObject({
    state: "removed",
    position: null,
    tested_commit_sha: one,
  });
  // it can be queued again
  expect(await merge(first)).toMatchObject({ status: 202, body: { queue: { reason: null } } });
  await report(await tested(first), "success");
  await merged(first);
});

test("one that fails on top of others is not blamed before they have landed or left", async () => {
  rule();
  const [first, second] = [await queued(), await queued()];
  const third = await queued();
  const [one, two, onBoth] = [await tested(first), await tested(second), await tested(third)];
  await report(two, "failure");
  // without the one that failed
  const three = await tested(third, onBoth);
  expect(bench.remote.git("rev-parse", `${three}^1`).trim()).toBe(one);
  expect((await get(second)).queue).toMatchObject({ position: 2, reason: null });
  await report(one, "failure");
  await removed(first);
  const again = await tested(second, two);
  await report(again, "success");
  await merged(second);
  await report(await tested(third, three), "success");
  await merged(third);
  await cleared();
});

test("a conflict with one before it waits; a conflict with the base takes it out", async () => {
  rule();
  const file = { same: `${crypto.randomUUID()}\n` };
  const first = await queued({}, { ...file });
  const second = await queued({}, { same: "other\n" });
  const one = await tested(first);
  await report(one, "success");
  await merged(first);
  expect(await removed(second)).toBe("The branches conflict.");
  await cleared();
  expect(await merge(second)).toMatchObject({ status: 409, body: { code: "merge_conflict" } });
});

test("a conflict with one that then fails does not take it out", async () => {
  rule();
  const first = await queued({}, { twice: "1\n" });
  const second = await queued({}, { twice: "2\n" });
  await report(await tested(first), "failure");
  await removed(first);
  await report(await tested(second), "success");
  await merged(second);
  await cleared();
});

test("a push to the base builds everything again", async () => {
  rule();
  const cr = await queued();
  const sha = await tested(cr);
  const pushed = bench.remote.commit("main", { [crypto.randomUUID()]: "1\n" });
  await report(sha, "success");
  const again = await tested(cr, sha);
  expect(bench.remote.git("rev-parse", `${again}^1`).trim()).toBe(pushed);
  await report(again, "success");
  await merged(cr);
  expect(bench.remote.sha("main")).toBe(again);
});

/** What takes a change request out, and how it shows. */
type Exit = [what: string, act: (cr: Cr) => unknown, reason: string | null];
const exits: Exit[] = [
  ["a push to its head", (cr) => void bench.remote.commit(cr.head_ref, { x: "1\n" }), "Commits were pushed"],
  ["becoming a draft", (cr) => call("PATCH", cr, "", { draft: true }), "became a draft"],
  ["a close", (cr) => call("POST", cr, "/close"), "was closed"],
  ["another base", (cr) => call("PATCH", cr, "", { base_ref: "stable" }), "base of the change request"],
  ["the person", (cr) => call("DELETE", cr, "/queue"), null],
];
/** By a reviewer, without whom it would not be merged either: one in every run. */
const objections: Exit[] = [
  [
    "requested changes",
    (cr) => call("POST", cr, "/request-changes", { body: "Why?" }, bob),
    "changes were requested",
  ],
  ["a withdrawn approval", (cr) => call("DELETE", cr, "/approve", undefined, bob), "needs 1 approval"],
];
const leaving = [...sample(1, objections), ...sample(1, exits)];
test.each(leaving)("%s takes it out, and the others go on", async (_, act, reason) => {
  rule("[change_requests]\nrequired_approvals = 1\n");
  if (!bench.remote.has("stable")) bench.remote.branch("stable", "main");
  const [first, second] = [await bench.open(), await bench.open()];
  for (const cr of [first, second]) {
    expect(await merge(cr)).toMatchObject({ status: 409, body: { code: "approval_required" } });
    await call("POST", cr, "/approve", undefined, bob);
    expect(await merge(cr)).toMatchObject({ status: 202 });
  }
  const one = await tested(first);
  const two = await tested(second);
  await act(first);
  await report(one, "success");
  const again = await tested(second, two);
  await report(again, "success");
  await merged(second);
  await cleared();
  if ((await get(first)).status === "closed") await call("POST", first, "/reopen");
  const { status, queue: left } = await get(first);
  expect(status).toBe("open");
  if (reason === null) expect(left).toBeNull();
  else expect(left).toMatchObject({ state: "removed", reason: expect.stringContaining(reason) });
  expect(bench.remote.git("log", "--format=%H", "main")).not.toContain(one);
});

test("checks that never report take it out after the limit of the manifest", async () => {
  rule();
  const cr = await queued();
  await tested(cr);
  now = 61 * 60_000;
  // wakes the worker
  await report(bench.remote.sha(cr.head_ref), "pending");
  await until("it is late", async () => {
    await report((await get(cr)).queue.tested_commit_sha, "pending");
    return (await get(cr)).queue.state === "removed";
  });
  expect((await get(cr)).queue.reason).toContain("within 60 minutes");
});

test("without a required check it lands at once, one after the other, and no branch is made", async () => {
  bench.rule("svc_version = 1\n[merge]\nqueue = true\n");
  const base = bench.remote.sha("main");
  const crs = [await bench.open(), await bench.open(), await bench.open()];
  await Promise.all(crs.map((cr) => merge(cr, { method: "squash" })));
  for (const cr of crs) await merged(cr);
  expect(bench.remote.git("rev-list", "--count", `${base}..main`).trim()).toBe("3");
});

test("auto-merge waits for the checks of the head, and then puts it into the queue", async () => {
  rule();
  const cr = await bench.open();
  const head = bench.remote.sha(cr.head_ref);
  await call("PUT", cr, "/auto-merge", { head_commit_sha: head, method: "squash" });
  expect(await get(cr)).toMatchObject({ auto_merge: { enabled: true }, queue: null });
  await report(head, "success");
  const sha = await tested(cr);
  expect(await get(cr)).toMatchObject({ auto_merge: null, queue: { method: "squash", state: "testing" } });
  await report(sha, "success");
  await merged(cr);
});

test("auto-merge does not queue a head whose checks have not passed, when it tries the merge itself", async () => {
  rule();
  const enable = async (state: string) => {
    const cr = await bench.open();
    const head = bench.remote.sha(cr.head_ref);
    await report(head, state);
    await call("PUT", cr, "/auto-merge", { head_commit_sha: head, method: "squash" });
    return cr;
  };
  // a first try does not ask the stored rules
  const waiting = await enable("pending");
  // the round after the one that queues another has tried all that were on before it
  for (let round = 0; round < 2; round++) {
    const other = await enable("success");
    await report(await tested(other), "success");
    await merged(other);
  }
  expect(await get(waiting)).toMatchObject({ auto_merge: { enabled: true }, queue: null });
  expect((await call("POST", waiting, "/close")).status).toBe(200);
});

test("queued twice it keeps its place; a merge with another head is refused", async () => {
  rule();
  const [first, second] = [await queued(), await queued()];
  expect((await merge(first)).body.queue.position).toBe(1);
  expect(await merge(second, { head_commit_sha: "0".repeat(40) })).toMatchObject({
    status: 409,
    body: { code: "head_moved" },
  });
  for (const cr of [first, second]) await call("DELETE", cr, "/queue");
  await cleared();
  expect(await call("DELETE", first, "/queue")).toMatchObject({ status: 200, body: { queue: null } });
});

test("a person who has left the account merges nothing", async () => {
  rule();
  const cleo = await bench.member("cleo@example.com");
  const cr = await bench.open();
  expect((await merge(cr, {}, cleo)).status).toBe(202);
  const sha = await tested(cr);
  await bench.leave("cleo@example.com");
  await report(sha, "success");
  expect(await removed(cr)).toContain("has left the account");
  expect(bench.remote.sha("main")).not.toBe(sha);
});
