import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

let api: Api;
/** What happens between the steps of a merge. */
let between: (step: string) => Promise<void> = async () => {};
const remotes: Remote[] = [];

beforeAll(async () => {
  api = await startApi({ deps: { checkpoint: (step) => between(step) } });
});
afterEach(() => {
  between = async () => {};
  for (const remote of remotes.splice(0)) remote.remove();
});
afterAll(() => api.stop());

/** `main`, and the branches `first`, `second` on it and `third` on that, each with a change request onto the one before. */
async function stack(manifest: string | null = null) {
  const remote = new Remote();
  remotes.push(remote);
  remote.commit("main", { a: "1\n", "svc.toml": manifest });
  const project = await api.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const open = (head_ref: string, base_ref: string) =>
    api.call("POST", path, { body: { title: head_ref, head_ref, base_ref } });
  let base = "main";
  for (const head of ["first", "second", "third"]) {
    remote.commit(head, { [head]: "1\n" }, { from: base });
    expect((await open(head, base)).status).toBe(201);
    base = head;
  }
  const call = (verb: string, at: string, body?: Record<string, unknown>) =>
    api.call(verb, `${path}/${at}`, { body });
  const get = async (number: number): Promise<Answer["body"]> =>
    (await api.call("GET", `${path}/${number}`)).body.change_request;
  const bases = async () => [(await get(1)).base_ref, (await get(2)).base_ref, (await get(3)).base_ref];
  return { remote, call, open, get, bases };
}

test("those on top of a merged change request get its base", async () => {
  const { remote, call, get, bases } = await stack();
  remote.commit("main", { b: "1\n" });
  expect((await call("POST", "1/merge", { method: "squash" })).status).toBe(200);
  expect(await bases()).toEqual(["main", "main", "second"]);
  expect(await get(2)).toMatchObject({ status: "open", base_commit_sha: remote.sha("main") });
  expect((await call("POST", "2/merge", { method: "rebase" })).status).toBe(200);
  expect(await bases()).toEqual(["main", "main", "main"]);
  expect((await call("POST", "3/merge", {})).status).toBe(200);
  expect(remote.git("show", "main:first", "main:second", "main:third")).toBe("1\n1\n1\n");
});

test("also when the lower one is merged outside svc", async () => {
  const { remote, get, bases } = await stack();
  remote.branch("main", "first");
  // a read serves the stored row when the repository does not answer in time
  await until("it is seen", async () => (await get(1)).status === "merged");
  expect(await bases()).toEqual(["main", "main", "second"]);
  expect((await get(2)).status).toBe("open");
});

test("one whose branch has another change request into the new base keeps its own base", async () => {
  const { call, open, bases } = await stack();
  expect((await open("second", "main")).status).toBe(201);
  expect((await call("POST", "1/merge", {})).status).toBe(200);
  expect(await bases()).toEqual(["main", "first", "second"]);
  // a closed one does not count
  await call("POST", "4/close", {});
  expect((await call("PATCH", "2", { base_ref: "main" })).body.base_ref).toBe("main");
});

test("the base cannot become one into which the branch has another open change request", async () => {
  const { call, open, bases } = await stack();
  await open("second", "main");
  expect(await call("PATCH", "2", { base_ref: "main", title: "Other" })).toMatchObject({
    status: 409,
    body: { code: "already_open", number: 4 },
  });
  expect(await bases()).toEqual(["main", "first", "second"]);
});

test("the merge of a protected branch leaves those based on it", async () => {
  const { call, bases } = await stack('svc_version = 1\n[branches]\nprotected = ["fir*"]\n');
  expect((await call("POST", "1/merge", {})).status).toBe(200);
  expect(await bases()).toEqual(["main", "first", "second"]);
});

