import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";
import { publicOrigin, trailersOf } from "../helpers/trailers.ts";

let api: Api;
const remotes: Remote[] = [];

beforeAll(async () => {
  api = await startApi();
});
afterEach(() => {
  for (const remote of remotes.splice(0)) remote.remove();
});
afterAll(() => api.stop());

/** A project on a repository with `main` (file a) and `work` (one commit ahead). */
async function setUp() {
  const remote = new Remote();
  remotes.push(remote);
  remote.commit("main", { a: "1\n", b: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const project = await api.project(remote.url);
  const path = `/v1/projects/${project.project_id}/change-requests`;
  const open = (body: Record<string, unknown> = {}) =>
    api.call("POST", path, { body: { title: "Change a", head_ref: "work", ...body } });
  const act = (cr: Answer["body"], verb: string, body?: unknown) =>
    api.call("POST", `${path}/${cr.cr_id}/${verb}`, body === undefined ? {} : { body });
  const get = async (cr: Answer["body"]) =>
    (await api.call("GET", `${path}/${cr.cr_id}`)).body.change_request;
  return { remote, project, path, open, act, get };
}

describe("open", () => {
  test("stores the tips, the next number and every column", async () => {
    const { remote, project, open } = await setUp();
    const { status, body } = await open({ description: "why", metadata: { k: [1] } });
    expect(status).toBe(201);
    const me = (await api.call("GET", "/v1/accounts/me")).body;
    expect(body).toEqual({
      cr_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      account_id: project.account_id,
      project_id: project.project_id,
      number: 1,
      url: `${publicOrigin(api)}/projects/${project.slug}/change-requests/1`,
      title: "Change a",
      description: "why",
      base_ref: "main",
      head_ref: "work",
      status: "open",
      head_commit_sha: remote.sha("work"),
      base_commit_sha: remote.sha("main"),
      checks: { state: "none", total: 0, passed: 0, failed: 0, pending: 0, required: [] },
      cost: null,
      tokens: { input: 0, output: 0, cached: 0 },
      draft: false,
      origin_session_id: null,
      created_by: me.user_id,
      author: { user_id: me.user_id, name: me.name, kind: "user", session_id: null },
      merged_at: null,
      merged_by: null,
      merger: null,
      merge_commit_sha: null,
      merge_method: null,
      merge_methods: ["merge", "squash", "rebase"],
      closed_at: null,
      closed_by: null,
      closer: null,
      metadata: { k: [1] },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      updated_at: expect.stringMatching(/Z$/),
      stale: false,
      opened_by_agent: false,
      opened_by_session_id: null,
      mergeable: null,
      approvals: [],
      open_threads: 0,
      labels: [],
      assignees: [],
      requested_reviewers: [],
      auto_merge: null,
      reverts: null,
      reverted_by: null,
      queue: null,
      merge_queue: false,
      required_approvals: 0,
      code_owner_reviews: null,
    });
    remote.commit("next", { a: "3\n" }, { from: "main" });
    expect((await open({ head_ref: "next" })).body.number).toBe(2);
  });

  test("a second one of the same branches is refused with the first, and no number is lost", async () => {
    const { remote, project, open, act } = await setUp();
    const { body: first } = await open();
    remote.branch("stable", "main");
    const url = `${publicOrigin(api)}/projects/${project.slug}/change-requests/1`;
    for (const body of [{}, { head_ref: "refs/heads/work", base_ref: "main" }])
      expect(await open(body)).toMatchObject({
        status: 409,
        body: { code: "already_open", number: 1, url, error: expect.stringContaining('#1 of "work"') },
      });
    expect((await open({ base_ref: "stable" })).body.number).toBe(2);
    await act(first, "close");
    const { body: third } = await open();
    expect(third.number).toBe(3);
    expect(await act(first, "reopen")).toMatchObject({
      status: 409,
      body: { code: "already_open", number: 3 },
    });
    expect(await act(third, "reopen")).toMatchObject({ status: 409, body: { code: "not_closed" } });
    await act(third, "merge");
    expect((await act(first, "reopen")).body.status).toBe("open");
  });

  test("of those of the same branches that are opened or reopened at once, one is open", async () => {
    const { path, open, act } = await setUp();
    const { body: closed } = await open();
    await act(closed, "close");
    const answers = await Promise.all([open(), act(closed, "reopen"), open(), act(closed, "reopen"), open()]);
    const done = answers.filter(({ status }) => status < 300);
    expect(done).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 409)).toHaveLength(4);
    const { body } = await api.call("GET", `${path}?status=open`);
    expect(body.change_requests).toHaveLength(1);
  });

  test("is mergeable as far as its commits have been compared", async () => {
    const { remote, path, open, act } = await setUp();
    const { body: cr } = await open();
    const read = async () => [
      (await api.call("GET", `${path}/1`)).body.change_request.mergeable,
      (await api.call("GET", path)).body.change_requests[0].mergeable,
    ];
    expect([cr.mergeable, ...(await read())]).toEqual([null, null, null]);
    await api.call("GET", `${path}/1/merge-preview`);
    expect(await read()).toEqual([true, true]);
    remote.commit("main", { a: "3\n" });
    expect(await read()).toEqual([null, null]);
    await api.call("GET", `${path}/1/merge-preview`);
    expect(await read()).toEqual([false, false]);
    await act(cr, "close");
    expect(await read()).toEqual([null, null]);
  });

  test("ignores an unknown session", async () => {
    const { open } = await setUp();
    const { status, body } = await open({ session_id: crypto.randomUUID() });
    expect([status, body.origin_session_id]).toEqual([201, null]);
  });

  const rows: [string, unknown, string][] = [
    ["no title", { head_ref: "work" }, "validation_failed"],
    ["an empty title", { title: "", head_ref: "work" }, "validation_failed"],
    ["a blank title", { title: " \n\t", head_ref: "work" }, "validation_failed"],
    ["a title of 257 characters", { title: "x".repeat(257), head_ref: "work" }, "validation_failed"],
    ["a title with NUL", { title: "a\0b", head_ref: "work" }, "validation_failed"],
    [
      "a description over 64 KiB",
      { title: "t", head_ref: "work", description: "é".repeat(33_000) },
      "validation_failed",
    ],
    [
      "metadata over 16 KiB",
      { title: "t", head_ref: "work", metadata: { k: "x".repeat(17_000) } },
      "validation_failed",
    ],
    ["metadata with NUL", { title: "t", head_ref: "work", metadata: { "a\0": 1 } }, "validation_failed"],
    ["no head_ref", { title: "t" }, "validation_failed"],
    ["head equal to base", { title: "t", head_ref: "main" }, "validation_failed"],
    [
      "head equal to base by its full name",
      { title: "t", head_ref: "refs/heads/main", base_ref: "main" },
      "validation_failed",
    ],
    ["a head that does not exist", { title: "t", head_ref: "nope" }, "ref_not_found"],
    ["a base that does not exist", { title: "t", head_ref: "work", base_ref: "nope" }, "ref_not_found"],
    ["a title that is not text", { title: 1, head_ref: "work" }, "validation_failed"],
    ["a body that is a list", [], "validation_failed"],
    ...[
      "-x",
      "--upload-pack=x",
      "a..b",
      "@{-1}",
      "main~0",
      "main^0",
      "main@{0}",
      ":/c1",
      "main:a",
      "x.lock",
      ".hidden",
      "end.",
      "end/",
      "//",
      "a//b",
      "a b",
      "a\tb",
      "a\nb",
      "*",
      "?",
      "[",
      "\\",
      "HEAD",
      "a".repeat(40),
      "0".repeat(64),
      "refs/heads/-x",
      "\0",
      "x".repeat(300),
    ].map((ref): [string, unknown, string] => [
      `the ref ${JSON.stringify(ref.slice(0, 20))}`,
      { title: "t", head_ref: ref },
      "invalid_ref",
    ]),
  ];
  test("refuses with 400 and stores nothing", async () => {
    const { path } = await setUp();
    for (const [what, body, code] of rows) {
      const answer = await api.call("POST", path, { body });
      expect([what, answer.status, answer.body?.code]).toEqual([what, 400, code]);
    }
    for (const raw of ["{", "nope", "\xff"]) {
      const answer = await api.call("POST", path, { raw, headers: { "Content-Type": "application/json" } });
      expect([answer.status, answer.body.code]).toEqual([400, "invalid_json"]);
    }
    expect((await api.call("GET", path)).body.change_requests).toEqual([]);
  });

  test("an unreachable repository is 502 and stores nothing", async () => {
    const { remote, path, open } = await setUp();
    remote.remove();
    const answer = await open();
    expect([answer.status, answer.body.code]).toEqual([502, "repo_unreachable"]);
    expect(answer.text).not.toContain(remote.path);
    expect((await api.call("GET", path)).body.change_requests).toEqual([]);
  });

  test("odd but legal branch names work from open to merge", async () => {
    const { remote, path } = await setUp();
    const odd = ["feature/x", "ünï", "🚀", "a&b", "$(id)", "`x`", ";", '"', "%2e%2e", "heads/main"];
    for (const ref of [...sample(3, odd), "refs/heads/x"]) {
      const short = ref;
      remote.commit(short, { [`f-${ref.length}-${encodeURIComponent(ref)}`]: "x\n" }, { from: "main" });
      const head = ref.startsWith("refs/heads/") ? `refs/heads/${ref}` : ref;
      const opened = await api.call("POST", path, { body: { title: ref, head_ref: head } });
      expect([ref, opened.status]).toEqual([ref, 201]);
      const merged = await api.call("POST", `${path}/${opened.body.number}/merge`);
      expect([ref, merged.status]).toEqual([ref, 200]);
    }
  });
});

