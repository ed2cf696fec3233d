import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import postgres from "postgres";
import type { MergeMethod } from "../../src/contract/merge-method.ts";
import type { Api } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import type { Remote } from "../helpers/remote.ts";
import { mergePause, type ReviewBench, startReviews } from "../helpers/reviewers.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const pause = mergePause();
let secondsLater = 0;
const clock = () => new Date(Date.now() + secondsLater * 1_000);
let bench: ReviewBench;
let api: Api;
let remote: Remote;
let sql: postgres.Sql;
let count = 0;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews({ deps: { ...pause.deps, clock } });
  ({ api, remote } = bench);
  bench.rule('svc_version = 1\n[change_requests]\nmethods = ["merge", "squash", "rebase", "ff-only"]\n');
  sql = postgres(api.databaseUrl ?? "", { max: 1, onnotice() {} });
});
afterEach(() => pause.clear());
afterAll(async () => {
  await sql?.end({ timeout: 1 });
  await bench?.stop();
});

const tree = (ref: string) => remote.git("rev-parse", `${ref}^{tree}`).trim();
const branches = () => remote.git("branch", "--format=%(refname:short)").trim().split("\n");
const get = async (number: number) =>
  (await bench.call("GET", `/change-requests/${number}`)).body.change_request;
const revert = (number: number, body?: object, token?: string) =>
  bench.call("POST", `/change-requests/${number}/revert`, {
    ...(body && { body }),
    ...(token !== undefined && { token }),
  });

/** Opens a change request of two commits, which add a file each. */
async function open(title = "Add it"): Promise<{ number: number; head: string }> {
  const head = `feature/work-${++count}`;
  remote.commit(head, { [`one-${count}`]: "1\n" }, { from: "main" });
  remote.commit(head, { [`two-${count}`]: "2\n" });
  const { body } = await bench.call("POST", "/change-requests", { body: { title, head_ref: head } });
  return { number: body.number, head };
}

/** Merges one, and moves the base before and after that with other files. */
async function merged(method: MergeMethod = "merge") {
  const { number, head } = await open();
  if (method !== "ff-only") remote.commit("main", { [`before-${count}`]: "b\n" });
  const before = tree("main");
  const { status, body } = await bench.call("POST", `/change-requests/${number}/merge`, { body: { method } });
  expect(status).toBe(200);
  return { number, head, before, commit: body.merge_commit_sha as string };
}

test.each(sample(2, ["merge", "squash", "rebase", "ff-only"] as const))(
  "a change request that was merged by %s is undone by one commit of the caller",
  async (method) => {
    const { number, before, commit } = await merged(method);
    const base = remote.commit("main", { [`after-${count}`]: "a\n" });
    const made = await revert(number);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({
      title: 'Revert "Add it"',
      status: "open",
      base_ref: "main",
      head_ref: `revert-${number}-feature-work-${count}`,
      reverts: number,
      reverted_by: null,
    });
    expect(made.body.description).toMatch(new RegExp(`^Reverts \\[#${number}\\]\\(http.*/${number}\\)\\.$`));
    const { head_ref: branch } = made.body;
    const { name, email } = (await api.call("GET", "/v1/accounts/me")).body;
    expect(remote.git("log", "-1", "--format=%P%n%an <%ae>%n%B", branch).trim().split("\n")).toEqual([
      base,
      `${name} <${email}>`,
      'Revert "Add it"',
      "",
      `This reverts change request #${number} (commit ${commit}).`,
    ]);
    expect(remote.git("diff", "--name-only", before, branch)).toBe(`after-${count}\n`);
    expect(await get(number)).toMatchObject({ reverts: null, reverted_by: made.body.number });
  },
);

test("one that reached its base by a push is undone, too", async () => {
  const { number, head } = await open();
  await get(number);
  const before = tree("main");
  remote.branch("main", head);
  // on a busy machine, a reader does not wait for the commits
  await until("it is merged", async () => (await get(number)).status === "merged");
  expect(await get(number)).toMatchObject({ merged_by: null });
  const { body } = await revert(number);
  expect(tree(body.head_ref)).toBe(before);
});

test("what the caller chose is used, and its merge can be reverted in turn", async () => {
  const { number, before } = await merged("squash");
  const after = tree("main");
  const chosen = { title: "Undo", description: "It broke.", branch: "undo/it" };
  const made = await revert(number, chosen);
  expect(made.body).toMatchObject({ title: "Undo", description: "It broke.", head_ref: "undo/it" });
  await bench.call("POST", `/change-requests/${made.body.number}/merge`);
  expect(tree("main")).toBe(before);
  expect((await revert(number)).body).toMatchObject({ code: "nothing_to_revert" });
  const again = await revert(made.body.number);
  expect(again.body).toMatchObject({ title: 'Revert "Undo"', reverts: made.body.number });
  expect(tree(again.body.head_ref)).toBe(after);
  expect(await get(made.body.number)).toMatchObject({ reverts: number, reverted_by: again.body.number });
});

