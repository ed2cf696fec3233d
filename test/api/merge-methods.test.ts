import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import type { MergeMethod } from "../../src/contract/merge-method.ts";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { Remote } from "../helpers/remote.ts";
import { trailersOf } from "../helpers/trailers.ts";

let api: Api;
const remotes: Remote[] = [];

beforeAll(async () => {
  api = await startApi();
});
afterEach(() => {
  for (const remote of remotes.splice(0)) remote.remove();
});
afterAll(() => api.stop());

/** A project with `main`, and an open change request of `work`, which has two commits. */
async function setUp({ manifest = null, moved = true }: { manifest?: string | null; moved?: boolean } = {}) {
  const remote = new Remote();
  remotes.push(remote);
  remote.commit("main", { a: "1\n", b: "1\n", "svc.toml": manifest });
  remote.commit("work", { a: "2\n" }, { from: "main", message: "change a\n\nwhy" });
  remote.commit("work", { c: "1\n" }, { message: "add c" });
  if (moved) remote.commit("main", { b: "2\n" });
  const [base, head] = [remote.sha("main"), remote.sha("work")];
  const project = await api.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const body = { title: "Change a", description: "Adds c, too.\n", head_ref: "work" };
  expect((await api.call("POST", path, { body })).status).toBe(201);
  const merge = (method?: MergeMethod, more: Record<string, unknown> = {}) =>
    api.call("POST", `${path}/1/merge`, { body: { ...(method && { method }), ...more } });
  const get = async (number = 1): Promise<Answer["body"]> =>
    (await api.call("GET", `${path}/${number}`)).body.change_request;
  const log = (form: string) => remote.git("log", "--reverse", `--format=${form}`, `${base}..main`).trim();
  return { remote, project, path, base, head, merge, get, log };
}

test("a squash is one commit by the person who merges, with title, description and co-authors", async () => {
  const { remote, project, base, head, merge, get, log } = await setUp();
  const { status, body } = await merge("squash");
  const sha = remote.sha("main");
  expect(status).toBe(200);
  expect(body).toMatchObject({
    status: "merged",
    merge_method: "squash",
    merge_commit_sha: sha,
    head_commit_sha: head,
    base_commit_sha: base,
    merge: { fast_forward: false, base_sha_before: base, base_sha_after: sha },
  });
  expect(log("%P|%an <%ae>|%cn <%ce>")).toBe(`${base}|first <first@example.com>|first <first@example.com>`);
  const raw = remote.git("cat-file", "commit", sha);
  const message = `Change a\n\nAdds c, too.\n\nCo-authored-by: A <a@example.com>\n${await trailersOf(api, project)}`;
  expect(raw.slice(raw.indexOf("\n\n") + 2)).toBe(message);
  expect(remote.git("show", "main:a", "main:b", "main:c")).toBe("2\n2\n1\n");
  remote.git("fsck", "--strict");
  remote.commit("main", { later: "1\n" });
  expect(await get()).toMatchObject({ status: "merged", merge_method: "squash", merge_commit_sha: sha });
});

test("a squash with a message has that message, and does not fast-forward", async () => {
  const { remote, base, merge, log } = await setUp({ moved: false });
  expect((await merge("squash", { message: "Mine\n\nCo-authored-by: x" })).status).toBe(200);
  expect(log("%P %s")).toBe(`${base} Mine`);
  expect(remote.git("log", "-1", "--format=%b", "main")).toStartWith(
    "Co-authored-by: x\n\nCo-authored-by: A <a@example.com>\nMerged-by: ",
  );
});

test("a rebase puts each commit on the base, with its author; the person who merges commits", async () => {
  const { remote, base, head, merge, log } = await setUp();
  const { status, body } = await merge("rebase");
  expect([status, body.merge_method, body.merge_commit_sha]).toEqual([200, "rebase", remote.sha("main")]);
  expect(body).toMatchObject({
    head_commit_sha: head,
    base_commit_sha: base,
    merge: { fast_forward: false },
  });
  const person = "A <a@example.com>|first <first@example.com>";
  expect(log("%B|%an <%ae>|%cn <%ce>")).toBe(`change a\n\nwhy|${person}\nadd c|${person}`);
  expect(remote.git("rev-list", "--merges", "--count", "main").trim()).toBe("0");
  expect(remote.git("log", "--format=%at", "-2", "main")).toBe(remote.git("log", "--format=%at", "-2", head));
  expect(remote.git("show", "main:a", "main:b", "main:c")).toBe("2\n2\n1\n");
  remote.git("fsck", "--strict");
});