describe("read", () => {
  test("finds it by id or number; unknown is 404, anything else is 400", async () => {
    const { path, open } = await setUp();
    const { body: cr } = await open();
    expect((await api.call("GET", `${path}/1`)).body.change_request).toEqual(cr);
    expect((await api.call("GET", `${path}/${cr.cr_id.toUpperCase()}`)).body.change_request).toEqual(cr);
    for (const [name, status] of [
      ["nope", 400],
      ["0", 400],
      ["%231", 400],
      ["%00", 400],
      ["2", 404],
      [crypto.randomUUID(), 404],
    ] as const) {
      expect([name, (await api.call("GET", `${path}/${name}`)).status]).toEqual([name, status]);
    }
  });

  test("shows the new tips of both branches in the first read after a push", async () => {
    const { remote, open, get } = await setUp();
    const { body: cr } = await open();
    const head = remote.commit("work", { c: "3\n" });
    const base = remote.commit("main", { d: "4\n" });
    const read = await get(cr);
    expect(read).toMatchObject({ head_commit_sha: head, base_commit_sha: base });
    expect(read.updated_at > cr.updated_at).toBe(true);
    expect(await get(cr)).toEqual(read);
    remote.branch("work", "main");
    expect((await get(cr)).head_commit_sha).toBe(base);
  });

  test("serves the stored row when a branch or the repository is missing", async () => {
    const { remote, path, open, get } = await setUp();
    const { body: cr } = await open();
    const { body: diff } = await api.call("GET", `${path}/1/diff`);
    remote.deleteBranch("work");
    expect(await get(cr)).toEqual({ ...cr, stale: true });
    expect((await api.call("GET", `${path}/1/diff`)).body).toEqual(diff);
    const preview = await api.call("GET", `${path}/1/merge-preview`);
    expect([preview.status, preview.body.code]).toEqual([409, "branch_missing"]);
    remote.remove();
    expect(await get(cr)).toEqual({ ...cr, stale: true });
    expect((await api.call("GET", `${path}/1/diff`)).body.code).toBe("repo_unreachable");
  });

  test("lists by status and page, newest first", async () => {
    const { remote, path, open, act } = await setUp();
    const made = [];
    for (let n = 0; n < 5; n++) {
      remote.branch(`work-${n}`, "work");
      made.push((await open({ title: `t${n}`, head_ref: `work-${n}` })).body);
    }
    await act(made[1], "close");
    await act(made[3], "close");
    const list = async (query: string) => (await api.call("GET", `${path}${query}`)).body;
    const numbers = (body: Answer["body"]) => body.change_requests.map((cr: { number: number }) => cr.number);
    expect(numbers(await list(""))).toEqual([5, 4, 3, 2, 1]);
    expect(numbers(await list("?status=all"))).toEqual([5, 4, 3, 2, 1]);
    expect(numbers(await list("?status=open"))).toEqual([5, 3, 1]);
    expect(numbers(await list("?status=closed"))).toEqual([4, 2]);
    expect(numbers(await list("?status=merged"))).toEqual([]);
    const first = await list("?limit=2");
    expect(numbers(first)).toEqual([5, 4]);
    const second = await list(`?limit=2&cursor=${first.next_cursor}`);
    const third = await list(`?limit=2&cursor=${second.next_cursor}`);
    expect([numbers(second), numbers(third), third.next_cursor]).toEqual([[3, 2], [1], undefined]);
    for (const query of [
      "?status=nope",
      "?status=",
      "?status=%00",
      "?limit=0",
      "?limit=201",
      "?limit=x",
      "?cursor=!!",
      "?cursor=AAAA",
    ]) {
      expect([query, (await api.call("GET", path + query)).status]).toEqual([query, 400]);
    }
  });
});

