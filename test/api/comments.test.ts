import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rename } from "node:fs/promises";
import type { Comment } from "../../src/contract/comment.ts";
import { type Answer, type Api, startApi } from "../helpers/api.ts";
import { Remote } from "../helpers/remote.ts";

let api: Api;
let remote: Remote;
let project: string;
let agent: string;
let member: string;
let number = 0;
/** The head of the change request of the test. */
let branch = "";
let branches = 0;

beforeAll(async () => {
  api = await startApi();
  remote = new Remote();
  remote.commit("main", {
    "kept.txt": "same\n",
    "edited.txt": "one\ntwo\nthree\n",
    "gone.txt": "a\nb\n",
    "dir/file": "x\n",
  });
  remote.commit(
    "work",
    {
      "edited.txt": "one\nTWO\nthree\nfour",
      "gone.txt": null,
      "new\t\u202efile.txt": "1\r\n\n",
      "bytes.bin": Uint8Array.of(0xff, 0, 0x41, 10, 0xc3),
      long: `${"é".repeat(2_000)}\n`,
      empty: "",
      link: { link: "kept.txt" },
    },
    { from: "main" },
  );
  project = `/v1/projects/${(await api.project(remote.url)).project_id}`;
  agent = (await api.call("POST", `${project}/cli-token`, { body: { name: "agent" } })).body.token;
  member = await api.mint("second@example.com");
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

/** Each test has a change request of its own. */
async function open() {
  branch = `work-${++branches}`;
  remote.branch(branch, "work");
  const made = await api.call("POST", `${project}/change-requests`, {
    body: { title: "t", head_ref: branch },
  });
  number = made.body.number;
  const path = `${project}/change-requests/${number}/comments`;
  const say = (body: Record<string, unknown>, token = api.token) => api.call("POST", path, { body, token });
  const list = async (query = ""): Promise<Comment[]> => (await api.call("GET", path + query)).body.comments;
  const act = (method: string, comment: Answer, verb = "", options = {}) =>
    api.call(method, `${path}/${comment.body.comment_id}${verb}`, options);
  return { path, say, list, act };
}

describe("a comment", () => {
  test("on the change request is stored verbatim, except for NUL", async () => {
    const { say, list } = await open();
    const body = "# Hi\n\u001b[31mred\u0007 \u202eevil\u2066 <script>alert(1)</script> \ud800 ü";
    const made = await say({ body });
    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      comment_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      cr_id: expect.any(String),
      reply_to: null,
      body: body.toWellFormed(),
      path: null,
      line: null,
      start_line: null,
      side: null,
      outdated: false,
      original_path: null,
      original_line: null,
      original_start_line: null,
      quote: null,
      head_commit_sha: null,
      author: { user_id: expect.any(String), name: expect.any(String), kind: "user", session_id: null },
      resolved_at: null,
      resolved_by: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    });
    expect(await list()).toEqual([made.body]);
    for (const bad of ["a\0b", "", " \n", "é".repeat(33_000), 1, undefined])
      expect([bad, (await say({ body: bad })).status]).toEqual([bad, 400]);
    expect((await say({ body: "é".repeat(32_768) })).status).toBe(201);
  });

  const head = () => remote.sha(branch);
  const lines: [what: string, where: Record<string, unknown>, quote: string | null][] = [
    ["an added line", { path: "edited.txt", line: 2, side: "new" }, "TWO"],
    ["the new side is meant without one", { path: "edited.txt", line: 2 }, "TWO"],
    ["a removed line", { path: "edited.txt", line: 2, side: "old" }, "two"],
    ["a line that is as it was", { path: "edited.txt", line: 1, side: "old" }, "one"],
    ["a last line without an end", { path: "edited.txt", line: 4 }, "four"],
    ["a line of a deleted file", { path: "gone.txt", line: 1, side: "old" }, "a"],
    ["a strange name, and a line's end of Windows", { path: "new\t\u202efile.txt", line: 1 }, "1"],
    ["an empty line", { path: "new\t\u202efile.txt", line: 2 }, ""],
    ["bytes that are not text", { path: "bytes.bin", line: 1 }, "\ufffd\ufffdA"],
    ["a character that is cut off", { path: "bytes.bin", line: 2 }, ""],
    ["a long line", { path: "long", line: 1 }, "é".repeat(512)],
    ["a symbolic link", { path: "link", line: 1 }, "kept.txt"],
    ["a file", { path: "empty" }, null],
  ];
  test.each(lines)("on %s keeps the line", async (_, where, quote) => {
    const { say } = await open();
    const made = await say({ body: "b", ...where });
    expect([made.status, made.body.quote]).toEqual([201, quote]);
    expect(made.body).toMatchObject({ ...where, head_commit_sha: head() });
  });

  const missing: [what: string, where: Record<string, unknown>][] = [
    ["a file that the change leaves alone", { path: "kept.txt", line: 1 }],
    ["a file that is not there", { path: "nowhere" }],
    ["a directory", { path: "dir" }],
    ["the root", { path: "/" }],
    ["a line past the end", { path: "edited.txt", line: 5 }],
    ["a line past the end on the other side", { path: "edited.txt", line: 4, side: "old" }],
    ["a line behind the last line's end", { path: "new\t\u202efile.txt", line: 3 }],
    ["a line of a deleted file, on the new side", { path: "gone.txt", line: 1 }],
    ["a line of an added file, on the old side", { path: "long", line: 1, side: "old" }],
    ["a line of an empty file", { path: "empty", line: 1 }],
    ["a line without a file", { line: 1 }],
    ["a side without a line", { path: "edited.txt", side: "new" }],
    ["line 0", { path: "edited.txt", line: 0 }],
    ["half a line", { path: "edited.txt", line: 1.5 }],
    ["an unknown side", { path: "edited.txt", line: 1, side: "both" }],
    ["a path with NUL", { path: "edited.txt\0" }],
    ["an option", { path: "--output=/tmp/x" }],
  ];
  test.each(missing)("on %s is refused", async (_, where) => {
    const { say } = await open();
    expect((await say({ body: "b", ...where })).status).toBe(400);
  });

  test("needs the repository only if it is on a file", async () => {
    remote.commit("short", { s: "1\n" }, { from: "main" });
    const { body } = await api.call("POST", `${project}/change-requests`, {
      body: { title: "t", head_ref: "short" },
    });
    const path = `${project}/change-requests/${body.number}/comments`;
    await api.call("GET", `${project}/change-requests/${body.number}/diff`);
    remote.deleteBranch("short");
    expect((await api.call("POST", path, { body: { body: "where is it?" } })).status).toBe(201);
    const last = await api.call("POST", path, { body: { body: "b", path: "s", line: 1 } });
    expect(last.body).toMatchObject({ quote: "1", head_commit_sha: body.head_commit_sha });
    const moved = `${remote.path}.moved`;
    await rename(remote.path, moved);
    const unreachable = await api.call("POST", path, { body: { body: "b", path: "s", line: 1 } });
    expect(unreachable.body.code).toBe("repo_unreachable");
    expect((await api.call("POST", path, { body: { body: "still here?" } })).status).toBe(201);
    await rename(moved, remote.path);
  });
});

