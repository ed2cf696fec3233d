import { afterAll, beforeAll, expect } from "bun:test";
import type { Api } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import type { Change, Remote } from "../helpers/remote.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let api: Api;
let remote: Remote;
let member: string;
let project: string;
let count = 0;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  ({ api, remote } = bench);
  project = `/v1/projects/${bench.project.project_id}`;
  member = await bench.member("second@example.com");
});
afterAll(() => bench?.stop());

const FILE = "one\ntwo\nthree\nfour\n";
const block = (text: string) => `Better:\n\`\`\`suggestion\n${text}\`\`\``;

/** A change request that adds files. */
async function propose(files: Record<string, Change>) {
  const head = `work-${++count}`;
  remote.commit(head, files, { from: "main" });
  const at = `${project}/change-requests`;
  const { body: cr } = await api.call("POST", at, { body: { title: "t", head_ref: head } });
  return { head, cr, at, comments: `${at}/${cr.number}/comments` };
}
type Proposed = Awaited<ReturnType<typeof propose>>;

/** A comment on lines of a change request. */
async function suggest({ head, comments }: Proposed, path: string, where: object, body: string) {
  const made = await api.call("POST", comments, { token: member, body: { body, path, ...where } });
  expect(made.status).toBe(201);
  const apply = (options: Parameters<Api["call"]>[2] = {}) =>
    api.call("POST", `${comments}/${made.body.comment_id}/apply`, options);
  const show = (name = path) => remote.git("show", `${head}:${name}`);
  return { comment: made.body, apply, show, before: remote.sha(head) };
}

/** A change request that adds `file`, and a comment on its lines. */
async function setUp(file: Change, where: object, body: string, path = "a") {
  const proposed = await propose({ [path]: file });
  return { ...proposed, ...(await suggest(proposed, path, where, body)) };
}

const APPLIED: [
  what: string,
  file: string,
  where: Record<string, unknown>,
  suggestion: string,
  then: string,
][] = [
  ["one line by one", FILE, { line: 2 }, "2\n", "one\n2\nthree\nfour\n"],
  ["one line by two", FILE, { line: 2 }, "2\n2b\n", "one\n2\n2b\nthree\nfour\n"],
  ["one line by none", FILE, { line: 2 }, "", "one\nthree\nfour\n"],
  ["one line by an empty one", FILE, { line: 2 }, "\n", "one\n\nthree\nfour\n"],
  ["several lines by one", FILE, { start_line: 2, line: 3 }, "x\n", "one\nx\nfour\n"],
  ["the first line", FILE, { line: 1 }, "1\n", "1\ntwo\nthree\nfour\n"],
  ["the last line", FILE, { line: 4 }, "4\n", "one\ntwo\nthree\n4\n"],
  ["a last line without its end", "one\ntwo", { line: 2 }, "2\n3\n", "one\n2\n3"],
  ["lines that end as on Windows", "one\r\ntwo\r\n", { line: 2 }, "2\n3\n", "one\r\n2\r\n3\r\n"],
  ["the only line, by none", "one\n", { line: 1 }, "", ""],
  ["text that is not ASCII", "ä\nö\n", { line: 2 }, "ü€\n", "ä\nü€\n"],
];

let withAll: Promise<Proposed> | undefined;

test.each(sample(5, APPLIED))("a suggestion replaces %s", async (path, _, where, suggestion, then) => {
  // one change request, with a file for each
  withAll ??= propose(Object.fromEntries(APPLIED.map(([path, file]) => [path, file])));
  const proposed = await withAll;
  const { head, cr } = proposed;
  const { comment, apply, show, before } = await suggest(proposed, path, where, block(suggestion));
  const applied = await apply({ body: { head_commit_sha: before } });
  expect(applied.status).toBe(200);
  const commit = remote.sha(head);
  expect(applied.body).toMatchObject({
    commit_sha: commit,
    comment: { comment_id: comment.comment_id, resolved_at: expect.any(String) },
  });
  expect(show()).toBe(then);
  expect(remote.git("diff", "--name-only", before, commit)).toBe(`${path}\n`);
  const shown = await api.call("GET", `${project}/change-requests/${cr.number}`);
  expect(shown.body.change_request.head_commit_sha).toBe(commit);
});

