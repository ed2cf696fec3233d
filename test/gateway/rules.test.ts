import { describe, expect, test } from "bun:test";
import { readPattern } from "../../src/edge/gateway/names.ts";
import type { Pusher } from "../../src/edge/gateway/pusher.ts";
import { judgePush } from "../../src/edge/gateway/rules.ts";
import type { UpdateKind } from "../../src/git/git.ts";

const SAVED = "refs/svc/saved/s";
const KINDS: readonly UpdateKind[] = ["create", "fast-forward", "rewrite", "delete"];
const PUSHERS = {
  owner: { kind: "user", id: "u", role: "owner" },
  admin: { kind: "user", id: "u", role: "admin" },
  member: { kind: "user", id: "u", role: "member" },
  script: { kind: "project", id: "t" },
  session: { kind: "session", id: "s", branch: "own" },
  saver: { kind: "saver", id: "s", branch: "own", ref: SAVED },
  reader: { kind: "reader", id: "s" },
} as const satisfies Record<string, Pusher>;
type Who = keyof typeof PUSHERS;

const MAIN = "refs/heads/main";
const OLD = "refs/heads/old";
const RELEASE = "refs/heads/release/1";
const FREE = "refs/heads/free";
const OWN = "refs/heads/own";
const TAG = "refs/tags/x";
const VERSION = "refs/tags/v1";

/** main is the default branch, old was it; release/* and the tags v* are protected. */
const judge = (who: Who, ref: string, kind: UpdateKind, directPush = true) =>
  judgePush(
    PUSHERS[who],
    {
      defaultBranch: "main",
      formerDefaultBranches: ["old"],
      rules: async () => ({
        branches: ["main", "old", "release/*"].map(readPattern),
        tags: ["v*"].map(readPattern),
        directPush,
      }),
    },
    { ref, kind },
  );

/** A word for each verdict: what its reason says. */
const VERDICTS = {
  "by-cr": "this branch is protected: it can be changed only by a change request",
  "by-cr-default": "the default branch can be changed only by a change request",
  closed: "protected branches of this project can be changed only by change requests",
  "default-stays": "the default branch cannot be deleted",
  stays: "this branch is protected, so it cannot be deleted",
  "default-grows": "the default branch cannot be rewritten",
  grows: "this branch is protected, so it cannot be rewritten",
  "agent-keeps": "an agent cannot delete branches",
  "agent-grows": "an agent cannot rewrite history",
  "own-only": "a session can push only its own branch",
  "no-tags": "a project token can push branches only",
  tag: "this tag is protected",
  svc: "these refs are reserved for svc",
  "no-ref": "only branches and tags can be pushed",
  queue: "branches that begin with svc-queue/ belong to the merge queue",
  saves: "this credential only saves the work of its session",
  reads: "this sandbox may only read the repository",
  twin: "the name looks like that of a protected branch",
  "twin-tag": "a tag cannot look like a protected branch",
  refs: "a name that begins with refs/ is ambiguous",
  yes: null,
} as const;
type Verdict = keyof typeof VERDICTS;
/** Of making it, adding to it, rewriting it and deleting it; one alone: of each of the four. */
type Verdicts = [Verdict] | [Verdict, Verdict, Verdict, Verdict];

const people = ["owner", "admin", "member"] as const;
const all = (...verdicts: Verdicts) => verdicts;
const YES = all("yes");

async function verdictsOf(who: Who, ref: string, directPush: boolean) {
  const refusals = await Promise.all(KINDS.map((kind) => judge(who, ref, kind, directPush)));
  return refusals.map((refusal) => refusal?.reason ?? null);
}
const reasonsOf = (verdicts: Verdicts) => KINDS.map((_, at) => VERDICTS[verdicts[at] ?? verdicts[0]]);

