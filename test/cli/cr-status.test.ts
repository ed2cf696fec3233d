import { afterAll, beforeEach, expect, test } from "bun:test";
import { approval, changeRequest, fakeApi, USER_ID } from "../helpers/cli-api.ts";
import { svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const BEN = "99999999-9999-4999-8999-999999999999";
const ofBen = (number: number, change = {}) =>
  changeRequest({ number, created_by: BEN, head_ref: "x", ...change });
const mine = changeRequest({ number: 3, title: "Mine\x1b[2J", head_ref: "mine" });
const merged = changeRequest({ number: 2, status: "merged" });

/** Files that wait for a code owner. */
const ownedBy = (user_id: string) => ({
  code_owner_reviews: {
    state: "missing" as const,
    missing: [{ line: 1, files: ["a"], total: 1, owners: [{ user_id, name: "o" }], problem: null }],
  },
});

/** The server's list, by the filters of the request. */
function has(...crs: ReturnType<typeof changeRequest>[]) {
  api.on("GET /projects/:p/change-requests", ({ query: { status, head_ref, created_by, limit } }) => ({
    change_requests: crs
      .filter((cr) => status === "all" || cr.status === status)
      .filter((cr) => head_ref === undefined || cr.head_ref === head_ref)
      .filter((cr) => created_by === undefined || cr.created_by !== BEN)
      .slice(0, Number(limit)),
  }));
}
const run = (branch: string, ...flags: string[]) =>
  svc(["cr", "status", ...flags], { env: { ...api.env, SVC_BRANCH_NAME: branch } });

test("shows that of the branch, mine, and those that wait for my approval", async () => {
  const counting = { ...approval(), user_id: BEN };
  has(
    mine,
    merged,
    ofBen(4),
    ofBen(5, { approvals: [approval()], required_approvals: 2 }),
    ofBen(6, { approvals: [counting], required_approvals: 1 }),
    // my approval is of an earlier commit
    ofBen(8, { approvals: [counting], required_approvals: 1, ...ownedBy(BEN) }),
    ofBen(9, { approvals: [counting], required_approvals: 1, ...ownedBy(USER_ID) }),
    ofBen(7, { approvals: [approval(false)], required_approvals: 1 }),
  );
  const ran = await run("fix-login");
  expect([ran.code, ran.stderr]).toEqual([0, "Next: svc cr show 4\n"]);
  const rows = ran.stdout.trimEnd().split("\n");
  expect(rows.map((row) => row.split("\t").slice(0, 3))).toEqual([
    ["branch", "2", "Fix the login page"],
    ["cr", "3", "Mine\\x1b[2J"],
    ["review", "4", "Fix the login page"],
    ["review", "9", "Fix the login page"],
    ["review", "7", "Fix the login page"],
  ]);
  expect(rows[3]).toContain("1 of 1 approval; waits for code owners");
  const json = JSON.parse((await run("mine", "--json")).stdout);
  const numbers = (list: { number: number }[]) => list.map(({ number }) => number);
  expect([json.branch, numbers(json.of_branch), numbers(json.created), numbers(json.to_review)]).toEqual([
    "mine",
    [3],
    [3],
    [4, 9, 7],
  ]);
});

test("says what is empty, and reads a bounded number", async () => {
  has(merged);
  const none = await run("other");
  expect([none.code, none.stdout]).toEqual([0, ""]);
  expect(none.stderr).toBe(
    "The branch other has no change request.\nYou have opened none that is still open.\nNone waits for your review.\n",
  );
  has(...Array.from({ length: 300 }, (_, at) => ofBen(at + 10)));
  const many = await run("other");
  expect(many.stdout.trimEnd().split("\n").length).toBe(200);
  expect(many.stderr).toContain("warning: Only the newest 200 open change requests were read");
});
