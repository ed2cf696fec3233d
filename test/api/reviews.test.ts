import { afterAll, beforeAll, expect } from "bun:test";
import type { Comment } from "../../src/contract/comment.ts";
import { COMMENTS_MAX, REVIEW_COMMENTS_MAX } from "../../src/contract/limits.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let bob: string;
let agent: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  bob = await bench.member("bob@example.com");
  agent = await bench.agent();
});
afterAll(() => bench?.stop());

interface Cr {
  number: number;
  head_ref: string;
  head_commit_sha: string;
}
const at = (cr: Cr, rest = "") => `/change-requests/${cr.number}${rest}`;
const review = (cr: Cr, body: object, token = bob) => bench.call("POST", at(cr, "/reviews"), { token, body });
const get = async (cr: Cr) => (await bench.call("GET", at(cr))).body.change_request;
const list = async (cr: Cr): Promise<Comment[]> =>
  (await bench.call("GET", at(cr, "/comments"))).body.comments;

/** A change request of a file with three lines. */
async function open(): Promise<Cr> {
  const cr = await bench.open();
  bench.remote.commit(cr.head_ref, { "a.ts": "one\ntwo\nthree\n" });
  return await get(cr);
}

const COMMENTS = [
  { path: "a.ts", line: 3, start_line: 2, body: "Both." },
  { path: "a.ts", body: "The file." },
];

test("a review records verdict, summary and comments together, each as it would be alone", async () => {
  const rows = [
    ["APPROVE", "Nice.", ["Nice.", "Both.", "The file."], ["approved", null]],
    ["APPROVE", " ", ["Both.", "The file."], ["approved", null]],
    ["REQUEST_CHANGES", "Shorter.", ["Both.", "The file."], ["changes_requested", "Shorter."]],
    ["COMMENT", "Hm.", ["Hm.", "Both.", "The file."], null],
    ["COMMENT", undefined, ["Both.", "The file."], null],
  ] as const;
  for (const [event, body, said, verdict] of rows) {
    const cr = await open();
    const wanted = { event, body, commit_id: cr.head_commit_sha, comments: COMMENTS };
    const { status, body: done } = await review(cr, wanted);
    expect([event, status]).toEqual([event, 201]);
    const comments = await list(cr);
    expect(comments.map((each) => each.body)).toEqual([...said]);
    expect(done.comments).toEqual(comments);
    expect(comments.at(-2)).toMatchObject({
      ...{ path: "a.ts", start_line: 2, line: 3, side: "new", quote: "two\nthree", outdated: false },
      ...{ head_commit_sha: cr.head_commit_sha, author: { name: "bob", kind: "user" } },
    });
    const { approvals } = await get(cr);
    expect(done.change_request.approvals).toEqual(approvals);
    expect(approvals.map((each: { state: string; body: string }) => [each.state, each.body])).toEqual(
      verdict ? [[...verdict]] : [],
    );
  }
});

test("a review that is refused in part records nothing", async () => {
  const cr = await open();
  const other = await open();
  const [good] = COMMENTS;
  const rows: [wanted: object, code: string, token?: string][] = [
    [{ event: "COMMENT" }, "validation_failed"],
    [{ event: "COMMENT", body: " \n" }, "validation_failed"],
    [{ event: "REQUEST_CHANGES", comments: COMMENTS }, "validation_failed"],
    [{ event: "APPROVE", comments: [good, { path: "a.ts", line: 4, body: "x" }] }, "validation_failed"],
    [{ event: "APPROVE", comments: [good, { path: "b.ts", body: "x" }] }, "validation_failed"],
    [{ event: "APPROVE", comments: [good, { path: "a.ts", body: " " }] }, "validation_failed"],
    [{ event: "APPROVE", comments: [good, { body: "x" }] }, "validation_failed"],
    [{ event: "APPROVE", comments: Array(REVIEW_COMMENTS_MAX + 1).fill(good) }, "validation_failed"],
    [{ event: "COMMENT", comments: COMMENTS, commit_id: other.head_commit_sha }, "not_found"],
    [{ event: "APPROVE", comments: COMMENTS, commit_id: other.head_commit_sha }, "head_moved"],
    [{ event: "APPROVE", comments: COMMENTS }, "forbidden", bench.api.token],
    [{ event: "APPROVE", comments: COMMENTS }, "forbidden", agent],
    [{ event: "REQUEST_CHANGES", body: "b", comments: COMMENTS }, "forbidden", agent],
  ];
  for (const [wanted, code, token] of rows)
    expect([wanted, (await review(cr, wanted, token)).body.code]).toEqual([wanted, code]);
  expect([await list(cr), (await get(cr)).approvals]).toEqual([[], []]);
  // an agent may comment
  expect((await review(cr, { event: "COMMENT", comments: COMMENTS }, agent)).status).toBe(201);
  expect((await list(cr)).map(({ author }) => author.kind)).toEqual(["token", "token"]);
  await bench.call("POST", at(cr, "/close"));
  expect((await review(cr, { event: "APPROVE", comments: COMMENTS })).body.code).toBe("not_open");
  expect((await review(cr, { event: "COMMENT", comments: COMMENTS })).status).toBe(201);
  expect((await list(cr)).length).toBe(4);
});

test("comments stay on the commit that they were written on when the head moves meanwhile", async () => {
  const cr = await open();
  const commit_id = cr.head_commit_sha;
  const moved = bench.remote.commit(cr.head_ref, { "a.ts": "zero\none\ntwo\nthree\n" });
  const heads = async () => (await bench.call("GET", at(cr, "/heads"))).body.heads.length;
  const before = await heads();
  const wanted = { commit_id, comments: [COMMENTS[0], { ...COMMENTS[0], body: "Now.", commit_id: moved }] };
  expect((await review(cr, { event: "APPROVE", ...wanted })).body.code).toBe("head_moved");
  const earlier = { event: "COMMENT", commit_id, comments: [{ ...COMMENTS[0], body: "Alone." }] };
  expect((await review(cr, earlier)).status).toBe(201);
  expect((await review(cr, { event: "COMMENT", ...wanted })).status).toBe(201);
  const places = (await list(cr)).map((each) => [
    ...[each.head_commit_sha, each.original_start_line, each.original_line],
    ...[each.start_line, each.line, each.quote],
  ]);
  expect(places).toEqual([
    [commit_id, 2, 3, 3, 4, "two\nthree"],
    [commit_id, 2, 3, 3, 4, "two\nthree"],
    [moved, 2, 3, 2, 3, "one\ntwo"],
  ]);
  expect(await heads()).toBe(before);
});

test("the comments of a review count towards the limit of a change request", async () => {
  const cr = await open();
  const { sql } = bench;
  await sql`update change_requests set last_comment_number = ${COMMENTS_MAX - 2} where number = ${cr.number}`;
  const wanted = { event: "COMMENT", comments: COMMENTS };
  expect((await review(cr, { ...wanted, body: "One too many." })).body.code).toBe("too_many_comments");
  expect((await review(cr, wanted)).status).toBe(201);
  expect((await review(cr, wanted)).body.code).toBe("too_many_comments");
  expect((await list(cr)).length).toBe(2);
});
