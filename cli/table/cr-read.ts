import type { CrStatusFilter } from "../../src/contract/change-request.ts";
import { QUALIFIERS, SORTS } from "../../src/contract/search/qualifiers.ts";
import { spec } from "../spec.ts";
import { CR } from "./cr-id.ts";
import { CR_FIELDS, DIFF_FIELDS, FILE_FIELDS } from "./fields.ts";
import { namesFlag } from "./labels.ts";
import { LIMIT_FLAG } from "./limit-flag.ts";
import { WEB } from "./web.ts";

const STATUSES = ["open", "merged", "closed", "all"] as const satisfies readonly CrStatusFilter[];
const NAMES = Object.keys(QUALIFIERS);

export const ls = spec({
  path: ["cr", "ls"],
  summary: "List change requests, the newest first",
  about: [
    `A search has words, which the title or a branch must have, and qualifiers: ${NAMES.map((name) => `${name}:`).join(", ")} and sort:. \`-\` negates one, and quotes keep a space.`,
  ],
  args: [],
  flags: {
    status: {
      kind: "string",
      value: "status",
      short: "s",
      aliases: ["state"],
      choices: STATUSES,
      summary: "open (the default, unless the search has one), merged, closed or all",
    },
    search: {
      kind: "string",
      value: "query",
      short: "S",
      completes: "search",
      summary: "Only what matches a search, such as `is:draft checks:failure login`",
    },
    author: {
      kind: "string",
      value: "who",
      short: "A",
      summary: "Only those of @me, or of a member by name or e-mail address",
    },
    base: {
      kind: "string",
      value: "branch",
      short: "B",
      completes: "branch",
      summary: "Only those with this base branch",
    },
    head: {
      kind: "string",
      value: "branch",
      short: "H",
      completes: "branch",
      summary: "Only those with this head branch",
    },
    draft: { kind: "boolean", short: "d", summary: "Only drafts" },
    sort: {
      kind: "string",
      value: "order",
      choices: SORTS,
      summary: "created-desc (the default), created-asc, updated-desc or updated-asc",
    },
    label: { ...namesFlag("Only those with all of these labels"), short: "l" },
    assignee: {
      kind: "string",
      value: "person",
      short: "a",
      summary: "Only those assigned to @me, or to a member by name or e-mail address",
    },
    "review-requested": {
      kind: "string",
      value: "person",
      summary: "Only those with a review requested from @me, or from a member",
    },
    limit: LIMIT_FLAG,
    ...WEB,
  },
  fields: CR_FIELDS,
  examples: [
    ["svc cr ls", "Open change requests"],
    ["svc cr ls --status all --json=number,title,status", "Everything, three fields as JSON"],
    ["svc cr ls --label bug,ui", "Only those with both labels"],
    ["svc cr ls --review-requested @me", "Those that wait for your review"],
    ["svc cr ls --jq '.[].head_ref'", "Only the branches"],
    ["svc cr ls --author @me --sort updated-desc", "Your own, the last changed first"],
    ["svc cr ls --search 'checks:failure -is:draft'", "With failed checks, but no drafts"],
  ],
});

export const show = spec({
  path: ["cr", "show"],
  aliases: ["info"],
  summary: "Show a change request with its review and merge preview",
  args: [CR],
  flags: WEB,
  fields: [...CR_FIELDS, "merge_preview", "manifest", "open_comments", "stack", "apps"],
  examples: [
    ["svc cr show 3", "Show a change request"],
    ["svc cr show 3 --web", "Its page in the browser"],
    ["svc cr show 3 --jq .merge_preview.conflicts", "Conflicting paths"],
  ],
});

export const diff = spec({
  path: ["cr", "diff"],
  summary: "Show the diff of a change request",
  about: [
    "On a terminal the diff is coloured and shown in a pager (SVC_PAGER, PAGER or less). Elsewhere the patch is printed unchanged, for `git apply`.",
  ],
  args: [CR],
  flags: {
    "name-only": { kind: "boolean", summary: "Only the paths of the changed files" },
    "since-review": { kind: "boolean", summary: "Only what is new since you last reviewed it" },
    since: {
      kind: "string",
      value: "head",
      summary: "Only what is new since an earlier head: its number in `svc cr heads`, or its commit",
    },
    stat: { kind: "boolean", summary: "Only the changed files, with the lines that are added and removed" },
    "no-pager": { kind: "boolean", summary: "Do not use a pager" },
    ...WEB,
  },
  fields: DIFF_FIELDS,
  examples: [
    ["svc cr diff 3", "Read it"],
    ["svc cr diff 3 | git apply", "Try it in your own checkout"],
    ["svc cr diff 3 --name-only", "Only the changed files"],
    ["svc cr diff 3 --since-review", "What was pushed since your approval or comment"],
  ],
});

export const files = spec({
  path: ["cr", "files"],
  summary: "List the files that a change request changes",
  args: [CR],
  flags: {},
  fields: FILE_FIELDS,
  examples: [
    ["svc cr files 3", "Paths, with the lines that are added and removed"],
    ["svc cr files 3 --jq '.[].path'", "Only the paths"],
  ],
});

export const checkout = spec({
  path: ["cr", "checkout"],
  guesses: ["co", "switch"],
  summary: "Fetch the branch of a change request and switch to it",
  about: [
    "Run it in a clone of the project's repository. A branch of this name that exists is fast-forwarded; if it has other commits, nothing is changed.",
  ],
  args: [CR],
  flags: {},
  fields: ["number", "branch", "remote", "commit_sha"],
  examples: [
    ["svc cr checkout 3", "Try it"],
    ["svc cr checkout 3 --jq .branch", "Print its branch"],
  ],
});