describe.each([true, false])("with direct pushes allowed: %p", (directPush) => {
  /** What a person may where `direct_push` is said, and else only what `else` says. */
  const push = directPush ? "yes" : "closed";
  test.each<[who: readonly Who[], ref: string, verdicts: Verdicts]>([
    [people, MAIN, ["yes", push, "default-grows", "default-stays"]],
    [["owner", "admin"], OLD, ["yes", push, "grows", "stays"]],
    [["owner", "admin"], RELEASE, ["yes", push, "grows", "stays"]],
    [["member"], OLD, [push, push, "grows", "stays"]],
    [["member"], RELEASE, [push, push, "grows", "stays"]],
    [["script", "session"], MAIN, ["by-cr-default"]],
    [["script", "session"], OLD, ["by-cr"]],
    [["script", "session"], RELEASE, ["by-cr"]],

    [people, FREE, YES],
    [people, OWN, YES],
    [people, "refs/heads/release/1/2", YES],
    [["script"], FREE, ["yes", "yes", "agent-grows", "agent-keeps"]],
    [["session"], OWN, ["yes", "yes", "agent-grows", "agent-keeps"]],
    [["session"], FREE, ["own-only"]],
    [["session"], "refs/tags/own", ["own-only"]],
    [["session"], "refs/heads/own/below", ["own-only"]],
    [["session"], "refs/heads/refs/heads/own", ["refs", "refs", "refs", "own-only"]],

    [people, TAG, YES],
    [["owner", "admin"], VERSION, YES],
    [["member"], VERSION, ["yes", "tag", "tag", "tag"]],
    [["script"], TAG, ["no-tags"]],
    [["script"], VERSION, ["no-tags"]],
    [["session"], VERSION, ["own-only"]],
    // a branch that is called as a protected tag is one as any other
    [people, "refs/heads/v1", YES],

    // what a person would take for a protected branch may be deleted, and nothing else
    [people, "refs/heads/MAIN", ["twin", "twin", "twin", "yes"]],
    [["script"], "refs/heads/MAIN", ["twin", "twin", "twin", "agent-keeps"]],
    [["session"], "refs/heads/MAIN", ["twin", "twin", "twin", "own-only"]],
    [people, "refs/heads/Release/1", ["twin", "twin", "twin", "yes"]],
    [people, "refs/tags/main", ["twin-tag", "twin-tag", "twin-tag", "yes"]],
    [people, "refs/tags/release/1", ["twin-tag", "twin-tag", "twin-tag", "yes"]],
    [people, "refs/heads/refs/x", ["refs", "refs", "refs", "yes"]],
    [people, "refs/tags/refs/heads/main", ["refs", "refs", "refs", "yes"]],
    [people, "refs/heads/x/refs/", YES],

    [[...people, "script", "session"], SAVED, ["svc"]],
    [[...people, "script", "session"], "refs/cr/1/head", ["svc"]],
    [[...people, "script", "session"], "refs/heads/svc-queue/main/1", ["queue"]],
    [people, "refs/heads/svc-queue", ["queue"]],
    [people, "refs/heads/svc-queues", YES],
    [people, "refs/tags/svc-queue/main/1", YES],
    [[...people, "script", "session"], "refs/notes/commits", ["no-ref"]],
    [[...people, "script", "session"], "refs/pull/refs/cr/1", ["no-ref"]],
    [[...people, "script", "session"], "refs/x/refs/heads/", ["no-ref"]],
    [[...people, "script", "session"], "refs/x/refs/tags/", ["no-ref"]],

    [["saver"], SAVED, YES],
    ...[OWN, FREE, MAIN, TAG, "refs/svc/saved/other", `${SAVED}/below`].map(
      (ref): [Who[], string, Verdicts] => [["saver"], ref, ["saves"]],
    ),
    ...[OWN, FREE, MAIN, TAG, SAVED].map((ref): [Who[], string, Verdicts] => [["reader"], ref, ["reads"]]),
  ])("%j push %s: %j", async (who, ref, verdicts) => {
    for (const one of who)
      expect([one, ...(await verdictsOf(one, ref, directPush))]).toEqual([one, ...reasonsOf(verdicts)]);
  });
});

test.each<[who: Who, ref: string, kind: UpdateKind, advice: string]>([
  ["session", MAIN, "fast-forward", "git push origin HEAD:own, then svc cr open --head own --base main"],
  [
    "script",
    RELEASE,
    "fast-forward",
    "git push origin HEAD:<branch>, then svc cr open --head <branch> --base release/1",
  ],
  [
    "member",
    MAIN,
    "fast-forward",
    "git push origin HEAD:<branch>, then svc cr open --head <branch> --base main",
  ],
  ["session", FREE, "create", "git push origin HEAD:own"],
  ["owner", MAIN, "delete", "Make another branch the default first"],
  ["owner", OLD, "delete", "svc api -X DELETE projects/<id>/protected/old"],
  ["owner", RELEASE, "delete", "Remove it from [branches] protected in svc.toml"],
  ["owner", "refs/heads/Release/1", "create", "release/* is a protected branch."],
  ["owner", "refs/heads/refs/heads/x", "create", "Push to refs/heads/x instead."],
  ["owner", "refs/heads/refs/refs/tags/x/refs/y", "create", "Push to refs/heads/x/refs/y instead."],
  ["owner", "refs/tags/refs/heads/x", "create", "Push to refs/tags/x instead."],
  ["owner", "refs/tags/refs/", "create", "Push to refs/tags/<name> instead."],
])("a rejected push has the next step: %s, %s, %s: %s", async (who, ref, kind, advice) => {
  expect((await judge(who, ref, kind, false))?.advice).toContain(advice);
});
