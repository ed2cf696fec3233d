import { afterAll, afterEach, beforeAll, expect, spyOn, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { MergeMethod } from "../../src/contract/merge-method.ts";
import { backoffBefore } from "../../src/features/change-requests/merge.ts";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";

let api: Api;
/** How far the server's clock is ahead, in seconds. */
let ahead = 0;
/** What happens between the steps of a merge. */
let between: (step: string) => void = () => {};
const remotes: Remote[] = [];

beforeAll(async () => {
  const clock = () => new Date(Date.now() + ahead * 1000);
  api = await startApi({ deps: { clock, checkpoint: (step) => between(step) } });
});
afterEach(() => {
  between = () => {};
  for (const remote of remotes.splice(0)) remote.remove();
});
afterAll(() => api.stop());

/** A project with one open change request, and a way to act between the steps of its merge. */
async function setUp(diverged: boolean, at: (step: string, remote: Remote) => void = () => {}) {
  const remote = makeRemote(diverged);
  const project = await api.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  await api.call("POST", path, { body: { title: "t", head_ref: "work" } });
  between = (step) => at(step, remote);
  const merge = (method: MergeMethod = "merge") => api.call("POST", `${path}/1/merge`, { body: { method } });
  const get = async (): Promise<Answer["body"]> => (await api.call("GET", `${path}/1`)).body.change_request;
  return { remote, path, merge, get };
}

function makeRemote(diverged: boolean): Remote {
  const remote = new Remote();
  remotes.push(remote);
  remote.commit("main", { a: "1\n", b: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  if (diverged) remote.commit("main", { b: "2\n" });
  return remote;
}

/** Those that write commits; one of them in each run. */
const WRITING = sample(1, ["merge", "squash", "rebase"] as const);

test.each(WRITING)("a push whose response is lost is found in the repository (%s)", async (method) => {
  const { remote, merge, get } = await setUp(true);
  // The host dies after it moved the branch and before it says so.
  remote.hook("post-receive", "kill -9 $PPID");
  const answer = await merge(method);
  expect([answer.status, answer.body.status, answer.body.merge_method]).toEqual([200, "merged", method]);
  expect((await get()).merge_commit_sha).toBe(remote.sha("main"));
});

test.each(WRITING)(
  "a push whose response is lost before the host fails is settled later (%s)",
  async (method) => {
    const { remote, path, merge, get } = await setUp(true);
    remote.hook("post-receive", `mv "$PWD" "$PWD.away"; kill -9 $PPID`);
    expect(await merge(method)).toMatchObject({ status: 502, body: { code: "repo_unreachable" } });
    expect((await get()).status).toBe("open");
    const close = await api.call("POST", `${path}/1/close`);
    expect(close).toMatchObject({ status: 409, body: { code: "merge_in_progress" } });
    expect(close.headers.get("retry-after")).toBe("5");
    Bun.spawnSync(["mv", `${remote.path}.away`, remote.path]);
    const landed = { merge_method: method, merge_commit_sha: remote.sha("main") };
    expect(await get()).toMatchObject({ status: "merged", ...landed });
  },
);

test.each(WRITING)("a push that never arrived is repeated with the same commit (%s)", async (method) => {
  const commits = new Set<string>();
  const { remote, merge } = await setUp(true);
  // The host dies before it does anything, the first time.
  remote.hook(
    "pre-receive",
    `read old new ref; echo $new >> pushed; [ $(wc -l < pushed) -gt 1 ] || kill -9 $PPID`,
  );
  expect(await merge(method)).toMatchObject({ status: 502 });
  ahead += 5; // a new commit would have another date
  expect(await merge(method)).toMatchObject({ status: 200 });
  for (const line of (await Bun.file(join(remote.path, "pushed")).text()).trim().split("\n"))
    commits.add(line);
  expect([...commits]).toEqual([remote.sha("main")]);
});

test("another method after a push that never arrived creates a new commit", async () => {
  const { remote, merge } = await setUp(true);
  remote.hook("pre-receive", `[ -e second ] || { touch second; kill -9 $PPID; }`);
  expect(await merge("squash")).toMatchObject({ status: 502 });
  expect(await merge("rebase")).toMatchObject({ status: 200, body: { merge_method: "rebase" } });
  expect(remote.git("log", "-1", "--format=%s", "main").trim()).toBe("work");
});

test("a merge of a new head after a push that never arrived creates a new commit", async () => {
  const { remote, merge } = await setUp(true);
  remote.hook("pre-receive", `[ -e second ] || { touch second; kill -9 $PPID; }`);
  expect(await merge()).toMatchObject({ status: 502 });
  const day = 86_400;
  ahead += day;
  remote.commit("work", { c: "1\n" });
  expect(await merge()).toMatchObject({ status: 200 });
  const date = Number(remote.git("log", "-1", "--format=%ct", "main"));
  expect(date).toBeGreaterThan(Date.now() / 1000 + ahead - day);
  expect(remote.git("show", "main:c")).toBe("1\n");
});

test.each(WRITING)(
  "if the base moves once, the merge is repeated on top, and loses no commits (%s)",
  async (method) => {
    let moved = 0;
    const { remote, merge, get } = await setUp(false, (step, remote) => {
      if (step === "intent-recorded" && moved++ === 0) remote.commit("main", { c: "by another\n" });
    });
    const { status, body } = await merge(method);
    expect([status, body.merge.fast_forward]).toEqual([200, false]);
    expect(remote.git("show", "main:c") + remote.git("show", "main:a")).toBe("by another\n2\n");
    expect((await get()).base_commit_sha).toBe(body.merge.base_sha_before);
  },
);

test("a base that moves away cannot be fast-forwarded", async () => {
  const { merge, get } = await setUp(false, (step, remote) => {
    if (step === "intent-recorded") remote.commit("main", { c: "by another\n" });
  });
  expect(await merge("ff-only")).toMatchObject({ status: 409, body: { code: "not_fast_forward" } });
  expect(await get()).toMatchObject({ status: "open", merge_method: null });
});

test.each(WRITING)("a base that moves into a conflict is a conflict (%s)", async (method) => {
  let moved = 0;
  const { merge, get } = await setUp(false, (step, remote) => {
    if (step === "intent-recorded" && moved++ === 0) remote.commit("main", { a: "by another\n" });
  });
  const conflict = { code: "merge_conflict", conflicts: ["a"] };
  expect(await merge(method)).toMatchObject({ status: 409, body: conflict });
  expect((await get()).status).toBe("open");
});

test("a base that moves at every attempt is 409 base_moved, and the change request stays usable", async () => {
  let hold = false;
  let n = 0;
  const { merge, get, path } = await setUp(true, (step, remote) => {
    if (step === "intent-recorded" && !hold) remote.commit("main", { [`n${n++}`]: "x\n" });
  });
  expect(await merge()).toMatchObject({ status: 409, body: { code: "base_moved" } });
  expect(n).toBe(5);
  expect((await get()).status).toBe("open");
  expect((await api.call("POST", `${path}/1/close`)).status).toBe(200);
  expect((await api.call("POST", `${path}/1/reopen`)).status).toBe(200);
  hold = true;
  expect((await merge()).status).toBe(200);
});

test.each([
  [0, 0, 0],
  [1, 40, 120],
  [4, 160, 480],
])("retry %d waits for %d to %d ms", (attempt, least, most) => {
  const random = spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValueOnce(1);
  expect([backoffBefore(attempt), backoffBefore(attempt)]).toEqual([least, most]);
  random.mockRestore();
});

test("if the head moves during the merge, the recorded head is the merged one", async () => {
  let late = "";
  const { remote, merge, get } = await setUp(true, (step, remote) => {
    if (step === "commit-written") late = remote.commit("work", { late: "x\n" });
  });
  const head = remote.sha("work");
  expect((await merge()).status).toBe(200);
  expect((await get()).head_commit_sha).toBe(head);
  expect(remote.git("branch", "--contains", late, "--format=%(refname:short)").trim()).toBe("work");
});

test("closing during a merge waits for its outcome", async () => {
  const closes: Promise<Answer>[] = [];
  let close = (): Promise<Answer> => Promise.reject(new Error("not yet"));
  const { path, merge, get } = await setUp(true, (step) => {
    if (step === "intent-recorded") closes.push(close());
    if (step === "intent-recorded") return void Bun.sleepSync(0);
  });
  close = () => api.call("POST", `${path}/1/close`);
  expect((await merge()).status).toBe(200);
  const [closed] = await Promise.all(closes);
  expect(closed?.status).toBe(409);
  expect((await get()).status).toBe("merged");
});

test("of two requests that create the same merge commit, one merges, and the other is 409", async () => {
  // Both write the same commit in the same second, and the second push finds it there already.
  let second: Promise<Answer> | null = null;
  let begin = (): Promise<Answer> => Promise.reject(new Error("not yet"));
  const remote = makeRemote(true);
  const clock = () => new Date("2030-01-01T00:00:00Z");
  const mutex = { run: <T>(_: string, work: () => Promise<T>) => work() };
  let calls = 0;
  const server = await startApi({
    deps: {
      clock,
      mutex,
      async checkpoint(step) {
        if (step !== "intent-recorded" || ++calls > 1) return;
        second = begin();
        await second;
      },
    },
  });
  try {
    const project = await server.project(remote.url);
    const path = `/v1/projects/${project.project_id}/change-requests`;
    await server.call("POST", path, { body: { title: "t", head_ref: "work" } });
    begin = () => server.call("POST", `${path}/1/merge`);
    const answers = [await begin(), await second];
    expect(calls).toBe(2);
    expect(answers.map((answer) => answer?.status).sort()).toEqual([200, 409]);
    expect(answers.find((answer) => answer?.status === 409)?.body.code).toBe("not_open");
    expect(remote.git("rev-list", "--merges", "--count", "main").trim()).toBe("1");
  } finally {
    await server.stop();
  }
});

test("a lock of another git process in the host's repository is base_moved, not a lost merge", async () => {
  const { remote, merge, get } = await setUp(true);
  writeFileSync(join(remote.path, "refs/heads/main.lock"), "");
  const answer = await merge();
  expect([answer.status, answer.body.code]).toEqual([409, "base_moved"]);
  expect((await get()).status).toBe("open");
});
