import { afterAll, beforeAll, expect } from "bun:test";
import { REVIEW_MAX_BYTES } from "../../src/contract/limits.ts";
import { followEvents } from "../helpers/event-stream.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { asks, type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let owner: string;
let bob: string;
let cleo: string;
let agent: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  owner = bench.api.token;
  bob = await bench.member("bob@example.com");
  cleo = await bench.member("cleo@example.com");
  agent = await bench.agent();
});
afterAll(() => bench?.stop());

interface Cr {
  number: number;
  head_ref: string;
}
const at = (cr: Cr, rest = "") => `/change-requests/${cr.number}${rest}`;
const request = (cr: Cr, token = bob, body: object = { body: "Why?" }) =>
  bench.call("POST", at(cr, "/request-changes"), { token, body });
const withdraw = (cr: Cr, token = bob) => bench.call("DELETE", at(cr, "/request-changes"), { token });
const approve = (cr: Cr, token = bob) => bench.call("POST", at(cr, "/approve"), { token });
const merge = (cr: Cr) => bench.call("POST", at(cr, "/merge"));
const get = async (cr: Cr) => (await bench.call("GET", at(cr))).body.change_request;
const dismiss = async (cr: Cr, token = owner) => {
  const [one] = (await get(cr)).approvals;
  return await bench.call("DELETE", at(cr, `/request-changes/${one?.user_id ?? crypto.randomUUID()}`), {
    token,
  });
};

test("a request records the person, the head and the text, and is part of the change request", async () => {
  const cr = await bench.open();
  const stream = await followEvents(bench.api.url, bench.api.token, bench.project.project_id);
  const requested = await request(cr);
  expect([requested.status, requested.body.approvals]).toEqual([
    200,
    [
      {
        user_id: expect.any(String),
        name: expect.any(String),
        author: expect.objectContaining({ kind: "user", session_id: null }),
        head_commit_sha: bench.remote.sha(cr.head_ref),
        state: "changes_requested",
        body: "Why?",
        created_at: expect.any(String),
        counts: false,
      },
    ],
  ]);
  const { body: list } = await bench.call("GET", "/change-requests");
  expect(list.change_requests[0].approvals).toEqual(requested.body.approvals);
  // a person has one review: the last
  expect((await request(cr, bob, { body: "And how?" })).body.approvals).toMatchObject([{ body: "And how?" }]);
  expect((await request(cr, cleo)).body.approvals.length).toBe(2);
  for (let times = 0; times < 2; times++)
    expect((await withdraw(cr, cleo)).body.approvals).toMatchObject([{ body: "And how?" }]);
  expect((await approve(cr)).body.approvals).toMatchObject([{ state: "approved", body: null, counts: true }]);
  // there is none to withdraw, and the approval is not one
  expect((await withdraw(cr)).body.approvals).toMatchObject([{ state: "approved" }]);
  expect((await request(cr)).body.approvals).toMatchObject([{ state: "changes_requested" }]);
  expect((await bench.call("DELETE", at(cr, "/approve"), { token: bob })).body.approvals).toHaveLength(1);
  expect((await dismiss(cr)).body.approvals).toEqual([]);
  await request(cr);
  await stream.waitFor("the last", () => reviewEvents().length === 8);
  expect(reviewEvents().join(" ")).toBe("created created created deleted created created deleted created");
  await stream.close();

  function reviewEvents() {
    return stream.events().flatMap(({ type, action }) => (type === "approval" ? [action] : []));
  }
});

/** What follows a request of a change request whose project requires no approval, and whether it can then be merged. */
const rows: [what: string, act: (cr: Cr) => unknown, outcome: "merged" | "changes_requested"][] = [
  ["nothing", () => {}, "changes_requested"],
  ["a push", (cr) => bench.remote.commit(cr.head_ref, { more: "2\n" }), "changes_requested"],
  ["an approval by another person", (cr) => approve(cr, cleo), "changes_requested"],
  ["a withdrawal by another person, who has none", (cr) => withdraw(cr, cleo), "changes_requested"],
  ["a member's dismissal", (cr) => dismiss(cr, cleo), "changes_requested"],
  [
    "the dismissal of another's",
    (cr) => bench.call("DELETE", at(cr, `/request-changes/${crypto.randomUUID()}`)),
    "changes_requested",
  ],
  [
    "it is closed and reopened",
    async (cr) => {
      await bench.call("POST", at(cr, "/close"));
      await bench.call("POST", at(cr, "/reopen"));
    },
    "changes_requested",
  ],
  ["another base", (cr) => rebase(cr), "changes_requested"],
  ["its withdrawal", (cr) => withdraw(cr), "merged"],
  ["an approval by its author", (cr) => approve(cr), "merged"],
  ["its dismissal", (cr) => dismiss(cr), "merged"],
  ["its author leaves, and returns", (cr) => whileAway(cr), "changes_requested"],
];