test("the commit is the person's who applies it, with who suggested it, on top of the head", async () => {
  const { head, cr, apply, before } = await setUp(FILE, { line: 2 }, block("2\n"));
  await apply();
  const format = "--format=%P%n%an <%ae>%n%cn <%ce>%n%B";
  const [parent, author, committer, ...message] = remote.git("log", "-1", format, head).trim().split("\n");
  const { name, email } = (await api.call("GET", "/v1/accounts/me")).body;
  expect([parent, author, committer]).toEqual([before, `${name} <${email}>`, `${name} <${email}>`]);
  expect(message).toEqual([
    `Apply a suggestion to a (#${cr.number})`,
    "",
    "Co-authored-by: second <second@example.com>",
  ]);
  // one's own needs no co-author
  const own = await setUp(FILE, { line: 2 }, block("2\n"));
  await own.apply({ token: member });
  expect(remote.git("log", "-1", "--format=%B", own.head).trim()).toBe(
    `Apply a suggestion to a (#${own.cr.number})`,
  );
});

test("the rest of the file keeps every byte, and the file its mode", async () => {
  const bytes = Uint8Array.of(0xff, 0, 10, 0x61, 10, 0xfe, 13, 10);
  const { head, apply } = await setUp({ executable: bytes } as Change, { line: 2 }, block("b\n"));
  expect((await apply()).status).toBe(200);
  const raw = Bun.spawnSync(["git", "-C", remote.path, "show", `${head}:a`]).stdout;
  expect([...raw]).toEqual([0xff, 0, 10, 0x62, 10, 0xfe, 13, 10]);
  expect(remote.git("ls-tree", head, "a")).toStartWith("100755");
});

test("a suggestion in a reply is for the lines of its thread", async () => {
  const { comments, comment, show } = await setUp(FILE, { line: 2 }, "Why?");
  const reply = { body: block("2\n"), reply_to: comment.comment_id };
  const { body } = await api.call("POST", comments, { body: reply });
  const applied = await api.call("POST", `${comments}/${body.comment_id}/apply`);
  expect(applied.body.comment).toMatchObject({
    comment_id: comment.comment_id,
    resolved_at: expect.any(String),
  });
  expect(show()).toBe("one\n2\nthree\nfour\n");
});

const MOVED: [what: string, files: Record<string, Change>, path: string, then: string][] = [
  ["moved", { a: `zero\n${FILE}` }, "a", "zero\none\nx\nfour\n"],
  ["moved to another file", { a: null, "b c": FILE }, "b c", "one\nx\nfour\n"],
];

test.each(MOVED)("lines that have %s are replaced where they are", async (_, files, path, then) => {
  const { head, apply, show } = await setUp(FILE, { start_line: 2, line: 3 }, block("x\n"));
  remote.commit(head, files);
  expect((await apply()).status).toBe(200);
  expect(show(path)).toBe(then);
});

const OUTDATED: [what: string, change: (file: string) => Change][] = [
  ["one changed", (file) => file.replace("three", "3")],
  ["one went", (file) => file.replace(/three.*\n/, "")],
  ["one came between them", (file) => file.replace(/(two.*\n)/, "$1x\n")],
  ["one went and one came", (file) => file.replace(/three.*\n/, "x\n")],
  ["all are gone", () => "x\n"],
  ["the file is gone", () => null],
];

test(`lines are not replaced of which ${OUTDATED.map(([what]) => what).join(", ")}`, async () => {
  // one change request with a file for each, whose lines are in no other
  const fileOf = (what: string) => FILE.replaceAll("\n", ` of ${what}\n`);
  const proposed = await propose(Object.fromEntries(OUTDATED.map(([what]) => [what, fileOf(what)])));
  const { head, comments } = proposed;
  const made: Awaited<ReturnType<typeof suggest>>[] = [];
  for (const [what] of OUTDATED)
    made.push(await suggest(proposed, what, { start_line: 2, line: 3 }, block("x\n")));
  const pushed = remote.commit(
    head,
    Object.fromEntries(OUTDATED.map(([what, change]) => [what, change(fileOf(what))])),
  );
  for (const [at, [what]] of OUTDATED.entries()) {
    const refused = await made[at]?.apply();
    expect([what, refused?.status, refused?.body.code]).toEqual([what, 409, "suggestion_outdated"]);
  }
  expect(remote.sha(head)).toBe(pushed);
  const shown: { resolved_at: string | null }[] = (await api.call("GET", comments)).body.comments;
  expect(shown.map(({ resolved_at }) => resolved_at)).toEqual(OUTDATED.map(() => null));
});

