import { expect, test } from "bun:test";
import { nextSteps } from "../../cli/commands/cr/next-steps.ts";
import type { ChangeRequest, MergePreview } from "../../src/contract/change-request.ts";
import { approval, CLEAN, changeRequest, changesRequested } from "../helpers/cli-api.ts";

const CONFLICTS = { ...CLEAN, can_merge: false, conflicts: ["a"] };
const checks = (
  state: ChangeRequest["checks"]["state"],
  change: Partial<ChangeRequest["checks"]> = {},
): Partial<ChangeRequest> => ({
  checks: { state, total: 2, passed: 1, failed: 0, pending: 0, required: [], ...change },
});
const owners = (
  state: NonNullable<ChangeRequest["code_owner_reviews"]>["state"],
): Partial<ChangeRequest> => ({ code_owner_reviews: { state, missing: [] } });
const required = (state: "success" | "failure" | "pending" | null) => [{ context: "test", state }];

const ROWS: [
  name: string,
  cr: Partial<ChangeRequest>,
  known: { preview?: MergePreview | null; openThreads?: number; isAgent?: boolean },
  steps: string[],
][] = [
  ["nothing prevents it", {}, {}, ["diff 3", "merge 3"]],
  ["an agent does not merge", {}, { isAgent: true }, ["diff 3"]],
  [
    "open threads do not prevent it",
    {},
    { openThreads: 2 },
    ["diff 3", "comments 3 --open  2 open threads", "merge 3"],
  ],
  [
    "threads of a merged one",
    { status: "merged" },
    { preview: null, openThreads: 1 },
    ["comments 3 --open  1 open thread"],
  ],
  [
    "a merged one",
    { status: "merged", required_approvals: 1, ...checks("failure", { failed: 1 }) },
    { preview: null },
    [],
  ],
  ["nothing to merge", {}, { preview: { ...CLEAN, is_up_to_date: true } }, []],
  ["no preview", {}, { preview: null }, []],
  ["conflicts", {}, { preview: CONFLICTS }, ["resolve-conflicts 3  its agent resolves them"]],
  ["conflicts, as an agent", {}, { preview: CONFLICTS, isAgent: true }, []],
  ["unrelated histories", {}, { preview: { ...CONFLICTS, merge_base: null } }, []],
  [
    "an approval is missing",
    { required_approvals: 2, approvals: [approval()] },
    {},
    ["diff 3", "approve 3  needs 1 more approval"],
  ],
  [
    "an approval of an earlier commit",
    { required_approvals: 1, approvals: [approval(false)] },
    {},
    ["diff 3", "approve 3  needs 1 more approval"],
  ],
  [
    "a code owner has not approved it",
    owners("missing"),
    {},
    ["diff 3", "approve 3  needs the approval of a code owner"],
  ],
  [
    "an approval and a code owner are missing",
    { required_approvals: 1, ...owners("missing") },
    {},
    ["diff 3", "approve 3  needs 1 more approval"],
  ],
  ["an agent is no code owner", owners("missing"), { isAgent: true }, ["diff 3"]],
  [
    "code owners are not known yet",
    owners("pending"),
    {},
    ["diff 3", "show 3  its code owners are being read"],
  ],
  ["code owners have approved it", owners("approved"), {}, ["diff 3", "merge 3"]],
  ["more than enough approvals", { approvals: [approval()] }, {}, ["diff 3", "merge 3"]],
  [
    "requested changes",
    { approvals: [changesRequested()] },
    {},
    ["diff 3", "send 3  1 reviewer requested changes"],
  ],
  ["a draft", { draft: true }, {}, ["diff 3", "ready 3  it is a draft"]],
  ["a draft, as an agent", { draft: true }, { isAgent: true }, ["diff 3"]],
  ["an agent does not approve", { required_approvals: 1 }, { isAgent: true }, ["diff 3"]],
  [
    "checks passed",
    checks("success", { passed: 2, required: required("success") }),
    {},
    ["diff 3", "merge 3"],
  ],
  [
    "one failed that is not required",
    checks("failure", { failed: 1 }),
    {},
    ["diff 3", "checks 3  1 of 2 passed, 1 failed", "merge 3"],
  ],
  [
    "a required one failed",
    checks("failure", { failed: 1, required: required("failure") }),
    {},
    ["diff 3", "checks 3  1 of 2 passed, 1 failed"],
  ],
  [
    "a required one is pending",
    checks("pending", { pending: 1, required: required("pending") }),
    {},
    ["diff 3", "checks 3 --watch  1 of 2 passed, 1 pending"],
  ],
  [
    "a required one is not reported",
    checks("pending", { required: required(null) }),
    {},
    ["diff 3", "checks 3 --watch  1 of 3 passed, 1 required not reported"],
  ],
];

test.each(ROWS)("%s", (_, change, { preview = CLEAN, openThreads = 0, isAgent = false }, steps) => {
  const text = nextSteps(changeRequest(change), { preview, openThreads, isAgent });
  const lines = text.split("\n").filter((line) => line !== "");
  expect(lines.map((line) => line.replace(/^(Next: |\s+)svc cr /, "").replace(/ {2,}/, "  "))).toEqual(steps);
});

test("the commands are below each other, and so are the reasons", () => {
  const cr = changeRequest({ required_approvals: 1 });
  expect(nextSteps(cr, { preview: CLEAN, openThreads: 1, isAgent: false })).toBe(
    [
      "Next: svc cr diff 3",
      "      svc cr comments 3 --open  1 open thread",
      "      svc cr approve 3          needs 1 more approval",
    ].join("\n"),
  );
});
