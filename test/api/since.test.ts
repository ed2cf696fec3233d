import { afterAll, beforeAll, expect } from "bun:test";
import type { Answer, Api } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import type { Remote } from "../helpers/remote.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let api: Api;
let remote: Remote;
let member: string;
let project: string;
let count = 0;

const BASE = "1\n2\n3\n4\n5\n6\n7\n8\n9\n";

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  ({ api, remote } = bench);
  project = `/v1/projects/${bench.project.project_id}`;
  member = await bench.member("second@example.com");
});
afterAll(() => bench?.stop());

/** A change request whose first head changes `a`. */
async function setUp() {
  const [base, head] = [`base-${++count}`, `work-${count}`];
  remote.commit(base, { a: BASE, other: "1\n" });
  const first = remote.commit(head, { a: BASE.replace("2", "two") }, { from: base });
  const at = `${project}/change-requests`;
  const { body: cr } = await api.call("POST", at, { body: { title: "t", head_ref: head, base_ref: base } });
  const path = `${at}/${cr.number}`;
  // a head that is replaced at once may be gone before it is kept
  await api.call("GET", `${path}/diff`);
  const since = async (wanted: string, token = api.token): Promise<Answer["body"]> =>
    (await api.call("GET", `${path}/diff?since=${wanted}`, { token })).body;
  /** The changed lines of a patch. */
  const lines = async (wanted: string, token = api.token): Promise<string[]> =>
    (await since(wanted, token)).patch.split("\n").filter((line: string) => /^[+-](?![+-])/.test(line));
  const heads = async (token = api.token): Promise<Answer["body"][]> =>
    (await api.call("GET", `${path}/heads`, { token })).body.heads;
  const approve = (token: string) => api.call("POST", `${path}/approve`, { token, body: {} });
  return { base, head, first, path, since, lines, heads, approve };
}

type Place = Awaited<ReturnType<typeof setUp>>;

const TWO = BASE.replace("2", "two");
/** The second version changes this too. */
const BOTH = TWO.replace("8", "eight");

/** How a second version comes about → what is new in it. */
const PUSHES: [what: string, push: (place: Place) => unknown, lines: string[]][] = [
  ["a commit on top", ({ head }) => remote.commit(head, { a: BOTH }), ["-8", "+eight"]],
  ["nothing", () => {}, []],
  [
    "another commit in its place",
    ({ head, base }) => {
      remote.branch(head, base);
      remote.commit(head, { a: BOTH });
    },
    ["-8", "+eight"],
  ],
  [
    "a rebase onto a newer base",
    ({ head, base }) => {
      remote.commit(base, { other: "2\n" });
      remote.branch(head, base);
      remote.commit(head, { a: TWO });
    },
    [],
  ],
  [
    "a rebase onto a newer base, and a change",
    ({ head, base }) => {
      remote.commit(base, { other: "2\n" });
      remote.branch(head, base);
      remote.commit(head, { a: BOTH });
    },
    ["-8", "+eight"],
  ],
  [
    "a merge of the base, and a change",
    ({ head, base }) => {
      const newer = remote.commit(base, { other: "2\n" });
      remote.commit(head, { a: TWO, other: "2\n" }, { merge: [newer] });
      remote.commit(head, { a: BOTH });
    },
    ["-8", "+eight"],
  ],
  [
    "a rebase onto a base that conflicts",
    ({ head, base }) => {
      remote.commit(base, { a: BASE.replace("2", "zwei") });
      remote.branch(head, base);
      remote.commit(head, { a: BASE.replace("2", "deux") });
    },
    ["-two", "+deux"],
  ],
  ["the change is taken back", ({ head, base }) => remote.branch(head, base), ["-two", "+2"]],
];

test.each(sample(4, PUSHES))("what is new since a head, after %s", async (_, push, lines) => {
  const place = await setUp();
  await push(place);
  expect(await place.lines("1")).toEqual(lines);
  expect(await place.lines(place.first)).toEqual(lines);
  expect(await place.since(place.first.toUpperCase())).toMatchObject({
    head_sha: remote.sha(place.head),
    since: { number: 1, commit_sha: place.first },
  });
});

