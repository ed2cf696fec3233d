import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { rename } from "node:fs/promises";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { git, Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

let api: Api;
const remotes: Remote[] = [];

beforeAll(async () => {
  api = await startApi();
});
afterEach(() => {
  for (const remote of remotes.splice(0)) remote.remove();
});
afterAll(() => api.stop());

/** Reads a change request until it is merged: on a busy machine, a read does not wait for the base's new commits. */
async function merged(read: () => Promise<Answer["body"]>): Promise<Answer["body"]> {
  let row: Answer["body"];
  await until("it is merged", async () => {
    row = await read();
    return row.status === "merged";
  });
  return row;
}

/** A project on a repository with `main` and `work` (one commit ahead), and an open change request of the two. */
async function setUp() {
  const remote = new Remote();
  remotes.push(remote);
  const base = remote.commit("main", { a: "1\n", b: "1\n" });
  const head = remote.commit("work", { a: "2\n" }, { from: "main" });
  const project = await api.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const open = async (body: Record<string, unknown> = {}): Promise<Answer["body"]> =>
    (await api.call("POST", path, { body: { title: "Change a", head_ref: "work", ...body } })).body;
  const get = async (number = 1): Promise<Answer["body"]> =>
    (await api.call("GET", `${path}/${number}`)).body.change_request;
  await open();
  return { remote, path, base, head, open, get };
}

type Place = Awaited<ReturnType<typeof setUp>>;

/** How commits come into a base branch without svc → the commit that brought them, and where the base was before. */
const WAYS: Record<string, (place: Place) => { merge: string; before: string }> = {
  "a plain push": ({ remote, base, head }) => {
    remote.branch("main", head);
    return { merge: head, before: base };
  },
  "a plain push, with more on top, and the branch is deleted": ({ remote, base, head }) => {
    remote.branch("main", head);
    remote.commit("main", { c: "1\n" });
    remote.deleteBranch("work");
    return { merge: head, before: base };
  },
  "a merge on the host": ({ remote, base, head }) => ({
    merge: remote.commit("main", { a: "2\n" }, { merge: [head] }),
    before: base,
  }),
  "a merge between other commits, and the branch is deleted": ({ remote, head }) => {
    const before = remote.commit("main", { c: "1\n" });
    const merge = remote.commit("main", { a: "2\n" }, { merge: [head] });
    for (const c of ["2", "3", "4", "5"]) remote.commit("main", { c: `${c}\n` });
    remote.deleteBranch("work");
    return { merge, before };
  },
  "a merge of another branch that has it": ({ remote, base, head }) => {
    const other = remote.commit("other", { a: "2\n", d: "1\n" }, { from: base, merge: [head] });
    const before = remote.commit("main", { c: "1\n" });
    return { merge: remote.commit("main", { a: "2\n", d: "1\n" }, { merge: [other] }), before };
  },
};

test.each(Object.keys(WAYS))("commits that reach the base by %s merge their change request", async (way) => {
  const place = await setUp();
  const came = WAYS[way]?.(place);
  const listed = await merged(async () => (await api.call("GET", place.path)).body.change_requests[0]);
  const cr = await place.get();
  expect(listed).toEqual(cr);
  expect(cr).toMatchObject({
    status: "merged",
    merged_by: null,
    merged_at: expect.stringMatching(/Z$/),
    merge_commit_sha: came?.merge ?? "",
    base_commit_sha: came?.before ?? "",
    head_commit_sha: place.head,
    stale: false,
  });
  const diff = (await api.call("GET", `${place.path}/1/diff`)).body;
  expect(diff.files.map((file: { path: string }) => file.path)).toEqual(["a"]);
  expect((await api.call("POST", `${place.path}/1/merge`)).body.code).toBe("not_open");
});

test("a change request with the same commits is merged with it", async () => {
  const { remote, open, path, get, head, base } = await setUp();
  remote.branch("copy", head);
  await open({ title: "The same again", head_ref: "copy" });
  expect((await api.call("POST", `${path}/1/merge`)).status).toBe(200);
  const twin = { status: "merged", merged_by: null, merge_commit_sha: head, base_commit_sha: base };
  expect(await merged(() => get(2))).toMatchObject(twin);
  expect((await get(1)).merged_by).not.toBeNull();
});

test("a change request without commits of its own stays open while its base moves", async () => {
  const { remote, get, open, base, head } = await setUp();
  remote.branch("early", base);
  await open({ head_ref: "early" });
  remote.commit("main", { c: "1\n" });
  expect(await get(2)).toMatchObject({ status: "open", base_commit_sha: remote.sha("main") });
  remote.branch("work", base);
  remote.commit("main", { c: "2\n" });
  expect(await get(1)).toMatchObject({ status: "open", head_commit_sha: base });
  // and is merged once it has some
  remote.branch("early", head);
  expect(await get(2)).toMatchObject({ status: "open" });
  remote.commit("main", { c: "3\n" }, { merge: [head] });
  expect(await merged(() => get(2))).toMatchObject({ merge_commit_sha: remote.sha("main") });
});

test("a change request whose base branch is deleted stays as it is, and does not block others", async () => {
  const { remote, path, open, base, head } = await setUp();
  remote.branch("stable", base);
  await open({ base_ref: "stable" });
  remote.deleteBranch("stable");
  remote.branch("main", head);
  const list = async () => (await api.call("GET", path)).body.change_requests;
  await merged(async () => (await list())[1]);
  expect(await list()).toMatchObject([
    { number: 2, status: "open", stale: true, head_commit_sha: head, base_commit_sha: base },
    { number: 1, status: "merged", stale: false, merge_commit_sha: head },
  ]);
});

test("a change request stays open while the new base cannot be fetched, and is merged afterwards", async () => {
  const { remote, get, head, base } = await setUp();
  const blob = remote.git("rev-parse", `${head}:a`).trim();
  const tree = git(["-C", remote.path, "mktree"], Buffer.from(`100644 blob ${blob}\tnew\n`)).trim();
  const author = ["-c", "user.name=a", "-c", "user.email=a@example.com"];
  const merge = remote.git(...author, "commit-tree", tree, "-p", base, "-p", head, "-m", "merge").trim();
  // the listing works without the tree, a fetch does not
  const objects = `${remote.path}/objects`;
  const [from, to] = [`${objects}/${tree.slice(0, 2)}/${tree.slice(2)}`, `${objects}/hidden`];
  await rename(from, to);
  remote.branch("main", merge);
  for (let look = 0; look < 2; look++)
    expect(await get()).toMatchObject({ status: "open", stale: false, base_commit_sha: merge });
  await rename(to, from);
  expect(await merged(get)).toMatchObject({
    merge_commit_sha: merge,
    base_commit_sha: base,
    merged_by: null,
  });
});

test("a row that could not be refreshed is marked as stale", async () => {
  const { remote, path, get, base, head } = await setUp();
  const list = async () => (await api.call("GET", path)).body.change_requests;
  expect([(await get()).stale, (await list())[0].stale]).toEqual([false, false]);
  const later = remote.commit("work", { a: "3\n" });
  await rename(remote.path, `${remote.path}-away`);
  const stored = { status: "open", head_commit_sha: head, base_commit_sha: base, stale: true };
  expect(await get()).toMatchObject(stored);
  expect(await list()).toEqual([expect.objectContaining(stored)]);
  await rename(`${remote.path}-away`, remote.path);
  expect(await get()).toMatchObject({ head_commit_sha: later, stale: false });
  remote.deleteBranch("work");
  expect(await get()).toMatchObject({ status: "open", head_commit_sha: later, stale: true });
  await api.call("POST", `${path}/1/close`);
  expect(await get()).toMatchObject({ status: "closed", stale: false });
});
