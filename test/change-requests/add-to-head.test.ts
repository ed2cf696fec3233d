import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { SvcError } from "../../src/contract/errors.ts";
import { pushHead } from "../../src/features/change-requests/add-to-head.ts";
import type { PushOutcome, PushRequest } from "../../src/git/git.ts";
import { createKeys } from "../../src/keys.ts";

const [FROM, TO, OTHER] = ["a", "b", "c"].map((digit) => digit.repeat(40)) as [string, string, string];
const MOVED: PushOutcome = { outcome: "moved" };
const STALE: PushOutcome = { outcome: "stale" };
const REJECTED: PushOutcome = { outcome: "rejected", reason: "protected branch" };
const UNKNOWN: PushOutcome = { outcome: "unknown", reason: "The host said nothing." };

/** @param tip the branch afterwards; null: it is gone @returns the error's code, or "done" */
async function push(outcome: PushOutcome, tip: string | null) {
  const asked: PushRequest[] = [];
  const project = { projectId: "p", mirrorId: "m", repoUrl: "https://git.example/r", gitCredential: null };
  const git = {
    push: async (_: unknown, request: PushRequest) => {
      asked.push(request);
      return outcome;
    },
    listBranches: async () => ({
      tips: new Map(tip ? [["work", tip]] : []),
      head: null,
      symbolic: new Map(),
    }),
  };
  const deps = { keys: createKeys(randomBytes(32)), git };
  const error: unknown = await pushHead(deps, project, { headRef: "work" }, { from: FROM, to: TO }).catch(
    (caught: unknown) => caught,
  );
  expect(asked).toEqual([{ branch: "work", from: FROM, to: TO }]);
  if (error === undefined) return { code: "done" };
  if (!(error instanceof SvcError)) throw error;
  return error;
}

// a host may move the branch and lose its answer, or say "stale" to a push that it has carried out already
test.each<[answer: PushOutcome, tip: string | null, then: string]>([
  [MOVED, TO, "done"],
  [MOVED, FROM, "done"],
  [MOVED, OTHER, "done"],
  [REJECTED, FROM, "push_rejected"],
  [REJECTED, OTHER, "push_rejected"],
  [STALE, TO, "done"],
  [STALE, FROM, "head_moved"],
  [STALE, OTHER, "head_moved"],
  [STALE, null, "branch_missing"],
  [UNKNOWN, TO, "done"],
  [UNKNOWN, FROM, "repo_unreachable"],
  [UNKNOWN, OTHER, "repo_unreachable"],
  [UNKNOWN, null, "repo_unreachable"],
])("a push that the host answers with %p, after which the branch is at %p: %s", async (answer, tip, then) => {
  expect((await push(answer, tip)).code).toBe(then);
});

test("the errors say what the host said, and where the branch is now", async () => {
  expect(await push(REJECTED, FROM)).toMatchObject({ message: expect.stringContaining("protected branch") });
  expect(await push(STALE, OTHER)).toMatchObject({ extra: { head_commit_sha: OTHER, expected: FROM } });
});