describe("a thread", () => {
  test("is one thread, however deep the replies", async () => {
    const { say, list } = await open();
    const first = await say({ body: "first", path: "edited.txt", line: 1 });
    const reply = await say({ body: "reply", reply_to: first.body.comment_id }, agent);
    const deeper = await say({ body: "deeper", reply_to: reply.body.comment_id });
    for (const { body } of [reply, deeper])
      expect(body).toMatchObject({ reply_to: first.body.comment_id, path: null, line: null });
    expect(reply.body.author).toMatchObject({ kind: "token", name: "agent", session_id: null });
    expect((await list()).map(({ body }) => body)).toEqual(["first", "reply", "deeper"]);
    const other = await open();
    expect((await other.say({ body: "b", reply_to: first.body.comment_id })).status).toBe(404);
    expect((await say({ body: "b", reply_to: "x" })).status).toBe(400);
    expect((await say({ body: "b", reply_to: first.body.comment_id, path: "edited.txt" })).status).toBe(400);
  });

  test("is resolved and reopened through its first comment, by a person", async () => {
    const { say, list, act } = await open();
    const [one, two] = [await say({ body: "one" }), await say({ body: "two" })];
    const reply = await say({ body: "reply", reply_to: one.body.comment_id });
    const refused = await act("POST", one, "/resolve", { token: agent });
    expect([refused.status, refused.body.error]).toEqual([
      403,
      expect.stringContaining("only a person can resolve it"),
    ]);
    const own = await say({ body: "an agent's own" }, agent);
    expect((await act("POST", own, "/resolve", { token: agent })).body.resolved_at).toEqual(
      expect.any(String),
    );
    const resolved = await act("POST", one, "/resolve");
    expect(resolved.body).toMatchObject({
      resolved_at: expect.any(String),
      resolved_by: one.body.author.user_id,
    });
    expect((await act("POST", one, "/resolve")).body).toEqual(resolved.body);
    expect((await list("?open=true")).map(({ body }) => body)).toEqual([two.body.body]);
    expect((await list()).length).toBe(4);
    expect((await act("POST", reply, "/resolve")).status).toBe(400);
    expect((await act("POST", one, "/unresolve")).body).toMatchObject({
      resolved_at: null,
      resolved_by: null,
    });
    expect((await list("?open=true")).length).toBe(3);
  });

  test("keeps its place after its first comment is deleted", async () => {
    const { say, list, act } = await open();
    const first = await say({ body: "first", path: "edited.txt", line: 2 });
    await say({ body: "second", reply_to: first.body.comment_id });
    await say({ body: "third", reply_to: first.body.comment_id });
    await act("POST", first, "/resolve");
    expect((await act("DELETE", first)).body).toEqual({ ok: true });
    const [second, third] = await list();
    expect(second).toMatchObject({
      body: "second",
      reply_to: null,
      path: "edited.txt",
      line: 2,
      quote: "TWO",
    });
    expect(second?.resolved_at).not.toBeNull();
    expect(third).toMatchObject({ body: "third", reply_to: second?.comment_id, path: null });
    expect((await act("DELETE", first)).status).toBe(404);
  });
});

