import { afterAll, beforeAll, expect } from "bun:test";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import type { Change } from "../helpers/remote.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let member: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  member = await bench.member("second@example.com");
});
afterAll(() => bench?.stop());

const FILE = "one\ntwo\nthree\nfour\nfive\n";
let count = 0;

/** A change request whose base has `onBase` since, if it is given. */
async function setUp(onHead: Record<string, Change>, onBase?: Record<string, Change>) {
  const [base, head] = [`base-${++count}`, `head-${count}`];
  bench.remote.commit(base, { a: FILE }, { from: "main" });
  bench.remote.commit(head, onHead, { from: base });
  if (onBase) bench.remote.commit(base, onBase);
  const { body: cr } = await bench.call("POST", "/change-requests", {
    body: { title: "t", head_ref: head, base_ref: base },
  });
  const update = (body?: object, token = member) =>
    bench.call("POST", `/change-requests/${cr.number}/update-branch`, { token, ...(body && { body }) });
  const tips = () => ({ base: bench.remote.sha(base), head: bench.remote.sha(head) });
  return { base, head, cr, update, tips, before: tips() };
}

test("the base is merged into the head, by the person, and only once", async () => {
  const { base, head, cr, update, tips, before } = await setUp(
    { a: FILE.replace("one", "1") },
    { a: FILE.replace("five", "5"), b: "new\n" },
  );
  const { base: base_commit_sha, head: head_commit_sha } = before;
  const updated = await update({ base_commit_sha, head_commit_sha });
  expect(updated.status).toBe(200);
  const after = tips();
  expect(updated.body).toEqual({ updated: true, head_commit_sha: after.head, base_commit_sha });
  expect(after.base).toBe(before.base);
  expect(bench.remote.git("show", `${head}:a`)).toBe("1\ntwo\nthree\nfour\n5\n");
  expect(bench.remote.git("show", `${head}:b`)).toBe("new\n");
  const said = bench.remote.git("log", "-1", "--format=%P%n%an <%ae>%n%B", head).trim().split("\n");
  expect(said).toEqual([
    `${before.head} ${before.base}`,
    "second <second@example.com>",
    `Merge branch '${base}' into ${head}`,
  ]);
  const shown = await bench.call("GET", `/change-requests/${cr.number}`);
  expect(shown.body.change_request).toMatchObject({ status: "open", head_commit_sha: after.head });
  expect((await update()).body).toEqual({ updated: false, head_commit_sha: after.head, base_commit_sha });
  expect(tips()).toEqual(after);
  const { body } = await bench.call("GET", `/change-requests/${cr.number}/timeline`);
  const pushed = body.events.filter(({ event }: { event: string }) => event === "pushed");
  expect(pushed.map(({ actor, to }: { actor: { name: string }; to: string }) => [actor.name, to])).toEqual([
    ["second", after.head],
  ]);
});

const MOVED = { head_commit_sha: "a".repeat(40) };
const CONFLICT = { a: FILE.replace("one", "eins") };
const REFUSED: [what: string, onBase: Record<string, Change>, body: object | undefined, error: object][] = [
  ["conflicts", CONFLICT, undefined, { code: "merge_conflict", conflicts: ["a"] }],
  ["a head that was not seen", { b: "1\n" }, MOVED, { code: "head_moved" }],
  ["a base that was not seen", { b: "1\n" }, { base_commit_sha: "a".repeat(40) }, { code: "base_moved" }],
];

test.each(REFUSED)("with %s, no branch moves", async (_, onBase, body, error) => {
  const { cr, update, tips, before } = await setUp({ a: FILE.replace("one", "1") }, onBase);
  const refused = await update(body);
  expect([refused.status, refused.body]).toEqual([409, expect.objectContaining(error)]);
  if (refused.body.code === "merge_conflict")
    expect(refused.body.error).toContain(`svc cr resolve-conflicts ${cr.number}`);
  expect(tips()).toEqual(before);
});

test("a head whose commits are in the base is not moved to the base", async () => {
  const { base, head, update, tips } = await setUp({ b: "1\n" });
  bench.remote.git("branch", "-f", head, `${base}^`);
  const before = tips();
  expect((await update()).status).toBe(409);
  expect(tips()).toEqual(before);
});

test("only people update a branch, of an open change request, which is not protected", async () => {
  const { cr, update, tips, before } = await setUp({ b: "1\n" }, { c: "1\n" });
  expect((await update(undefined, await bench.agent())).body.code).toBe("forbidden");
  await bench.call("POST", `/change-requests/${cr.number}/close`);
  expect((await update()).body.code).toBe("not_open");
  await bench.call("POST", `/change-requests/${cr.number}/reopen`);
  bench.rule(`svc_version = 1\n[branches]\nprotected = ["${cr.head_ref}"]\n`);
  await bench.call("GET", `/change-requests/${cr.number}`);
  expect((await update()).body.code).toBe("forbidden");
  expect(tips()).toEqual(before);
});
