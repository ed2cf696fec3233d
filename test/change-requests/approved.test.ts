import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { changeRequestApprovals, changeRequests } from "../../db/schema/index.ts";
import { approvalsOf, counts, requireApprovals } from "../../src/features/change-requests/approved.ts";
import { type AccountRows, openAccountRows, there } from "../helpers/account-rows.ts";

type Approver = "opener" | "bob" | "cleo" | "gone";
const [HEAD, OLD] = ["b".repeat(40), "a".repeat(40)];
const STALE = " Approvals of an earlier commit do not count.";
const OWN = " The approval of the person who opened it, or for whom an agent opened it, does not count.";

let rows: AccountRows;
let users: Record<Approver, string>;
let row: typeof changeRequests.$inferSelect;
let other: typeof changeRequests.$inferSelect;

beforeAll(async () => {
  rows = await openAccountRows();
  const [opener, bob] = [await rows.user("opener"), await rows.user("bob")];
  const [cleo, gone] = [await rows.user("cleo"), await rows.user("gone")];
  users = { opener, bob, cleo, gone };
  const accountId = await rows.account("a", { [opener]: "owner", [bob]: "member", [cleo]: "member" });
  // of another account one is a member who has left this one
  await rows.account("b", { [gone]: "owner" });
  const projectId = await rows.project(accountId, "p");
  const open = async (number: number) => {
    const refs = { baseRef: "main", headRef: "work", title: "t" };
    const values = { accountId, projectId, number, createdBy: opener, ...refs };
    return there((await rows.deps.db.insert(changeRequests).values(values).returning())[0]);
  };
  [row, other] = [await open(7), await open(8)];
  // a third has no approvals
  await open(9);
});
afterAll(() => rows.database.close());
beforeEach(async () => {
  await rows.deps.db.delete(changeRequestApprovals);
});

async function approve(
  { crId }: typeof row,
  who: Approver,
  headCommitSha: string,
  body: string | null = null,
): Promise<void> {
  rows.pass(1000);
  const state = body === null ? ("approved" as const) : ("changes_requested" as const);
  const values = { crId, userId: users[who], headCommitSha, state, body, createdAt: rows.now() };
  await rows.deps.db.insert(changeRequestApprovals).values(values);
}

test.each<[required: number, self: boolean, given: [Approver, string][], lacks: [number, string] | null]>([
  [0, false, [], null],
  [1, false, [], [0, ""]],
  [2, false, [], [0, ""]],
  [1, false, [["bob", HEAD]], null],
  [2, false, [["bob", HEAD]], [1, ""]],
  [
    2,
    false,
    [
      ["bob", HEAD],
      ["cleo", HEAD],
    ],
    null,
  ],
  [
    1,
    false,
    [
      ["bob", HEAD],
      ["cleo", HEAD],
    ],
    null,
  ],
  [1, false, [["bob", OLD]], [0, STALE]],
  [
    2,
    false,
    [
      ["bob", HEAD],
      ["cleo", OLD],
    ],
    [1, STALE],
  ],
  [1, false, [["opener", HEAD]], [0, OWN]],
  [
    2,
    false,
    [
      ["bob", HEAD],
      ["opener", HEAD],
    ],
    [1, OWN],
  ],
  [1, false, [["opener", OLD]], [0, STALE + OWN]],
  [1, true, [["opener", HEAD]], null],
  [2, true, [["opener", HEAD]], [1, ""]],
  [
    2,
    true,
    [
      ["opener", OLD],
      ["bob", HEAD],
    ],
    [1, STALE],
  ],
  [1, false, [["gone", HEAD]], [0, ""]],
  [
    2,
    false,
    [
      ["gone", HEAD],
      ["bob", HEAD],
    ],
    [1, ""],
  ],
])(
  "%d approvals required (self_approval: %p), given %j: missing %j",
  async (requiredApprovals, selfApproval, given, lacks) => {
    for (const [who, head] of given) await approve(row, who, head);
    // of another change request they say nothing
    await approve(other, "bob", HEAD);
    const asked = requireApprovals(rows.deps.db, row, HEAD, { requiredApprovals, selfApproval });
    if (lacks === null) return await asked;
    const [approvals, why] = lacks;
    const needs = `${requiredApprovals} ${requiredApprovals === 1 ? "approval" : "approvals"}`;
    await expect(asked).rejects.toMatchObject({
      code: "approval_required",
      message: `Change request #7 needs ${needs} of its last commit and has ${approvals}.${why} To approve it, run: svc cr approve 7`,
      extra: { required: requiredApprovals, approvals },
    });
  },
);

test.each<[required: number, requests: [Approver, string][], by: string | null]>([
  [0, [], null],
  [0, [["bob", HEAD]], "bob"],
  [0, [["bob", OLD]], "bob"],
  [1, [["bob", OLD]], "bob"],
  [0, [["gone", HEAD]], null],
  [0, [["opener", HEAD]], "opener"],
  [
    0,
    [
      ["bob", HEAD],
      ["gone", HEAD],
      ["opener", OLD],
    ],
    "bob, opener",
  ],
])(
  "%d approvals required and given by another, changes requested by %j: blocked by %p",
  async (requiredApprovals, requests, by) => {
    await approve(row, "cleo", HEAD);
    for (const [who, head] of requests) await approve(row, who, head, "Why?");
    // of another change request it blocks nothing
    await approve(other, "bob", HEAD, "Why?");
    const asked = requireApprovals(rows.deps.db, row, HEAD, { requiredApprovals, selfApproval: false });
    if (by === null) return await asked;
    await expect(asked).rejects.toMatchObject({
      code: "changes_requested",
      message: expect.stringContaining(`changes were requested by ${by}. It`),
      extra: { by: by.split(", ").map((name) => expect.objectContaining({ name })) },
    });
  },
);

test("a request for changes is no approval", async () => {
  const said = { userId: users.bob, headCommitSha: HEAD };
  const rule = { selfApproval: false };
  expect(counts({ ...said, state: "approved" }, row, HEAD, rule)).toBe(true);
  expect(counts({ ...said, state: "changes_requested" }, row, HEAD, rule)).toBe(false);
});

test("approvals are listed for each requested change request, oldest first", async () => {
  await approve(row, "cleo", OLD);
  await approve(other, "bob", HEAD);
  await approve(row, "bob", HEAD);
  const of = async (...asked: (typeof row)[]) =>
    (
      await approvalsOf(
        rows.deps.db,
        asked.map(({ crId }) => crId),
      )
    ).map(({ crId, name, headCommitSha }) => [crId === row.crId ? "row" : "other", name, headCommitSha]);
  const [first, second, third] = [
    ["row", "cleo", OLD],
    ["other", "bob", HEAD],
    ["row", "bob", HEAD],
  ];
  expect(await of()).toEqual([]);
  expect(await of(row)).toEqual([first, third]);
  expect(await of(row, other)).toEqual([first, second, third]);
});