test("edit changes only title and description, in every state", async () => {
  const { path, open, act } = await setUp();
  const { body: cr } = await open();
  const edit = (body: unknown) => api.call("PATCH", `${path}/1`, { body });
  expect((await edit({ title: "  New  " })).body).toMatchObject({ title: "New", description: "" });
  expect((await edit({ description: "d", metadata: { a: 1 } })).body).toMatchObject({
    title: "New",
    description: "d",
    metadata: { a: 1 },
  });
  for (const body of [
    {},
    { title: "" },
    { title: " " },
    { title: "\0" },
    { description: 1 },
    { status: "merged" },
    null,
  ]) {
    expect([body, (await edit(body)).status]).toEqual([body, 400]);
  }
  await act(cr, "close");
  expect((await edit({ title: "Closed" })).body).toMatchObject({ title: "Closed", status: "closed" });
  await act(cr, "reopen");
  await act(cr, "merge");
  expect((await edit({ title: "Merged" })).body).toMatchObject({ title: "Merged", status: "merged" });
});

describe("merge", () => {
  test("fast-forwards if the head is strictly ahead", async () => {
    const { remote, open, act, get } = await setUp();
    const [base, head] = [remote.sha("main"), remote.sha("work")];
    const { body: cr } = await open();
    const { status, body } = await act(cr, "merge");
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: "merged",
      merge_commit_sha: head,
      head_commit_sha: head,
      base_commit_sha: base,
    });
    expect(body.merge).toEqual({
      merge_commit_sha: head,
      fast_forward: true,
      base_sha_before: base,
      base_sha_after: head,
    });
    expect(remote.sha("main")).toBe(head);
    expect(remote.sha("work")).toBe(head);
    const { merge: _, ...bare } = body;
    expect(await get(cr)).toEqual(bare);
  });

  test("otherwise creates a merge commit by svc, dated now, whose message names the merger and the branches", async () => {
    const { remote, project, open, act } = await setUp();
    const head = remote.sha("work");
    const base = remote.commit("main", { b: "2\n" });
    const { body: cr } = await open({ title: "Fix “it” – $(x)" });
    const { body } = await act(cr, "merge");
    const sha = remote.sha("main");
    expect(body).toMatchObject({ merge_commit_sha: sha, head_commit_sha: head, base_commit_sha: base });
    expect(body.merge).toMatchObject({ fast_forward: false, base_sha_before: base, base_sha_after: sha });
    const raw = remote.git("cat-file", "commit", sha);
    expect(raw.slice(raw.indexOf("\n\n") + 2)).toBe(
      `Merge CR #1: Fix “it” – $(x)\n\n${await trailersOf(api, project)}`,
    );
    expect(remote.git("log", "-1", "--format=%P|%an <%ae>|%cn <%ce>", sha).trim()).toBe(
      `${base} ${head}|svc <no-reply@svc.invalid>|svc <no-reply@svc.invalid>`,
    );
    expect(Math.abs(Number(remote.git("log", "-1", "--format=%ct", sha)) - Date.now() / 1000)).toBeLessThan(
      60,
    );
    expect(remote.git("show", "main:a") + remote.git("show", "main:b")).toBe("2\n2\n");
    remote.git("fsck", "--strict");
  });

  test("uses the caller's message, and adds the merger and the branches", async () => {
    const { remote, project, open, act } = await setUp();
    remote.commit("main", { b: "2\n" });
    const { body: cr } = await open();
    const message = "--amend\n\nCo-authored-by: x\n\ttabs  \n\n";
    expect((await act(cr, "merge", { message: "a\0b" })).status).toBe(400);
    expect((await act(cr, "merge", { message: "" })).status).toBe(400);
    expect((await act(cr, "merge", { message })).status).toBe(200);
    const raw = remote.git("cat-file", "commit", "main");
    expect(raw.slice(raw.indexOf("\n\n") + 2)).toBe(
      `${message.trimEnd()}\n\n${await trailersOf(api, project)}`,
    );
  });

  test("works beside a branch named refs/heads/main, which does not move", async () => {
    const { remote, open, act } = await setUp();
    remote.git("update-ref", "refs/heads/refs/heads/main", remote.sha("main"));
    const { body: cr } = await open();
    const before = remote.sha("main");
    const merged = await act(cr, "merge");
    expect([merged.status, remote.sha("main")]).toEqual([200, merged.body.merge_commit_sha]);
    expect(remote.git("rev-parse", "refs/heads/refs/heads/main").trim()).toBe(before);
  });

  test("merges only the expected head", async () => {
    const { remote, open, act, get } = await setUp();
    const { body: cr } = await open();
    const seen = remote.sha("work");
    const now = remote.commit("work", { unseen: "1\n" });
    const base = remote.sha("main");
    const moved = await act(cr, "merge", { head_commit_sha: seen });
    expect(moved).toMatchObject({
      status: 409,
      body: { code: "head_moved", expected: seen, head_commit_sha: now },
    });
    expect([(await get(cr)).status, remote.sha("main")]).toEqual(["open", base]);
    for (const bad of ["", "work", seen.slice(1), `${seen}0`, 7])
      expect((await act(cr, "merge", { head_commit_sha: bad })).status).toBe(400);
    const merged = await act(cr, "merge", { head_commit_sha: now.toUpperCase() });
    expect([merged.status, merged.body.head_commit_sha]).toEqual([200, now]);
  });

  test("reports a conflict with its files and changes nothing", async () => {
    const { remote, path, open, act, get } = await setUp();
    const base = remote.commit("main", { a: "3\n" });
    const { body: cr } = await open();
    const { status, body } = await act(cr, "merge");
    expect([status, body]).toEqual([
      409,
      { error: "Merge failed", code: "merge_conflict", conflicts: ["a"] },
    ]);
    expect((await api.call("GET", `${path}/1/merge-preview`)).body).toEqual({
      base_sha: base,
      head_sha: remote.sha("work"),
      merge_base: remote.git("rev-parse", "main~1").trim(),
      is_up_to_date: false,
      can_merge: false,
      can_fast_forward: false,
      conflicts: ["a"],
    });
    expect(remote.sha("main")).toBe(base);
    expect((await get(cr)).status).toBe("open");
    // Spec 4.1 rule 8: merge the base into the head, resolve, and it is a fast-forward.
    remote.commit("work", { a: "resolved\n" }, { merge: ["main"] });
    expect((await act(cr, "merge")).body.merge.fast_forward).toBe(true);
  });

  test("lists at most 10,000 conflicts", async () => {
    const { remote, path, open, act } = await setUp();
    const files = (text: string) =>
      Object.fromEntries(Array.from({ length: 10_050 }, (_, n) => [`f${n}`, text]));
    remote.commit("main", files("base\n"));
    remote.commit("work", files("head\n"));
    const { body: cr } = await open();
    const preview = (await api.call("GET", `${path}/1/merge-preview`)).body;
    expect([preview.can_merge, preview.conflicts.length]).toEqual([false, 10_000]);
    expect((await act(cr, "merge")).body.conflicts).toEqual(preview.conflicts);
  });

  test("has nothing to merge if the base has every commit", async () => {
    const { remote, path, open, act } = await setUp();
    const { body: cr } = await open();
    remote.branch("main", "work");
    expect((await api.call("GET", `${path}/1/merge-preview`)).body).toMatchObject({
      is_up_to_date: true,
      can_merge: true,
      can_fast_forward: false,
    });
    expect(await act(cr, "merge")).toMatchObject({ status: 409, body: { code: "nothing_to_merge" } });
    remote.commit("main", { z: "1\n" });
    expect(await act(cr, "merge")).toMatchObject({ status: 409, body: { code: "nothing_to_merge" } });
  });

  test("refuses unrelated histories", async () => {
    const { remote, path, open, act } = await setUp();
    remote.git("update-ref", "-d", "refs/heads/work");
    remote.commit("work", { z: "1\n" });
    const { body: cr } = await open();
    expect((await api.call("GET", `${path}/1/merge-preview`)).body).toMatchObject({
      merge_base: null,
      can_merge: false,
      conflicts: [],
    });
    expect(await act(cr, "merge")).toMatchObject({ status: 409, body: { code: "unrelated_histories" } });
    expect((await api.call("GET", `${path}/1/diff`)).body.files).toEqual([
      { path: "z", status: "added", additions: 1, deletions: 0, binary: false },
    ]);
  });

  test("returns the host's rejection message, without escape sequences", async () => {
    const { remote, open, act, get } = await setUp();
    remote.hook("pre-receive", "printf 'main is \\033[31mfrozen\\033[0m\\n' >&2; exit 1");
    const { body: cr } = await open();
    const { status, body } = await act(cr, "merge");
    expect([status, body.code]).toEqual([409, "push_rejected"]);
    expect(body.error).toContain("frozen");
    expect(body.error).not.toContain("\x1b");
    expect((await get(cr)).status).toBe("open");
    remote.hook("pre-receive", "exit 0");
    expect((await act(cr, "merge")).status).toBe(200);
  });
});

