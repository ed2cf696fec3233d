import { afterAll, beforeAll, expect } from "bun:test";
import { followEvents } from "../helpers/event-stream.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { asks, type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let bob: string;
let cleo: string;
let agent: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  bob = await bench.member("bob@example.com");
  cleo = await bench.member("cleo@example.com");
  agent = await bench.agent();
});
afterAll(() => bench?.stop());

const act = (cr: { number: number }, verb: string, token = bench.api.token, body?: unknown) =>
  bench.call("POST", `/change-requests/${cr.number}/${verb}`, { token, ...(body !== undefined && { body }) });
const withdraw = (cr: { number: number }, token: string) =>
  bench.call("DELETE", `/change-requests/${cr.number}/approve`, { token });
const get = async (cr: { number: number }) =>
  (await bench.call("GET", `/change-requests/${cr.number}`)).body.change_request;

test("the list has those of the caller, also those that their agents have opened", async () => {
  const [mine, theirs, ofAgent] = [await bench.open(), await bench.open(bob), await bench.open(agent)];
  const listed = async (token: string, more = "") => {
    const { body } = await bench.call("GET", `/change-requests?created_by=me${more}`, { token });
    return body.change_requests.map(({ number }: { number: number }) => number);
  };
  expect(await listed(bench.api.token)).toEqual([ofAgent.number, mine.number]);
  expect(await listed(agent)).toEqual([ofAgent.number, mine.number]);
  expect(await listed(bob)).toEqual([theirs.number]);
  expect(await listed(bob, "&status=closed")).toEqual([]);
  const others = await bench.call("GET", `/change-requests?created_by=${mine.created_by}`);
  expect(others.status).toBe(400);
});

test("an approval records the person and the head, and is part of the change request", async () => {
  bench.rule(asks(0));
  const cr = await bench.open();
  const approved = await act(cr, "approve", bob);
  expect(approved.status).toBe(200);
  expect(approved.body.approvals).toEqual([
    {
      user_id: expect.any(String),
      name: expect.any(String),
      author: expect.objectContaining({ kind: "user", session_id: null }),
      head_commit_sha: bench.remote.sha(cr.head_ref),
      state: "approved",
      body: null,
      created_at: expect.any(String),
      counts: true,
    },
  ]);
  expect((await get(cr)).approvals).toEqual(approved.body.approvals);
  const { body: list } = await bench.call("GET", "/change-requests");
  expect(list.change_requests[0].approvals).toEqual(approved.body.approvals);
  // again, it is the same one
  expect((await act(cr, "approve", bob)).body.approvals.length).toBe(1);
  expect((await act(cr, "approve", cleo)).body.approvals.length).toBe(2);
  // each takes back their own, once
  const [, second] = (await get(cr)).approvals;
  const stream = await followEvents(bench.api.url, bench.api.token, bench.project.project_id);
  for (let times = 0; times < 3; times++) expect((await withdraw(cr, bob)).body.approvals).toEqual([second]);
  await act(cr, "approve", bob);
  await stream.waitFor("the last", ({ type, action }) => type === "approval" && action === "created");
  const events = stream.events().filter(({ type }) => type === "approval");
  expect(events).toMatchObject([
    { number: cr.number, action: "deleted" },
    { number: cr.number, action: "created" },
  ]);
  await stream.close();
});

test("an approval does not count for later commits, and requires the current head", async () => {
  const cr = await bench.open();
  const seen = bench.remote.sha(cr.head_ref);
  await act(cr, "approve", bob, { head_commit_sha: seen });
  bench.remote.commit(cr.head_ref, { more: "2\n" });
  expect((await get(cr)).approvals).toMatchObject([{ head_commit_sha: seen, counts: false }]);
  const late = await act(cr, "approve", bob, { head_commit_sha: seen });
  expect(late).toMatchObject({
    status: 409,
    body: { code: "head_moved", head_commit_sha: bench.remote.sha(cr.head_ref), expected: seen },
  });
  const now = bench.remote.sha(cr.head_ref).toUpperCase();
  const again = await act(cr, "approve", bob, { head_commit_sha: now });
  expect(again.body.approvals).toMatchObject([{ counts: true }]);
  for (const bad of ["main", "", "a".repeat(39)])
    expect((await act(cr, "approve", bob, { head_commit_sha: bad })).status).toBe(400);
});

