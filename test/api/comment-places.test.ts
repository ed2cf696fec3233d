import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rename } from "node:fs/promises";
import type { Comment } from "../../src/contract/comment.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { sample } from "../helpers/random.ts";
import { type Change, Remote } from "../helpers/remote.ts";

let api: Api;
let remote: Remote;
let project: string;
let count = 0;

const OLD = "one\ntwo\nthree\nfour\nfive\n";
const NEW = "one\nTWO\nTHREE\nfour\nfive\nsix\n";

beforeAll(async () => {
  api = await startApi();
  remote = new Remote();
  project = `/v1/projects/${(await api.project(remote.url)).project_id}`;
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

/** A change request of its own branches, with a comment. */
async function commented(where: Record<string, unknown>) {
  const [base, head] = [`base-${++count}`, `work-${count}`];
  remote.commit(base, { a: OLD, b: "1\n" });
  remote.commit(head, { a: NEW, b: "2\n" }, { from: base });
  const at = `${project}/change-requests`;
  const { body: cr } = await api.call("POST", at, { body: { title: "t", head_ref: head, base_ref: base } });
  const path = `${at}/${cr.number}`;
  const made = await api.call("POST", `${path}/comments`, { body: { body: "b", ...where } });
  expect(made.status).toBe(201);
  const push = (files: Record<string, Change>, branch = head) => remote.commit(branch, files);
  const read = async (): Promise<Comment> => (await api.call("GET", `${path}/comments`)).body.comments[0];
  const act = (verb: string, body = {}) => api.call("POST", `${path}/${verb}`, { body });
  return { base, head, made: made.body as Comment, path, push, read, act };
}

const at = (line: number, start: number | null = null, path = "a") => ({
  path,
  line,
  start_line: start,
  outdated: false,
});
const gone = { path: "a", line: null, start_line: null, outdated: true };

type Place = Awaited<ReturnType<typeof commented>>;

const ON_LINE: [what: string, push: (place: Place) => unknown, then: object][] = [
  ["nothing is pushed", () => {}, at(2)],
  ["lines are added above", ({ push }) => push({ a: `x\ny\n${NEW}` }), at(4)],
  ["another file changes", ({ push }) => push({ b: "3\n" }), at(2)],
  ["the line changes", ({ push }) => push({ a: NEW.replace("TWO", "2") }), gone],
  ["the file is deleted", ({ push }) => push({ a: null }), gone],
  ["the file is renamed", ({ push }) => push({ a: null, "c/d": NEW }), at(2, null, "c/d")],
  [
    "the branch is written anew on another commit",
    ({ push, head, base }) => {
      remote.commit(base, { b: "base\n" });
      remote.branch(head, base);
      push({ a: `x\n${NEW}` });
    },
    at(3),
  ],
  [
    "the line is gone in one commit and back in the next",
    async ({ push, read }) => {
      push({ a: OLD });
      expect(await read()).toMatchObject(gone);
      push({ a: NEW });
    },
    at(2),
  ],
  [
    "it moves twice",
    async ({ push, read }) => {
      push({ a: `x\n${NEW}` });
      expect(await read()).toMatchObject(at(3));
      push({ a: `x\ny\n${NEW}` });
    },
    at(4),
  ],
  ["it is merged", ({ act }) => act("merge"), at(2)],
  [
    "it is closed, and the branch goes on",
    async ({ act, push }) => {
      await act("close");
      push({ a: `x\n${NEW}` });
    },
    at(2),
  ],
  [
    "lines are added above, and then the branch is deleted",
    async ({ push, read, head }) => {
      push({ a: `x\n${NEW}` });
      await read();
      remote.deleteBranch(head);
    },
    at(3),
  ],
];

test.each(sample(5, ON_LINE))("a comment on a line, when %s", async (_, push, then) => {
  const place = await commented({ path: "a", line: 2 });
  await push(place);
  expect(await place.read()).toEqual({ ...place.made, ...then });
});

const ON_LINES: [what: string, after: string, then: object][] = [
  ["move", `x\n${NEW}`, at(5, 3)],
  ["lose the first", NEW.replace("TWO\n", ""), at(3, 2)],
  ["lose the last", NEW.replace("four\n", ""), at(3, 2)],
  ["get one between them", NEW.replace("THREE\n", "THREE\nx\n"), at(5, 2)],
  ["lose all but one", NEW.replace("TWO\nTHREE\n", ""), at(2)],
  ["are all gone", NEW.replace("TWO\nTHREE\nfour\n", ""), gone],
];

test.each(sample(3, ON_LINES))("a comment on several lines, when they %s", async (_, after, then) => {
  const place = await commented({ path: "a", start_line: 2, line: 4 });
  expect(place.made).toMatchObject({ ...at(4, 2), quote: "TWO\nTHREE\nfour" });
  place.push({ a: after });
  const original = { original_line: 4, original_start_line: 2, original_path: "a" };
  expect(await place.read()).toEqual({ ...place.made, ...original, ...then });
});

test("a comment on a line before the change follows the base, not the head", async () => {
  const { push, read, base, head } = await commented({ path: "a", line: 3, side: "old" });
  push({ a: `x\n${NEW}` });
  expect(await read()).toMatchObject(at(3));
  // the base alone changes nothing: the diff still begins where the branch left it
  const moved = remote.commit(base, { a: `x\ny\n${OLD}` });
  expect(await read()).toMatchObject(at(3));
  remote.commit(head, { a: `x\ny\n${NEW}` }, { merge: [moved] });
  expect(await read()).toMatchObject(at(5));
});

describe("the lines of a comment", () => {
  const refused: [what: string, where: object][] = [
    ["in the wrong order", { path: "a", start_line: 3, line: 2 }],
    ["without an end", { path: "a", start_line: 3 }],
    ["past the end", { path: "a", start_line: 3, line: 7 }],
    ["too many", { path: "a", start_line: 1, line: 501 }],
    ["from 0", { path: "a", start_line: 0, line: 2 }],
    ["without a file", { start_line: 1, line: 2 }],
  ];
  test.each(refused)("%s are refused", async (_, where) => {
    const { path } = await commented({});
    expect((await api.call("POST", `${path}/comments`, { body: { body: "b", ...where } })).status).toBe(400);
  });

  test("from a line to itself are one line", async () => {
    const { made } = await commented({ path: "a", start_line: 2, line: 2 });
    expect(made).toMatchObject({ ...at(2), quote: "TWO" });
  });

  test("are not given again in a reply", async () => {
    const { made, path } = await commented({ path: "a", line: 2 });
    const reply = { body: "b", reply_to: made.comment_id, start_line: 1 };
    expect((await api.call("POST", `${path}/comments`, { body: reply })).status).toBe(400);
  });
});

test("while the repository does not respond, a comment is where it was last", async () => {
  const { push, read, made, path } = await commented({ path: "a", line: 2 });
  push({ a: `x\n${NEW}` });
  expect(await read()).toMatchObject(at(3));
  push({ a: `x\ny\n${NEW}` });
  await rename(remote.path, `${remote.path}.away`);
  const last = await read();
  await rename(`${remote.path}.away`, remote.path);
  expect(last).toEqual({ ...made, ...at(3) });
  expect(await read()).toMatchObject(at(4));
  const resolved = await api.call("POST", `${path}/comments/${made.comment_id}/resolve`);
  expect(resolved.body).toMatchObject({ ...at(4), resolved_by: expect.any(String) });
});

test("the first reply takes the place of a deleted comment", async () => {
  const { push, read, made, path } = await commented({ path: "a", start_line: 2, line: 3 });
  push({ a: `x\n${NEW}` });
  expect(await read()).toMatchObject(at(4, 3));
  await api.call("POST", `${path}/comments`, { body: { body: "r", reply_to: made.comment_id } });
  await api.call("DELETE", `${path}/comments/${made.comment_id}`);
  expect(await read()).toMatchObject({ ...at(4, 3), body: "r", original_line: 3, quote: "TWO\nTHREE" });
});

test("what an agent gets names the lines where they are, and says which are gone", async () => {
  const { push, path } = await commented({ path: "a", start_line: 2, line: 3 });
  await api.call("POST", `${path}/comments`, { body: { body: "b", path: "a", line: 6 } });
  push({ a: `x\n${NEW.replace("six", "6")}` });
  const { text } = (await api.call("GET", `${path}/brief`)).body;
  expect(text).toContain('on "a", lines 3 to 4 after the change:\n');
  expect(text).toContain('on "a", line 6 of an earlier commit, changed since:\n');
});