test("the base of an open change request can be changed, that of a merged one cannot", async () => {
  const { remote, call, get } = await stack();
  const changed = await call("PATCH", "2", { base_ref: "refs/heads/main", title: "New" });
  expect(changed).toMatchObject({ status: 200, body: { base_ref: "main", title: "New" } });
  expect(await get(2)).toMatchObject({ base_ref: "main", base_commit_sha: remote.sha("main") });
  expect((await call("POST", "2/merge", {})).status).toBe(200);
  expect(remote.sha("main")).toBe(remote.sha("second"));
  const late = await call("PATCH", "2", { base_ref: "first" });
  expect(late).toMatchObject({ status: 409, body: { code: "not_open" } });
});

test("a base that cannot be is refused, and changes nothing", async () => {
  const { call, get } = await stack();
  const refused = async (base_ref: string) => {
    const { status, body } = await call("PATCH", "2", { base_ref, title: "New" });
    return [status, body.code];
  };
  expect(await refused("second")).toEqual([400, "validation_failed"]);
  expect(await refused("missing")).toEqual([400, "ref_not_found"]);
  expect(await refused("-x")).toEqual([400, "invalid_ref"]);
  expect(await get(2)).toMatchObject({ base_ref: "first", title: "second" });
});

test("a merge goes to the base that the change request has when its intent is recorded", async () => {
  const { remote, call, get } = await stack();
  let steps = 0;
  between = async (step) => {
    if (step === "commit-written" && steps++ === 0) await call("PATCH", "2", { base_ref: "main" });
  };
  const before = remote.sha("first");
  expect((await call("POST", "2/merge", {})).body).toMatchObject({ status: "merged", base_ref: "main" });
  expect([remote.sha("first"), remote.sha("main")]).toEqual([before, remote.sha("second")]);
  expect((await get(2)).merge_commit_sha).toBe(remote.sha("main"));
});

test("the base cannot be changed while the change request is being merged", async () => {
  const { call, get } = await stack();
  let during: Answer | null = null;
  between = async (step) => {
    if (step === "intent-recorded") during = await call("PATCH", "2", { base_ref: "main" });
  };
  expect((await call("POST", "2/merge", {})).status).toBe(200);
  expect(during).toMatchObject({ status: 409, body: { code: "merge_in_progress" } });
  expect(await get(2)).toMatchObject({ base_ref: "first", status: "merged" });
});

test("a stack is listed from each of its change requests, without what is not part of it", async () => {
  const { remote, call, open } = await stack();
  remote.commit("beside", { beside: "1\n" }, { from: "first" });
  expect((await open("beside", "first")).status).toBe(201);
  const listed = async (number: number) => {
    const { status, body } = await call("GET", `${number}/stack`);
    expect(status).toBe(200);
    return body.stack.map(({ number, level }: Answer["body"]) => [number, level]);
  };
  expect(await listed(1)).toEqual([
    [1, 0],
    [2, 1],
    [4, 1],
    [3, 2],
  ]);
  expect(await listed(3)).toEqual([
    [1, -2],
    [2, -1],
    [3, 0],
  ]);
  expect(await listed(4)).toEqual([
    [1, -1],
    [4, 0],
  ]);
  await call("POST", "2/close", {});
  expect(await listed(1)).toEqual([
    [1, 0],
    [4, 1],
  ]);
  expect(await listed(2)).toEqual([]);
  expect(await listed(3)).toEqual([]);
  await call("POST", "1/merge", {});
  expect(await listed(4)).toEqual([]);
});

test("a protected branch ends a stack, and branches that are based on each other do, too", async () => {
  const manifest = 'svc_version = 1\n[branches]\nprotected = ["first"]\n';
  const { remote, call, open } = await stack(manifest);
  // the rules are stored with the first merge
  remote.commit("small", { small: "1\n" }, { from: "main" });
  const { number } = (await open("small", "main")).body;
  await call("POST", `${number}/merge`, {});
  const numbers = async (of: number) =>
    (await call("GET", `${of}/stack`)).body.stack.map(({ number }: Answer["body"]) => number);
  expect(await numbers(1)).toEqual([]);
  expect(await numbers(3)).toEqual([2, 3]);
  expect((await open("second", "third")).status).toBe(201);
  expect(await numbers(3)).toEqual([2, 3, 5]);
});