test("a head that was not reviewed is not added to", async () => {
  const { head, apply, before } = await setUp(FILE, { line: 2 }, block("x\n"));
  const pushed = remote.commit(head, { other: "1\n" });
  const refused = await apply({ body: { head_commit_sha: before } });
  expect(refused.body).toMatchObject({ code: "head_moved", head_commit_sha: pushed, expected: before });
  expect(remote.sha(head)).toBe(pushed);
});

test("twice, it is applied once", async () => {
  const { head, apply } = await setUp(FILE, { line: 2 }, block("x\n"));
  // within a second both are the same commit
  const both = await Promise.all([apply(), apply()]);
  for (const { status } of both) expect([200, 409]).toContain(status);
  expect(remote.git("rev-list", "--count", `main..${head}`).trim()).toBe("2");
});

test("only people apply suggestions, to open change requests and branches that are not protected", async () => {
  const { apply, cr } = await setUp(FILE, { line: 2 }, block("x\n"));
  const agent = await bench.agent();
  expect((await apply({ token: agent })).body.code).toBe("forbidden");
  await api.call("POST", `${project}/change-requests/${cr.number}/close`);
  expect((await apply()).body.code).toBe("not_open");
  await api.call("POST", `${project}/change-requests/${cr.number}/reopen`);
  bench.rule(`svc_version = 1\n[branches]\nprotected = ["${cr.head_ref}"]\n`);
  await api.call("GET", `${project}/change-requests/${cr.number}`);
  expect((await apply()).body.code).toBe("forbidden");
});

const REFUSED: [what: string, where: Record<string, unknown>, body: string][] = [
  ["no suggestion", { line: 2 }, "Why?"],
  ["two suggestions", { line: 2 }, `${block("1\n")}\n${block("2\n")}`],
  ["no lines", {}, block("1\n")],
];

test(`a comment is not applied with ${REFUSED.map(([what]) => what).join(", ")}`, async () => {
  const proposed = await propose({ a: FILE });
  for (const [what, where, body] of REFUSED) {
    const { apply } = await suggest(proposed, "a", where, body);
    expect([what, (await apply()).body.code]).toEqual([what, "validation_failed"]);
  }
});

test("a comment on lines before the change is not applied", async () => {
  remote.commit("main", { old: FILE });
  const { apply } = await setUp("other\n", { line: 2, side: "old" }, block("1\n"), "old");
  expect((await apply()).body.code).toBe("validation_failed");
});

test("a host that refuses the push leaves the thread open", async () => {
  const { apply, comments, head, before } = await setUp(FILE, { line: 2 }, block("x\n"));
  remote.hook("pre-receive", 'echo "no pushes today" >&2; exit 1');
  const refused = await apply();
  remote.hook("pre-receive", "exit 0");
  expect(refused.body).toMatchObject({
    code: "push_rejected",
    error: expect.stringContaining("no pushes today"),
  });
  expect(remote.sha(head)).toBe(before);
  expect((await api.call("GET", comments)).body.comments[0].resolved_at).toBeNull();
});

/** A change request that adds files, and a comment of `member` for each suggestion. */
async function setUpBatch(
  files: Record<string, Change>,
  suggestions: [path: string, where: Record<string, unknown>, text: string][],
) {
  const proposed = await propose(files);
  const { head, comments } = proposed;
  const ids: string[] = [];
  for (const [path, where, text] of suggestions)
    ids.push((await suggest(proposed, path, where, block(text))).comment.comment_id);
  const apply = (body: Record<string, unknown> = {}) =>
    api.call("POST", `${comments}/apply`, { body: { comment_ids: ids, ...body } });
  const open = async () => (await api.call("GET", `${comments}?open=true`)).body.comments.length;
  return {
    ...proposed,
    ids,
    apply,
    open,
    show: (path: string) => remote.git("show", `${head}:${path}`),
  };
}