test.each(rows)("after a request for changes and %s", async (_, act, outcome) => {
  const cr = await bench.open();
  expect((await request(cr)).status).toBe(200);
  await act(cr);
  const answer = await merge(cr);
  expect(answer.body.code ?? answer.body.status).toBe(outcome);
  if (outcome === "merged") return;
  expect(answer.status).toBe(409);
  expect(answer.body.by).toEqual([{ user_id: expect.any(String), name: "bob" }]);
  expect(answer.body.error).toContain(" by bob.");
});

async function rebase(cr: Cr): Promise<void> {
  bench.remote.branch("other-base", "main");
  const moved = await bench.call("PATCH", at(cr), { body: { base_ref: "other-base" } });
  expect(moved.body.approvals).toMatchObject([{ state: "changes_requested" }]);
}

/** The request of a person who has left the account blocks nothing. */
async function whileAway(cr: Cr): Promise<void> {
  await bench.leave("bob@example.com");
  expect((await get(cr)).approvals).toEqual([]);
  bob = await bench.member("bob@example.com");
}

test("only those who may approve may request changes, and only owners and admins dismiss", async () => {
  const stranger = await bench.api.mint("stranger@example.com");
  const openers: [opener: string, by: string, status: number, says?: string][] = [
    [owner, owner, 403, "You opened this change request"],
    [owner, bob, 200],
    [bob, owner, 200],
    [bob, agent, 403, "Only people"],
    [agent, owner, 403, "An agent opened this change request on your behalf"],
    [agent, agent, 403, "Only people"],
    [bob, stranger, 403],
  ];
  for (const [opener, by, status, says = ""] of openers) {
    const cr = await bench.open(opener);
    const answer = await request(cr, by);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(says)]);
    if (by === agent) {
      expect((await withdraw(cr, agent)).status).toBe(403);
      expect((await dismiss(cr, agent)).status).toBe(403);
      expect((await merge(cr)).status).toBe(200);
    }
  }
  bench.rule(`${asks(0)}self_approval = true\n`);
  const own = await bench.open();
  expect((await request(own, owner)).status).toBe(200);
  expect((await merge(own)).body.code).toBe("changes_requested");
  bench.rule(asks(0));
  const cr = await bench.open();
  await request(cr);
  const dismissed = await dismiss(cr, bob);
  expect([dismissed.status, (await get(cr)).approvals.length]).toEqual([403, 1]);
  const unnamed = await bench.call("DELETE", at(cr, "/request-changes/bob"));
  expect(unnamed.status).toBe(400);
});

test("a request needs a text, the current head and an open change request", async () => {
  const cr = await bench.open();
  const seen = bench.remote.sha(cr.head_ref);
  for (const body of [
    {},
    { body: "" },
    { body: " \n" },
    { body: "a\0" },
    { body: "x".repeat(REVIEW_MAX_BYTES + 1) },
  ])
    expect((await request(cr, bob, body)).status).toBe(400);
  expect((await request(cr, bob, { body: "x".repeat(REVIEW_MAX_BYTES) })).status).toBe(200);
  await withdraw(cr);
  bench.remote.commit(cr.head_ref, { more: "2\n" });
  const late = await request(cr, bob, { body: "Why?", head_commit_sha: seen });
  expect(late).toMatchObject({ status: 409, body: { code: "head_moved", expected: seen } });
  expect((await get(cr)).approvals).toEqual([]);
  await bench.call("POST", at(cr, "/close"));
  for (const answer of [await request(cr), await withdraw(cr), await dismiss(cr)])
    expect(answer.body.code).toBe("not_open");
});