test("threads are deleted with their change request, and change requests with their project", async () => {
  const { project_id } = await api.project(remote.url, { name: "short" });
  const path = `/v1/projects/${project_id}/change-requests`;
  await api.call("POST", path, { body: { title: "t", head_ref: "work" } });
  const { body } = await api.call("POST", `${path}/1/comments`, { body: { body: "first" } });
  await api.call("POST", `${path}/1/comments`, { body: { body: "reply", reply_to: body.comment_id } });
  expect((await api.call("DELETE", `/v1/projects/${project_id}`)).status).toBe(200);
});

test("authorizes who edits and deletes a comment", async () => {
  const { say, act } = await open();
  const admin = api.token;
  const rows: [of: string, by: string, edits: number, deletes: number][] = [
    [admin, admin, 200, 200],
    [agent, agent, 200, 200],
    // the person for whom an agent spoke takes its words away, but puts none into its mouth
    [agent, admin, 403, 200],
    [admin, agent, 403, 403],
  ];
  for (const [of, by, edits, deletes] of rows) {
    const made = await say({ body: "said" }, of);
    const edited = await act("PATCH", made, "", { body: { body: "other" }, token: by });
    expect(edited.status).toBe(edits);
    if (edits === 200) expect(edited.body.body).toBe("other");
    expect((await act("DELETE", made, "", { token: by })).status).toBe(deletes);
  }
  const made = await say({ body: "said" });
  for (const method of ["PATCH", "DELETE"])
    expect((await act(method, made, "", { token: member, body: { body: "x" } })).status).toBe(403);
  expect((await act("PATCH", made, "", { body: { body: " " } })).status).toBe(400);
});