test.each(["rebase", "ff-only", "merge"] as const)("%s fast-forwards where it can", async (method) => {
  const { remote, head, merge } = await setUp({ moved: false });
  const { status, body } = await merge(method);
  expect([status, body.merge.fast_forward, body.merge_method]).toEqual([200, true, method]);
  expect([body.merge_commit_sha, remote.sha("main")]).toEqual([head, head]);
});

test("merge with a message creates a merge commit where it could fast-forward", async () => {
  const { base, head, merge, log } = await setUp({ moved: false });
  const { body } = await merge("merge", { message: "Mine" });
  expect(body.merge.fast_forward).toBe(false);
  expect(log("%P %s").split("\n").at(-1)).toBe(`${base} ${head} Mine`);
});

test("what a method cannot do is refused with the reason, and changes nothing", async () => {
  const { remote, base, merge, get } = await setUp();
  for (const method of ["rebase", "ff-only"] as const)
    expect(await merge(method, { message: "m" })).toMatchObject({
      status: 400,
      body: { code: "validation_failed", error: expect.stringContaining("message") },
    });
  expect(await merge("ff-only")).toMatchObject({ status: 409, body: { code: "not_fast_forward" } });
  const conflicting = remote.commit("work", { b: "3\n" });
  for (const method of ["merge", "squash"] as const)
    expect(await merge(method)).toMatchObject({
      status: 409,
      body: { error: "Merge failed", code: "merge_conflict", conflicts: ["b"] },
    });
  expect((await merge("rebase")).body).toMatchObject({
    error: "Merge failed",
    code: "merge_conflict",
    conflicts: ["b"],
    commit: conflicting,
  });
  expect([(await get()).status, remote.sha("main")]).toEqual(["open", base]);
});

test("a squash or rebase of changes that the base has is nothing to merge", async () => {
  const { remote, merge, get } = await setUp();
  remote.commit("main", { a: "2\n", c: "1\n" });
  for (const method of ["squash", "rebase"] as const)
    expect(await merge(method)).toMatchObject({ status: 409, body: { code: "nothing_to_merge" } });
  expect((await get()).status).toBe("open");
});

test("the manifest of the default branch says which methods are allowed, the first by default", async () => {
  const manifest = 'svc_version = 1\n[change_requests]\nmethods = ["squash", "ff-only"]\n';
  const { remote, merge, get } = await setUp({ manifest });
  const refused = await merge("rebase");
  expect(refused).toMatchObject({
    status: 409,
    body: { code: "merge_method_not_allowed", methods: ["squash", "ff-only"] },
  });
  expect(refused.body.error).toContain("squash, ff-only");
  expect((await get()).merge_methods).toEqual(["squash", "ff-only"]);
  // a manifest that names no valid method changes nothing
  remote.commit("main", { "svc.toml": "svc_version = 1\n[change_requests]\nmethods = []\n" });
  expect(await merge("merge")).toMatchObject({ status: 409, body: { code: "merge_method_not_allowed" } });
  expect((await merge()).body).toMatchObject({ status: "merged", merge_method: "squash" });
});

test("where merge is allowed, so is ff-only", async () => {
  const { merge } = await setUp({ moved: false });
  expect((await merge("ff-only")).status).toBe(200);
});

test("a branch on top of a squashed one stays open, and merges", async () => {
  const { remote, path, merge, get } = await setUp();
  remote.commit("next", { d: "1\n" }, { from: "work" });
  expect((await api.call("POST", path, { body: { title: "Next", head_ref: "next" } })).status).toBe(201);
  expect((await merge("squash")).status).toBe(200);
  expect((await get(2)).status).toBe("open");
  const second = await api.call("POST", `${path}/2/merge`, { body: { method: "rebase" } });
  expect(second).toMatchObject({ status: 200, body: { merge_method: "rebase" } });
  // the first two have become empty
  expect(remote.git("log", "-2", "--format=%s", "main").trim()).toBe("work\nChange a");
});