test("the newest head of a commit counts when a branch goes back and forth", async () => {
  const { head, first, since, heads } = await setUp();
  remote.commit(head, { a: BOTH });
  await heads();
  remote.branch(head, first);
  await heads();
  remote.commit(head, { a: BOTH.replace("9", "nine") });
  expect((await heads()).map(({ number }) => number)).toEqual([4, 3, 2, 1]);
  expect((await since(first)).since).toEqual({ number: 3, commit_sha: first });
});

test("what is new since a review is of the last approval or comment on a file, of the caller alone", async () => {
  const { head, first, lines, since, heads, path, approve } = await setUp();
  const unreviewed = await since("review", member);
  expect([unreviewed.code, unreviewed.error]).toEqual(["not_found", expect.stringContaining("not reviewed")]);
  expect((await approve(member)).status).toBe(200);
  expect(await lines("review", member)).toEqual([]);
  const second = remote.commit(head, { a: BOTH });
  expect(await lines("review", member)).toEqual(["-8", "+eight"]);
  expect((await since("review")).code).toBe("not_found");
  const reviewed = async (token: string) =>
    (await heads(token)).filter((row) => row.reviewed).map((row) => row.commit_sha);
  expect([await reviewed(member), await reviewed(api.token)]).toEqual([[first], []]);
  const say = (body: object) =>
    api.call("POST", `${path}/comments`, { token: member, body: { body: "b", ...body } });
  await say({});
  expect(await reviewed(member)).toEqual([first]);
  await say({ path: "a", line: 2 });
  expect(await reviewed(member)).toEqual([second]);
  expect(await lines("review", member)).toEqual([]);
  remote.commit(head, { a: BOTH.replace("9", "nine") });
  expect(await lines("review", member)).toEqual(["-9", "+nine"]);
  // an older approval does not hide a newer comment
  await approve(member);
  expect(await lines("review", member)).toEqual([]);
});

test("the review of a person's agent is not the person's", async () => {
  const { path, since } = await setUp();
  const agent = await bench.agent();
  const comment = { body: "b", path: "a", line: 2 };
  expect((await api.call("POST", `${path}/comments`, { token: agent, body: comment })).status).toBe(201);
  expect((await since("review")).code).toBe("not_found");
  expect((await since("review", agent)).code).toBe("not_found");
});

const REFUSED: [what: string, since: string, code: string][] = [
  ["a head that it did not have", "9", "not_found"],
  ["a commit that it did not have", "1".repeat(40), "not_found"],
  ["a branch", "main", "validation_failed"],
  ["an option", "--output=x", "validation_failed"],
  ["a part of a commit", "abcdef1", "validation_failed"],
  ["nothing", "", "validation_failed"],
];

test(`${REFUSED.map(([what]) => what).join(", ")} is refused`, async () => {
  const { since } = await setUp();
  for (const [what, wanted, code] of REFUSED)
    expect([what, (await since(encodeURIComponent(wanted))).code]).toEqual([what, code]);
});

test("a base commit of the change request is no head", async () => {
  const { base, since } = await setUp();
  expect((await since(remote.sha(base))).code).toBe("not_found");
});

test("heads are listed in pages", async () => {
  const { head, path, heads } = await setUp();
  remote.commit(head, { a: BOTH });
  await heads();
  const { body } = await api.call("GET", `${path}/heads?limit=1`);
  expect(body.heads.map((row: Answer["body"]) => row.number)).toEqual([2]);
  const next = await api.call("GET", `${path}/heads?limit=1&cursor=${body.next_cursor}`);
  expect(next.body).toEqual({
    heads: [expect.objectContaining({ number: 1, commit_sha: expect.any(String) })],
  });
});

test("the plain patch can begin at a head, too", async () => {
  const { head, path } = await setUp();
  remote.commit(head, { a: BOTH });
  const { text } = await api.call("GET", `${path}/diff?since=1`, { headers: { Accept: "text/x-diff" } });
  expect(text).toContain("+eight\n");
  expect(text).not.toContain("+two\n");
});
