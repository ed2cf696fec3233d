import { afterEach, expect, spyOn, test } from "bun:test";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { askServer } from "../../src/admin/socket.ts";
import { pauseBefore } from "../../src/change-requests/merge.ts";
import { MERGE_STEPS } from "../../src/deps.ts";
import {
  type Answer,
  type Api,
  caller,
  databaseFor,
  makeFolder,
  spawnServer,
  startApi,
} from "../helpers/api.ts";
import { Remote } from "../helpers/remote.ts";

/** Undone after each test, the newest first. */
const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step();
});

function makeRemote(diverged: boolean): Remote {
  const remote = new Remote();
  undo.push(() => remote.remove());
  remote.commit("main", { a: "1\n", b: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  if (diverged) remote.commit("main", { b: "2\n" });
  return remote;
}

async function start(options: Parameters<typeof startApi>[0] = {}): Promise<Api> {
  const api = await startApi(options);
  undo.push(() => api.stop());
  return api;
}

const rows = MERGE_STEPS.flatMap((step) => [[step, false] as const, [step, true] as const]);

test.each(rows)("killed after %s (diverged: %p): rows and repository agree", async (step, diverged) => {
  const remote = makeRemote(diverged);
  const [base, head] = [remote.sha("main"), remote.sha("work")];
  const dataDir = makeFolder();
  const databaseUrl = await databaseFor(dataDir);
  const dying = await spawnServer([process.execPath, "test/helpers/dying-server.ts"], {
    SVC_PORT: "0",
    SVC_DATA_DIR: dataDir,
    SVC_ALLOW_PRIVATE_REPOS: "1",
    SVC_LOG_LEVEL: "silent",
    TEST_DIE_AT: step,
    ...(databaseUrl && { DATABASE_URL: databaseUrl }),
  });
  undo.push(() => dying.child.kill("SIGKILL"));
  const token = await askServer(dataDir, { verb: "token", email: "first@example.com", name: "t" });
  const call = caller(dying.url, token ?? "");
  const project = (await call("POST", "/v1/projects", { body: { name: "p", repo_url: remote.url } })).body;
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const opened = await call("POST", path, { body: { title: "t", head_ref: "work" } });
  expect(opened.status).toBe(201);
  await expect(call("POST", `${path}/1/merge`)).rejects.toThrow();
  await dying.child.exited;
  expect(dying.child.signalCode).toBe("SIGKILL");

  const pushed = MERGE_STEPS.indexOf(step) >= MERGE_STEPS.indexOf("pushed");
  expect(remote.sha("main") !== base).toBe(pushed);
  const landed = remote.sha("main");

  const api = await start({ dataDir });
  const read = (await api.call("GET", `${path}/1`)).body.change_request;
  expect(read.status).toBe(pushed ? "merged" : "open");
  if (!pushed) expect((await api.call("POST", `${path}/1/merge`)).status).toBe(200);
  expect(await api.call("POST", `${path}/1/merge`)).toMatchObject({
    status: 409,
    body: { code: "not_open" },
  });

  const after = (await api.call("GET", `${path}/1`)).body.change_request;
  expect(after).toMatchObject({
    status: "merged",
    base_commit_sha: base,
    head_commit_sha: head,
    merge_commit_sha: remote.sha("main"),
  });
  if (pushed) expect(remote.sha("main")).toBe(landed);
  expect(remote.git("rev-list", "--count", `${base}..main`).trim()).toBe(diverged ? "2" : "1");
  expect(remote.git("rev-list", "--count", "--merges", "main").trim()).toBe(diverged ? "1" : "0");
  remote.git("fsck", "--strict");
  expect((await api.call("GET", `${path}/1/diff`)).body.files).toHaveLength(1);
  // Nothing that a read would stumble over is left behind.
  expect(
    readdirSync(dataDir, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".lock")),
  ).toEqual([]);
});

/** A project with one open change request on a server in this process, and a way to act between the steps. */
async function setUp(diverged: boolean, at: (step: string, remote: Remote) => void = () => {}) {
  const remote = makeRemote(diverged);
  let ahead = 0;
  const clock = () => new Date(Date.now() + ahead * 1000);
  const api = await start({ deps: { clock, checkpoint: (step) => at(step, remote) } });
  const project = await api.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  await api.call("POST", path, { body: { title: "t", head_ref: "work" } });
  const merge = () => api.call("POST", `${path}/1/merge`);
  const get = async (): Promise<Answer["body"]> => (await api.call("GET", `${path}/1`)).body.change_request;
  const advance = (seconds: number) => {
    ahead += seconds;
  };
  return { remote, api, path, merge, get, advance };
}

test("a push whose answer is lost is found in the repository", async () => {
  const { remote, merge, get } = await setUp(true);
  // The host dies after it moved the branch and before it says so.
  remote.hook("post-receive", "kill -9 $PPID");
  const answer = await merge();
  expect([answer.status, answer.body.status]).toEqual([200, "merged"]);
  expect((await get()).merge_commit_sha).toBe(remote.sha("main"));
});

test("a push whose answer is lost while the host then is away is settled by a later read", async () => {
  const { remote, api, path, merge, get } = await setUp(true);
  remote.hook("post-receive", `mv "$PWD" "$PWD.away"; kill -9 $PPID`);
  expect(await merge()).toMatchObject({ status: 502, body: { code: "repo_unreachable" } });
  expect((await get()).status).toBe("open");
  const close = await api.call("POST", `${path}/1/close`);
  expect(close).toMatchObject({ status: 409, body: { code: "merge_in_progress" } });
  expect(close.headers.get("retry-after")).toBe("5");
  Bun.spawnSync(["mv", `${remote.path}.away`, remote.path]);
  expect(await get()).toMatchObject({ status: "merged", merge_commit_sha: remote.sha("main") });
});

test("a push that never arrived is pushed again as the same commit", async () => {
  const commits = new Set<string>();
  const { remote, merge, advance } = await setUp(true);
  // The host dies before it does anything, the first time.
  remote.hook(
    "pre-receive",
    `read old new ref; echo $new >> pushed; [ $(wc -l < pushed) -gt 1 ] || kill -9 $PPID`,
  );
  expect(await merge()).toMatchObject({ status: 502 });
  advance(5); // a new commit would have another date
  expect(await merge()).toMatchObject({ status: 200 });
  for (const line of (await Bun.file(join(remote.path, "pushed")).text()).trim().split("\n"))
    commits.add(line);
  expect([...commits]).toEqual([remote.sha("main")]);
});

test("a base that moves once is merged again on top; nothing of the mover's is lost", async () => {
  let moved = 0;
  const { remote, merge, get } = await setUp(false, (step, remote) => {
    if (step === "intent-recorded" && moved++ === 0) remote.commit("main", { c: "by another\n" });
  });
  const { status, body } = await merge();
  expect([status, body.merge.fast_forward]).toEqual([200, false]);
  expect(remote.git("show", "main:c") + remote.git("show", "main:a")).toBe("by another\n2\n");
  expect((await get()).base_commit_sha).toBe(body.merge.base_sha_before);
});

test("a base that moves into a conflict is a conflict", async () => {
  let moved = 0;
  const { merge, get } = await setUp(false, (step, remote) => {
    if (step === "intent-recorded" && moved++ === 0) remote.commit("main", { a: "by another\n" });
  });
  expect(await merge()).toMatchObject({ status: 409, body: { code: "merge_conflict", conflicts: ["a"] } });
  expect((await get()).status).toBe("open");
});

test("a base that moves at every try is 409 base_moved, and the change request stays usable", async () => {
  let hold = false;
  let n = 0;
  const { merge, get, api, path } = await setUp(true, (step, remote) => {
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
])("before try %d after the first it waits for %d to %d ms", (attempt, least, most) => {
  const random = spyOn(Math, "random").mockReturnValueOnce(0).mockReturnValueOnce(1);
  expect([pauseBefore(attempt), pauseBefore(attempt)]).toEqual([least, most]);
  random.mockRestore();
});

test("a head that moves during the merge: what was captured is what was merged", async () => {
  let late = "";
  const { remote, merge, get } = await setUp(true, (step, remote) => {
    if (step === "commit-written") late = remote.commit("work", { late: "x\n" });
  });
  const head = remote.sha("work");
  expect((await merge()).status).toBe(200);
  expect((await get()).head_commit_sha).toBe(head);
  expect(remote.git("branch", "--contains", late, "--format=%(refname:short)").trim()).toBe("work");
});

test("closing while a merge is under way waits for its outcome", async () => {
  const closes: Promise<Answer>[] = [];
  let close = (): Promise<Answer> => Promise.reject(new Error("not yet"));
  const { api, path, merge, get } = await setUp(true, (step) => {
    if (step === "intent-recorded") closes.push(close());
    if (step === "intent-recorded") return void Bun.sleepSync(0);
  });
  close = () => api.call("POST", `${path}/1/close`);
  expect((await merge()).status).toBe(200);
  const [closed] = await Promise.all(closes);
  expect(closed?.status).toBe(409);
  expect((await get()).status).toBe("merged");
});

test("two requests that make the very same merge commit: one has merged, the other came too late", async () => {
  // Both write the same commit in the same second, and the second push finds it there already.
  let second: Promise<Answer> | null = null;
  let begin = (): Promise<Answer> => Promise.reject(new Error("not yet"));
  const remote = makeRemote(true);
  const clock = () => new Date("2030-01-01T00:00:00Z");
  const turns = { take: <T>(_: string, work: () => Promise<T>) => work() };
  let calls = 0;
  const api = await start({
    deps: {
      clock,
      turns,
      async checkpoint(step) {
        if (step !== "intent-recorded" || ++calls > 1) return;
        second = begin();
        await second;
      },
    },
  });
  const project = await api.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  await api.call("POST", path, { body: { title: "t", head_ref: "work" } });
  begin = () => api.call("POST", `${path}/1/merge`);
  const answers = [await begin(), await second];
  expect(calls).toBe(2);
  expect(answers.map((answer) => answer?.status).sort()).toEqual([200, 409]);
  expect(answers.find((answer) => answer?.status === 409)?.body.code).toBe("not_open");
  expect(remote.git("rev-list", "--merges", "--count", "main").trim()).toBe("1");
});

test("lock files that a killed git left in the mirror are no obstacle to the next server", async () => {
  const remote = makeRemote(true);
  const dataDir = makeFolder();
  const first = await startApi({ dataDir });
  const project = await first.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  await first.call("POST", path, { body: { title: "t", head_ref: "work" } });
  await first.call("GET", `${path}/1/merge-preview`);
  await first.stop({ keepData: true });
  const mirror = readdirSync(join(dataDir, "mirrors")).find((name) => name.endsWith(".git"));
  if (!mirror) throw new Error("no mirror");
  for (const lock of [
    "packed-refs.lock",
    "HEAD.lock",
    "config.lock",
    "refs/heads/main.lock",
    "objects/info/commit-graph.lock",
  ]) {
    await Bun.write(join(dataDir, "mirrors", mirror, lock), "");
  }
  const api = await start({ dataDir });
  remote.commit("main", { c: "1\n" });
  expect((await api.call("POST", `${path}/1/merge`)).status).toBe(200);
});

test("a lock that another git holds in the host's repository is base_moved, not a lost merge", async () => {
  const { remote, merge, get } = await setUp(true);
  writeFileSync(join(remote.path, "refs/heads/main.lock"), "");
  const answer = await merge();
  expect([answer.status, answer.body.code]).toEqual([409, "base_moved"]);
  expect((await get()).status).toBe("open");
});