test("authorizes who approves", async () => {
  const stranger = await bench.api.mint("stranger@example.com");
  const rows: [opener: string, approver: string, status: number, says?: string][] = [
    [bench.api.token, bench.api.token, 403, "You opened this change request"],
    [bench.api.token, bob, 200],
    [bob, bench.api.token, 200],
    [bob, bob, 403, "You opened this change request"],
    [bob, agent, 403, "Only people approve"],
    [agent, bench.api.token, 403, "An agent opened this change request on your behalf"],
    [agent, bob, 200],
    [agent, agent, 403, "Only people approve"],
    [bob, stranger, 403],
  ];
  for (const [opener, approver, status, says = ""] of rows) {
    const cr = await bench.open(opener);
    const answer = await act(cr, "approve", approver);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(says)]);
    if (approver === agent) expect((await withdraw(cr, agent)).status).toBe(403);
  }
  bench.rule(`${asks(1)}self_approval = true\n`);
  for (const opener of [bench.api.token, agent]) {
    const own = await bench.open(opener);
    expect((await act(own, "approve")).body.approvals).toMatchObject([{ counts: true }]);
    expect((await act(own, "merge")).status).toBe(200);
  }
  // one that was given while it counted counts no longer
  const given = await bench.open(agent);
  expect((await act(given, "approve")).status).toBe(200);
  bench.rule(asks(1));
  expect((await get(given)).approvals).toMatchObject([{ counts: false }]);
  expect((await act(given, "merge")).body).toMatchObject({ code: "approval_required", approvals: 0 });
  bench.rule(asks(0));
  const closed = await bench.open();
  await act(closed, "close");
  expect((await act(closed, "approve", bob)).body.code).toBe("not_open");
  expect((await withdraw(closed, bob)).body.code).toBe("not_open");
});

test("a merge needs as many approvals of its head as the default branch requires", async () => {
  bench.rule(asks(2));
  const cr = await bench.open();
  expect((await get(cr)).required_approvals).toBe(2);
  const refused = await act(cr, "merge");
  expect(refused).toMatchObject({
    status: 409,
    body: { code: "approval_required", required: 2, approvals: 0 },
  });
  await act(cr, "approve", bob);
  expect((await act(cr, "merge", agent)).body).toMatchObject({ code: "approval_required", approvals: 1 });
  await act(cr, "approve", cleo);
  bench.remote.commit(cr.head_ref, { more: "2\n" });
  const stale = await act(cr, "merge");
  expect(stale.body).toMatchObject({ code: "approval_required", approvals: 0 });
  expect(stale.body.error).toContain("Approvals of an earlier commit do not count.");
  await act(cr, "approve", bob);
  await act(cr, "approve", cleo);
  // who has left has no say any more
  await bench.leave("cleo@example.com");
  expect((await act(cr, "merge")).body).toMatchObject({ code: "approval_required", approvals: 1 });
  cleo = await bench.member("cleo@example.com");
  const merged = await act(cr, "merge");
  expect([merged.status, merged.body.required_approvals, merged.body.approvals.length]).toEqual([200, 2, 2]);
  // the head cannot take the rule away
  const sly = await bench.open();
  bench.remote.commit(sly.head_ref, { "svc.toml": asks(0) });
  expect((await act(sly, "merge")).body.code).toBe("approval_required");
});

test("another base removes the approvals, which were of another diff", async () => {
  bench.rule(asks(1));
  const cr = await bench.open();
  await act(cr, "approve", bob);
  bench.remote.branch("other-base", "main");
  const edit = (body: unknown) => bench.call("PATCH", `/change-requests/${cr.number}`, { body });
  expect((await edit({ base_ref: "main" })).body.approvals).toMatchObject([{ counts: true }]);
  expect((await edit({ base_ref: "other-base" })).body).toMatchObject({
    base_ref: "other-base",
    approvals: [],
  });
  expect((await act(cr, "merge")).body.code).toBe("approval_required");
});

test("an invalid manifest does not change the rule", async () => {
  const rows: [what: string, manifest: string | null, required: number][] = [
    ["a rule", asks(1), 1],
    ["no TOML any more", "[change_requests", 1],
    ["another rule", asks(2), 2],
    ["an invalid number", asks('"two"'), 2],
    ["a negative number", asks(-1), 2],
    ["a table that is none", 'svc_version = 1\nchange_requests = "none"\n', 2],
    ["a manifest that is too large", `${asks(0)}#${"x".repeat(300_000)}\n`, 2],
    ["an error elsewhere", `${asks(1)}agent_merge = 3\n`, 1],
    ["the rule removed", "svc_version = 1\n", 0],
    ["no TOML any more, without a rule before", "[change_requests", 0],
    ["an invalid rule, without an earlier one", asks('"two"'), 1],
  ];
  for (const [what, manifest, required] of rows) {
    bench.rule(manifest ?? "");
    const cr = await bench.open();
    const merge = await act(cr, "merge");
    const found = merge.status === 200 ? 0 : merge.body.required;
    expect([what, found, (await get(cr)).required_approvals]).toEqual([what, required, required]);
  }
});
