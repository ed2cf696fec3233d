import { spec } from "../spec.ts";
import { DESCRIPTION } from "./cr-description.ts";
import { CR } from "./cr-id.ts";
import { CR_FIELDS, MERGE_FIELDS } from "./fields.ts";

export const merge = spec({
  path: ["cr", "merge"],
  summary: "Merge an open change request",
  about: [
    "A project allows some of four methods, the first by default: a merge commit (--merge, which fast-forwards if the base branch has not moved), one commit (--squash), the commits on top of the base branch (--rebase), or a fast-forward and nothing else (--ff-only). If there are conflicts, nothing is merged; they are listed with the steps to resolve them. The head commit to merge is printed first; if another one is pushed in the meantime, nothing is merged.",
    "With --auto, svc merges that commit as you, when checks and approvals allow it, also when this command has ended. A push, a draft, another base, closing it, a conflict, and the end of your right to merge turn it off; `svc cr show` says why. --json then prints the change request as it is now, without `merge`.",
    "In a project with a merge queue, the change request is put into the queue of its base branch, and merged once the required checks of the merged result have passed. --json then prints the change request with its `queue`, without `merge`. With --watch the command waits until it is merged, and exits with status 1 if it leaves the queue in another way.",
  ],
  args: [CR],
  flags: {
    "match-head": {
      kind: "string",
      value: "sha",
      summary: "The full id of the head commit that you have reviewed; any other is refused",
    },
    message: {
      kind: "string",
      value: "text",
      short: "m",
      guesses: ["body", "b", "subject", "t"],
      summary:
        "The message of the commit; by default `Merge CR #<n>: <title>`, with --squash title and description",
    },
    merge: { kind: "boolean", summary: "Create a merge commit, or fast-forward" },
    squash: { kind: "boolean", short: "s", summary: "Merge all changes as one commit" },
    rebase: { kind: "boolean", short: "r", summary: "Put each commit on top of the base branch" },
    "ff-only": { kind: "boolean", summary: "Fast-forward, or fail" },
    "delete-branch": {
      kind: "boolean",
      short: "d",
      summary: "Then delete the head branch, unless it is protected, in use or has moved",
    },
    auto: { kind: "boolean", summary: "Let svc merge it once its checks and approvals allow it" },
    "disable-auto": { kind: "boolean", summary: "Turn that off" },
    watch: { kind: "boolean", short: "w", summary: "In a merge queue: wait until it is merged" },
  },
  fields: MERGE_FIELDS,
  examples: [
    ["svc cr merge 3", "Merge it"],
    ['svc cr merge 3 --match-head "$HEAD"', "Merge only the commit that you have reviewed"],
    ["svc cr merge 3 --auto --squash", "Merge it once its checks and approvals allow it"],
    ["svc cr merge 3 --watch", "Add it to the merge queue, and wait until it is merged"],
    ["svc cr merge 3 --squash --delete-branch", "Merge it as one commit, and delete its branch"],
    ['svc cr merge 3 --squash --message "Fix the login page"', "Merge it as one commit"],
    ['svc cr merge 3 --message "Release 2" --jq .merge.merge_commit_sha', "Print the merge commit"],
  ],
});

export const queue = spec({
  path: ["cr", "queue"],
  summary: "List the merge queue of a branch",
  about: [
    "The first change requests of the queue are merged on top of each other, and the required checks run on each merged result. When those of the first have passed, the branch moves to it.",
    "With --watch the command prints what happens to each change request until the queue is empty, or until the given one is merged; it exits with status 1 if that one leaves the queue in another way.",
  ],
  args: [
    { name: "cr", summary: "Only this change request: its number (3 or #3) or its id", completes: "cr" },
  ],
  flags: {
    base: {
      kind: "string",
      value: "ref",
      short: "B",
      summary: "The branch merged into; defaults to the project's default branch",
      completes: "branch",
    },
    watch: {
      kind: "boolean",
      short: "w",
      summary: "Wait until the queue is empty, for at most three hours or --timeout",
    },
  },
  fields: CR_FIELDS,
  examples: [
    ["svc cr queue", "List it"],
    ["svc cr queue --watch", "Follow it until it is empty"],
    ["svc cr queue 3 --watch", "Follow one change request until it is merged"],
    ["svc cr queue --base stable", "List the queue of another branch"],
    ["svc cr queue --jq '.[].number'", "Print the numbers"],
  ],
});

export const dequeue = spec({
  path: ["cr", "dequeue"],
  summary: "Remove a change request from the merge queue",
  args: [CR],
  flags: {},
  fields: CR_FIELDS,
  examples: [
    ["svc cr dequeue 3", "It is not merged; it can be queued again"],
    ["svc cr dequeue", "The change request of the current branch"],
  ],
});

export const ready = spec({
  path: ["cr", "ready"],
  summary: "Mark a draft as ready, so that it can be merged",
  args: [CR],
  flags: { undo: { kind: "boolean", summary: "Make it a draft, which cannot be merged" } },
  fields: CR_FIELDS,
  examples: [
    ["svc cr ready 3", "The work is done"],
    ["svc cr ready 3 --undo", "It is a draft again"],
  ],
});

export const revert = spec({
  path: ["cr", "revert"],
  summary: "Open a change request that reverts a merged one",
  about: [
    "svc undoes the merge as one commit on top of the base branch, in a new branch, and opens a change request of it. If the base branch has changed the same lines since, nothing is created, and the files are listed. Only for people.",
  ],
  args: [CR],
  flags: {
    title: { kind: "string", value: "text", short: "t", summary: 'The title; by default `Revert "<title>"`' },
    ...DESCRIPTION,
    branch: {
      kind: "string",
      value: "name",
      summary: "The branch to create; by default `revert-<number>-<branch>`",
    },
  },
  fields: CR_FIELDS,
  examples: [
    ["svc cr revert 3", "Open a change request that reverts #3"],
    ['svc cr revert 3 --title "Undo the login page" --branch undo-login', "With other names"],
  ],
});
