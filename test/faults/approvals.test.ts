import { afterAll, afterEach, beforeAll, expect } from "bun:test";
import type { ChangeRequest } from "../../src/contract/change-request.ts";
import type { MergeStep } from "../../src/deps.ts";
import type { Answer } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { generator, SEED, sample, share } from "../helpers/random.ts";
import { asks, mergePause, type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let bob: string;
const pause = mergePause();

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews({ deps: pause.deps });
  bob = await bench.member("bob@example.com");
});
afterAll(() => bench?.stop());
afterEach(() => pause.clear());

const approve = (cr: { number: number }) =>
  bench.call("POST", `/change-requests/${cr.number}/approve`, { token: bob });
const withdraw = (cr: { number: number }) =>
  bench.call("DELETE", `/change-requests/${cr.number}/approve`, { token: bob });
const request = (cr: { number: number }) =>
  bench.call("POST", `/change-requests/${cr.number}/request-changes`, { token: bob, body: { body: "Why?" } });
const mark = (cr: { number: number }, isDraft: boolean) =>
  bench.call("PATCH", `/change-requests/${cr.number}`, { body: { draft: isDraft } });
const draft = (cr: { number: number }) => mark(cr, true);
const merge = (cr: { number: number }) => bench.call("POST", `/change-requests/${cr.number}/merge`);

type Cr = Answer["body"];
const push = (cr: Cr) => bench.remote.commit(cr.head_ref, { [`later ${cr.number}`]: "2\n" });
const moveBase = () => bench.remote.commit("main", { [crypto.randomUUID()]: "1\n" });

/** What happens between two steps of a merge of an approved head, and what has to come of it. */
const rows: [
  step: MergeStep,
  what: string,
  act: (cr: Cr) => unknown,
  outcome: "merged" | "approval_required" | "changes_requested" | "draft",
][] = [
  ["commit-written", "the head goes on", push, "merged"],
  ["commit-written", "the approval is taken back", withdraw, "approval_required"],
  ["commit-written", "changes are requested", request, "changes_requested"],
  ["commit-written", "it becomes a draft", draft, "draft"],
  ["commit-written", "the base moves", moveBase, "merged"],
  ["commit-written", "the base brings a stricter rule", () => bench.rule(asks(2)), "approval_required"],
  ["intent-recorded", "the head goes on", push, "merged"],
  ["intent-recorded", "the approval is taken back, too late", withdraw, "merged"],
  ["intent-recorded", "changes are requested, too late", request, "merged"],
  ["intent-recorded", "it becomes a draft, too late", draft, "merged"],
  ["intent-recorded", "the base moves", moveBase, "merged"],
  [
    "intent-recorded",
    "the base moves, and changes are requested",
    async (cr) => {
      moveBase();
      await request(cr);
    },
    "changes_requested",
  ],
  ["intent-recorded", "the base brings a stricter rule", () => bench.rule(asks(2)), "approval_required"],
  [
    "intent-recorded",
    "the base moves, and the approval is taken back",
    async (cr) => {
      moveBase();
      await withdraw(cr);
    },
    "approval_required",
  ],
  [
    "intent-recorded",
    "the base moves, and so does the head",
    (cr) => {
      moveBase();
      push(cr);
    },
    "approval_required",
  ],
  [
    "intent-recorded",
    "the base moves, and so does the head, which is approved again",
    async (cr) => {
      moveBase();
      push(cr);
      await approve(cr);
    },
    "merged",
  ],
  ["pushed", "the approval is taken back, too late", withdraw, "merged"],
];

/** An outcome, of the first look at the approvals or of a later one: each run draws a row of each kind. */
const kindOf = ([step, , , outcome]: (typeof rows)[number]) =>
  outcome === "changes_requested" ? outcome : `${outcome} ${step === "commit-written"}`;
const drawn = [...new Set(rows.map(kindOf))].flatMap((kind) =>
  sample(
    1,
    rows.filter((row) => kindOf(row) === kind),
  ),
);

test.each(drawn)("at %s %s: only approved commits are merged", async (step, _, act, outcome) => {
  bench.rule(asks(1));
  const cr = await bench.open();
  // the merge cannot be a fast-forward, and so writes a commit of its own
  moveBase();
  const approved = new Set<string>();
  const note = (approvals: ChangeRequest["approvals"]) => {
    for (const { head_commit_sha } of approvals) approved.add(head_commit_sha);
  };
  note((await approve(cr)).body.approvals);
  pause.at(step, async () => {
    await act(cr);
    const { body } = await bench.call("GET", `/change-requests/${cr.number}`);
    note(body.change_request.approvals);
  });
  const answer = await merge(cr);
  expect(pause.isOver()).toBe(true);
  if (outcome === "merged") {
    expect([answer.status, answer.body.status]).toEqual([200, "merged"]);
    const [, second] = bench.remote.git("rev-parse", `${answer.body.merge_commit_sha}^@`).trim().split("\n");
    expect(second).toBe(answer.body.head_commit_sha);
    expect(approved.has(second ?? "")).toBe(true);
  } else {
    expect([answer.status, answer.body.code]).toEqual([409, outcome]);
    const merges = bench.remote.git("log", "--first-parent", "--format=%s", "main");
    expect(merges).not.toContain(`CR #${cr.number}:`);
    const now = (await bench.call("GET", `/change-requests/${cr.number}`)).body.change_request;
    expect(now.status).toBe("open");
    // and nothing stands in the way of the merge once it is ready and approved
    bench.rule(asks(1));
    await mark(now, false);
    await approve(cr);
    expect((await merge(cr)).status).toBe(200);
  }
});

test(`merges and a withdrawal at once: merged only if the approval was there (seed ${SEED})`, async () => {
  const draw = generator(SEED);
  for (let turn = 0; turn < share(2, 5); turn++) {
    bench.rule(asks(1));
    const cr = await bench.open();
    await approve(cr);
    const [gone, ...merges] = await Promise.all([
      Bun.sleep(draw(60)).then(() => withdraw(cr)),
      ...Array.from({ length: 4 }, () => merge(cr)),
    ]);
    const merged = merges.filter(({ status }) => status === 200);
    const refused = merges.filter(({ body }) => body.code === "approval_required");
    expect([200, 409]).toContain(gone.status);
    expect(merged.length === 1 || refused.length === merges.length).toBe(true);
    const { body } = await bench.call("GET", `/change-requests/${cr.number}`);
    expect(body.change_request.status).toBe(merged.length === 1 ? "merged" : "open");
  }
});