test("while one is open there is no second; once it is closed there is, on another branch", async () => {
  const { number } = await merged();
  const first = (await revert(number)).body;
  const second = await revert(number, { branch: "other" });
  expect(second).toMatchObject({ status: 409, body: { code: "already_open", number: first.number } });
  expect(branches()).not.toContain("other");
  await bench.call("POST", `/change-requests/${first.number}/close`);
  expect((await get(number)).reverted_by).toBeNull();
  remote.commit("main", { [`more-${count}`]: "1\n" });
  const third = await revert(number);
  expect(third.body.head_ref).toBe(`${first.head_ref}-2`);
  expect((await get(number)).reverted_by).toBe(third.body.number);
});

test("twice at once, one is opened", async () => {
  const { number } = await merged();
  const both = await Promise.all([revert(number), revert(number)]);
  expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
  expect(branches().filter((name) => name.startsWith(`revert-${number}-`))).toHaveLength(1);
});

test("a conflict is refused with its files and what to run, and leaves no branch", async () => {
  for (const [method, command] of [
    ["merge", "git revert -m 1 "],
    ["squash", "git revert "],
    ["rebase", "git revert --no-commit "],
  ] as const) {
    const { number, commit } = await merged(method);
    remote.commit("main", { [`one-${count}`]: "other\n" });
    const refused = await revert(number);
    expect(refused.status).toBe(409);
    expect(refused.body).toMatchObject({ code: "merge_conflict", conflicts: [`one-${count}`] });
    expect(refused.body.error).toMatch(new RegExp(`run ${command}\\S*${commit}, `));
    expect(branches().filter((name) => name.startsWith(`revert-${number}-`))).toEqual([]);
    expect((await get(number)).reverted_by).toBeNull();
  }
});

test("only merged ones are reverted, by people, into branches that are free and not protected", async () => {
  const { number: opened } = await open();
  expect((await revert(opened)).body.code).toBe("not_merged");
  await bench.call("POST", `/change-requests/${opened}/close`);
  expect((await revert(opened)).body).toMatchObject({
    code: "not_merged",
    error: expect.not.stringContaining("svc cr close"),
  });
  const { number, head } = await merged();
  expect((await revert(number, {}, await bench.agent())).body.code).toBe("forbidden");
  for (const branch of [head, "main", "feature", `${head}/x`])
    expect([branch, (await revert(number, { branch })).body.code]).toEqual([branch, "branch_exists"]);
  for (const branch of ["a..b", "svc-queue", "svc-queue/main/1", "refs/heads/svc-queue/x"])
    expect((await revert(number, { branch })).body.code).toBe("invalid_ref");
  bench.rule('svc_version = 1\n[branches]\nprotected = ["release"]\n');
  expect((await revert(number, { branch: "release" })).body.code).toBe("forbidden");
  expect(branches()).not.toContain("release");
});

test("a host that refuses the push leaves nothing", async () => {
  const { number } = await merged();
  remote.hook("pre-receive", 'echo "no pushes today" >&2; exit 1');
  const refused = await revert(number);
  remote.hook("pre-receive", "exit 0");
  expect(refused.body).toMatchObject({
    code: "push_rejected",
    error: expect.stringContaining("no pushes today"),
  });
  expect((await get(number)).reverted_by).toBeNull();
});

test("a failure after the push deletes the branch, unless it is used by then", async () => {
  const { number } = await merged();
  const name = `revert-${number}-feature-work-${count}`;
  const base = remote.sha("main");
  pause.at("pushed", () => {
    expect(branches()).toContain(name);
    remote.git("update-ref", "-d", "refs/heads/main");
  });
  expect((await revert(number)).body.code).toBe("ref_not_found");
  remote.git("update-ref", "refs/heads/main", base);
  expect(branches()).not.toContain(name);
  pause.at("pushed", async () => {
    const body = { title: "Mine", head_ref: name };
    expect((await bench.call("POST", "/change-requests", { body })).status).toBe(201);
  });
  expect((await revert(number)).body.code).toBe("already_open");
  expect(branches()).toContain(name);
});

test("of two servers that revert the same at once, one opens it, and the other leaves nothing", async () => {
  const { number } = await merged();
  const other = await open();
  pause.at("pushed", async () => {
    await sql`update change_requests set reverts = ${number}
      where project_id = ${bench.project.project_id} and number = ${other.number}`;
  });
  const refused = await revert(number);
  expect(refused.body).toMatchObject({ code: "already_open", number: other.number });
  expect(branches().filter((name) => name.startsWith(`revert-${number}-`))).toEqual([]);
});

test.each(["the base is where it was", "the base has moved"])(
  "after a crash between the push and the insert, it is opened when %s",
  async (when) => {
    const { number } = await merged();
    const { body } = await revert(number);
    // what a crash leaves: the branch alone
    await sql`delete from change_requests where cr_id = ${body.cr_id}`;
    const isMoved = when.endsWith("moved");
    if (isMoved) remote.commit("main", { [`more-${count}`]: "1\n" });
    secondsLater += 5;
    const again = await revert(number);
    expect(again.status).toBe(201);
    expect(again.body.head_ref).toBe(isMoved ? `${body.head_ref}-2` : body.head_ref);
    if (!isMoved) expect(again.body.head_commit_sha).toBe(body.head_commit_sha);
  },
);