test("several suggestions, of one file and of others, are one commit with their authors", async () => {
  const batch = await setUpBatch({ a: FILE, "b/c": "x\r\ny" }, [
    ["a", { line: 4 }, "4\n"],
    ["a", { line: 1 }, "1\n1b\n"],
    ["a", { start_line: 2, line: 3 }, ""],
    ["b/c", { line: 2 }, "z\n"],
  ]);
  const before = remote.sha(batch.head);
  const applied = await batch.apply({ head_commit_sha: before });
  expect(applied.status).toBe(200);
  expect(applied.body.commit_sha).toBe(remote.sha(batch.head));
  expect(applied.body.comments.map(({ comment_id }: { comment_id: string }) => comment_id)).toEqual(
    batch.ids,
  );
  expect([batch.show("a"), batch.show("b/c")]).toEqual(["1\n1b\n4\n", "x\r\nz"]);
  expect(await batch.open()).toBe(0);
  expect(remote.git("log", "-1", "--format=%P%n%B", batch.head).trim().split("\n")).toEqual([
    before,
    `Apply 4 suggestions (#${batch.cr.number})`,
    "",
    "Co-authored-by: second <second@example.com>",
  ]);
  const timeline = await api.call("GET", `${batch.at}/${batch.cr.number}/timeline`);
  const events = timeline.body.events.filter(
    ({ event }: { event: string }) => event === "suggestion_applied",
  );
  expect(events.map(({ comment_id }: { comment_id: string }) => comment_id)).toEqual(batch.ids);
});

test("the message of several suggestions is the caller's, and an id that is given twice counts once", async () => {
  const batch = await setUpBatch({ a: FILE }, [["a", { line: 1 }, "1\n"]]);
  const [id = ""] = batch.ids;
  const ids = { comment_ids: [id, id.toUpperCase()] };
  expect((await batch.apply({ ...ids, message: "x\0" })).body.code).toBe("validation_failed");
  expect((await batch.apply({ ...ids, message: "Count\n\nFrom one.\n" })).status).toBe(200);
  expect(remote.git("log", "-1", "--format=%B", batch.head).trim()).toBe(
    "Count\n\nFrom one.\n\nCo-authored-by: second <second@example.com>",
  );
});

type Batch = Parameters<typeof setUpBatch>[1];
const REFUSED_BATCHES: [
  what: string,
  suggestions: Batch,
  pushed: string | null,
  named: number[],
  code: string,
][] = [
  [
    "two for one line",
    [
      ["a", { line: 2 }, "2\n"],
      ["a", { line: 2 }, "x\n"],
    ],
    null,
    [0, 1],
    "validation_failed",
  ],
  [
    "lines that overlap",
    [
      ["a", { start_line: 2, line: 3 }, "2\n"],
      ["a", { line: 1 }, "1\n"],
      ["a", { start_line: 3, line: 4 }, "x\n"],
    ],
    null,
    [0, 2],
    "validation_failed",
  ],
  [
    "one that is outdated",
    [
      ["a", { line: 1 }, "1\n"],
      ["a", { line: 3 }, "3\n"],
    ],
    FILE.replace("three", "drei"),
    [1],
    "suggestion_outdated",
  ],
];

test.each(REFUSED_BATCHES)(
  "of several suggestions with %s, none is applied",
  async (_, given, pushed, named, code) => {
    const batch = await setUpBatch({ a: FILE }, given);
    if (pushed !== null) remote.commit(batch.head, { a: pushed });
    const before = remote.sha(batch.head);
    const refused = await batch.apply();
    expect(refused.body.code).toBe(code);
    for (const [at, id] of batch.ids.entries())
      expect([id, refused.body.error.includes(id)]).toEqual([id, named.includes(at)]);
    expect(remote.sha(batch.head)).toBe(before);
    expect(await batch.open()).toBe(given.length);
  },
);

test("of several suggestions on a head that was not reviewed, none is applied", async () => {
  const batch = await setUpBatch({ a: FILE }, [
    ["a", { line: 1 }, "1\n"],
    ["a", { line: 2 }, "2\n"],
  ]);
  const seen = remote.sha(batch.head);
  const pushed = remote.commit(batch.head, { other: "1\n" });
  expect((await batch.apply({ head_commit_sha: seen })).body).toMatchObject({
    code: "head_moved",
    expected: seen,
  });
  expect(remote.sha(batch.head)).toBe(pushed);
});