test("comments are listed in pages, oldest first, without gaps", async () => {
  const { say, path } = await open();
  for (let n = 0; n < 5; n++) await say({ body: `${n}` });
  const seen: string[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await api.call("GET", `${path}?limit=2${cursor}`);
    seen.push(...body.comments.map((comment: Comment) => comment.body));
    if (!body.next_cursor) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(seen).toEqual(["0", "1", "2", "3", "4"]);
  expect((await api.call("GET", `${path}?cursor=xx`)).status).toBe(400);
});

test("lists the commits that a change request adds, page by page, also if branches move between pages", async () => {
  remote.commit("many", { m: "0\n" }, { from: "main", message: "many 0\n\nwhy" });
  for (let n = 1; n < 5; n++) remote.commit("many", { m: `${n}\n` }, { message: `many ${n}` });
  const { body } = await api.call("POST", `${project}/change-requests`, {
    body: { title: "t", head_ref: "many" },
  });
  const path = `${project}/change-requests/${body.number}/commits`;
  const first = (await api.call("GET", `${path}?limit=3`)).body;
  expect(first.commits.map(({ subject }: { subject: string }) => subject)).toEqual([
    "many 4",
    "many 3",
    "many 2",
  ]);
  remote.commit("many", { m: "5\n" }, { message: "many 5" });
  const rest = (await api.call("GET", `${path}?limit=3&cursor=${first.next_cursor}`)).body;
  expect(rest.commits.map(({ subject }: { subject: string }) => subject)).toEqual(["many 1", "many 0"]);
  expect(rest.commits[1]).toMatchObject({ body: "why", author: { name: "A", email: "a@example.com" } });
  expect(rest.next_cursor).toBeUndefined();
  expect((await api.call("POST", `${project}/change-requests/${body.number}/merge`)).status).toBe(200);
  const merged = (await api.call("GET", path)).body;
  expect(merged.commits.length).toBe(6);
});

test("the list can be searched by title, branch and number, and filtered by branch", async () => {
  const { project_id } = await api.project(remote.url, { name: "searched" });
  const path = `/v1/projects/${project_id}/change-requests`;
  remote.commit("fix/log%in", { l: "1\n" }, { from: "main" });
  remote.branch("work-percent", "work");
  const made = [
    ["Add a login page", "work"],
    ["100% more", "work-percent"],
    ["Other", "fix/log%in"],
  ];
  for (const [title, head_ref] of made) await api.call("POST", path, { body: { title, head_ref } });
  await api.call("POST", `${path}/2/close`);
  const rows: [query: string, numbers: number[]][] = [
    ["q=LOGIN", [1]],
    ["q=log", [3, 1]],
    ["q=%25", [3, 2]],
    ["q=_", []],
    ["q=%5C", []],
    ["q=%231", [1]],
    ["q=1", [2, 1]],
    ["q=work&status=open", [1]],
    ["q=main", [3, 2, 1]],
    ["q=%20", [3, 2, 1]],
    ["q=%00", [3, 2, 1]],
    ["q=nothing", []],
    ["head_ref=work", [1]],
    ["head_ref=fix/log%25in", [3]],
    ["head_ref=WORK", []],
    ["head_ref=%25", []],
    ["head_ref=%00", []],
    ["head_ref=work-percent&status=open", []],
    ["head_ref=work-percent&status=closed", [2]],
    ["head_ref=work&q=other", []],
    ["q=is:open", [3, 1]],
    ["q=is:open&status=closed", []],
    ["q=-is:open+more", [2]],
    ["q=login+add", [1]],
    ['q="add+a+login"', [1]],
    ['q="login+add"', []],
    ["q=%232+work", [2]],
    ["q=author:@me+sort:created-asc", [1, 2, 3]],
    ["q=author:@ME+-author:@me", []],
    ["q=head:work", [1]],
    ["q=base:main+created:%3E2000-01-01&limit=1", [3]],
    ["q=is:open&created_by=me&head_ref=work", [1]],
  ];
  for (const [query, numbers] of rows) {
    const { body } = await api.call("GET", `${path}?${query}`);
    expect([query, body.change_requests?.map((cr: { number: number }) => cr.number)]).toEqual([
      query,
      numbers,
    ]);
  }
  const page = await api.call("GET", `${path}?q=main&limit=2`);
  const rest = await api.call("GET", `${path}?q=main&limit=2&cursor=${page.body.next_cursor}`);
  expect(rest.body.change_requests.map((cr: { number: number }) => cr.number)).toEqual([1]);
  expect((await api.call("GET", `${path}?q=${"x".repeat(300)}`)).status).toBe(400);
  const wrong: [query: string, says: string][] = [
    ["q=is:opne", "q: `is:` does not take `opne`. Did you mean is:open?"],
    ["q=author:nobody", "`author:nobody` names no member."],
    ["q=x:y", "`x:` is not a qualifier."],
    [`q=sort:updated-desc&cursor=${page.body.next_cursor}`, "The cursor is not valid for this list."],
  ];
  for (const [query, says] of wrong) {
    const { status, body } = await api.call("GET", `${path}?${query}`);
    expect([query, status, body.code, body.error]).toEqual([
      query,
      400,
      "validation_failed",
      expect.stringContaining(says),
    ]);
  }
});

test("a diff that ignores white space omits changes of white space", async () => {
  remote.commit("spaces", { s: "a\nb\n", t: "x\n", u: "1\n2\n" }, { from: "main" });
  remote.commit("indented", { s: "  a\nb \n", t: "y\n", u: "1 \nthree\n" }, { from: "spaces" });
  const { body } = await api.call("POST", `${project}/change-requests`, {
    body: { title: "t", head_ref: "indented", base_ref: "spaces" },
  });
  const path = `${project}/change-requests/${body.number}/diff`;
  const rows = ({ body: { files } }: Answer) =>
    files.map((file: { path: string; additions: number; deletions: number }) => [
      file.path,
      file.additions,
      file.deletions,
    ]);
  expect(rows(await api.call("GET", path))).toEqual([
    ["s", 2, 2],
    ["t", 1, 1],
    ["u", 2, 2],
  ]);
  const ignoring = await api.call("GET", `${path}?whitespace=ignore`);
  expect(rows(ignoring)).toEqual([
    ["s", 0, 0],
    ["t", 1, 1],
    ["u", 1, 1],
  ]);
  expect(ignoring.body.patch).not.toContain("a/s");
  const streamed = await api.call("GET", `${path}?whitespace=ignore`, { headers: { Accept: "text/x-diff" } });
  expect(streamed.text).toBe(ignoring.body.patch);
  expect((await api.call("GET", `${path}?whitespace=maybe`)).status).toBe(400);
});