/** The last lines of a merge commit of the project's first change request. */
describe("state machine", () => {
  test("close and reopen", async () => {
    const { open, act } = await setUp();
    const { body: cr } = await open();
    expect(await act(cr, "reopen")).toMatchObject({ status: 409, body: { code: "not_closed" } });
    const closed = (await act(cr, "close")).body;
    expect(closed).toMatchObject({
      status: "closed",
      closed_by: cr.created_by,
      closed_at: expect.any(String),
    });
    expect((await act(cr, "close")).status).toBe(200);
    expect(await act(cr, "merge")).toMatchObject({ status: 409, body: { code: "not_open" } });
    expect((await act(cr, "reopen")).body).toMatchObject({
      status: "open",
      closed_at: null,
      closed_by: null,
    });
  });

  test("merged is final", async () => {
    const { open, act, get } = await setUp();
    const { body: cr } = await open();
    await act(cr, "merge");
    const merged = await get(cr);
    expect(await act(cr, "merge")).toMatchObject({ status: 409, body: { code: "not_open" } });
    expect(await act(cr, "close")).toMatchObject({ status: 409, body: { code: "already_merged" } });
    expect(await act(cr, "reopen")).toMatchObject({ status: 409, body: { code: "not_closed" } });
    expect(await get(cr)).toEqual(merged);
  });
});

describe("diff", () => {
  test("is a three-dot diff of the current head, and applies", async () => {
    const { remote, path, open } = await setUp();
    await open();
    const mergeBase = remote.sha("main");
    remote.commit("main", { only_base: "x\n" });
    remote.commit("work", { b: null, c: { executable: "c\n" }, bin: new Uint8Array([0, 1, 2]) });
    const { body } = await api.call("GET", `${path}/1/diff`);
    expect(body).toMatchObject({
      base_ref: "main",
      head_ref: "work",
      merge_base: mergeBase,
      files_changed: 4,
      additions: 2,
      deletions: 2,
      truncated: false,
    });
    expect(body.files).toEqual([
      { path: "a", status: "modified", additions: 1, deletions: 1, binary: false },
      { path: "b", status: "deleted", additions: 0, deletions: 1, binary: false },
      { path: "bin", status: "added", additions: 0, deletions: 0, binary: true },
      { path: "c", status: "added", additions: 1, deletions: 0, binary: false },
    ]);
    const streamed = await api.call("GET", `${path}/1/diff`, { headers: { Accept: "text/x-diff" } });
    expect(streamed.headers.get("content-type")).toStartWith("text/x-diff");
    expect(streamed.text).toBe(body.patch);
  });

  test("pairs renamed files only if asked", async () => {
    const { remote, path, open } = await setUp();
    const text = Array.from({ length: 20 }, (_, at) => `${at}\n`).join("");
    remote.commit("main", { before: text });
    remote.commit("work", { before: null, after: `${text}more\n` }, { from: "main" });
    await open();
    const filesOf = async (query: string) =>
      (await api.call("GET", `${path}/1/diff${query}`)).body.files.filter(
        ({ path: name }: { path: string }) => ["before", "after"].includes(name),
      );
    const counts = { additions: 1, deletions: 0, binary: false };
    expect(await filesOf("?renames=pair")).toEqual([
      { path: "after", status: "renamed", previous_path: "before", ...counts },
    ]);
    expect(await filesOf("")).toMatchObject([
      { path: "after", status: "added", additions: 21 },
      { path: "before", status: "deleted", deletions: 20 },
    ]);
    const { text: patch } = await api.call("GET", `${path}/1/diff?renames=pair`, {
      headers: { Accept: "text/x-diff" },
    });
    expect(patch).toContain("rename from before\nrename to after\n");
    expect((await api.call("GET", `${path}/1/diff?renames=no`)).status).toBe(400);
  });

  test("does not change after the merge, whatever happens to the branches", async () => {
    for (const ahead of [true, false]) {
      const { remote, path, open, act } = await setUp();
      if (!ahead) remote.commit("main", { b: "9\n" });
      const { body: cr } = await open();
      const before = (await api.call("GET", `${path}/1/diff`)).body;
      await act(cr, "merge");
      remote.commit("main", { a: "later\n" });
      remote.deleteBranch("work");
      const after = (await api.call("GET", `${path}/1/diff`)).body;
      expect(after).toEqual(before);
    }
  });

  test("is cut between files at the limit, with a complete list of files", async () => {
    const { remote, path, open } = await setUp();
    const lines = (n: number) => Array.from({ length: n }, (_, i) => `line ${i}\n`).join("");
    remote.commit("work", { m1: lines(9000), m2: lines(9000), m3: lines(9000) });
    await open();
    const { body } = await api.call("GET", `${path}/1/diff`);
    expect([body.truncated, body.files_changed, body.additions]).toEqual([true, 4, 27_001]);
    expect(body.patch.match(/^diff --git/gm)).toHaveLength(3);
    const whole = await api.call("GET", `${path}/1/diff`, { headers: { Accept: "text/x-diff" } });
    expect(whole.text.match(/^diff --git/gm)).toHaveLength(4);
    expect(whole.text.startsWith(body.patch)).toBe(true);
  });

  test("marks paths and content that are not UTF-8", async () => {
    const { remote, path, open } = await setUp();
    const bytes = Buffer.from([0xe9, 0x0a]);
    remote.commit("work", { latin1: new Uint8Array(bytes) });
    await open();
    const { body } = await api.call("GET", `${path}/1/diff`);
    expect(body.patch).toContain("+\ufffd");
    expect(Buffer.from(body.patch_base64, "base64").includes(bytes)).toBe(true);
  });
});

test("no response contains a path of the server's storage", async () => {
  const { path, open } = await setUp();
  await open();
  const texts = await Promise.all(
    ["", "/1", "/1/diff", "/1/merge-preview"].map(async (rest) => (await api.call("GET", path + rest)).text),
  );
  for (const text of texts) expect(text).not.toContain(api.dataDir);
});
