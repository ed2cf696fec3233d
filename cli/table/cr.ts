import type { CrStatusFilter } from "../../src/contract/change-request.ts";
import type { Comment } from "../../src/contract/comment.ts";
import { bind, type Group, spec } from "../spec.ts";
import { COMMENT_FIELDS, CR_FIELDS, DIFF_FIELDS, MERGE_FIELDS } from "./fields.ts";

const SIDES = ["old", "new"] as const satisfies readonly Comment["side"][];

const STATUSES = ["open", "merged", "closed", "all"] as const satisfies readonly CrStatusFilter[];

const CR = {
  name: "cr",
  summary: "Its number (3 or #3) or its id",
  required: "ask",
  completes: "cr",
} as const;

const DESCRIPTION = {
  description: {
    kind: "string",
    value: "text",
    summary: "The description",
    aliases: ["body"],
    empty: true,
  },
  "description-file": {
    kind: "string",
    value: "path",
    summary: "Read the description from a file; `-` is standard input",
    aliases: ["body-file"],
    completes: "file",
  },
} as const;

export const ls = spec({
  path: ["cr", "ls"],
  guesses: ["list"],
  summary: "List change requests, the newest first",
  args: [],
  flags: {
    status: {
      kind: "string",
      value: "status",
      choices: STATUSES,
      fallback: "open",
      summary: "open (the default), merged, closed or all",
    },
    limit: {
      kind: "integer",
      value: "n",
      min: 1,
      max: 10_000,
      short: "L",
      summary: "At most this many",
    },
  },
  fields: CR_FIELDS,
  examples: [
    ["svc cr ls", "Open change requests"],
    ["svc cr ls --status all --json=number,title,status", "Everything, three fields as JSON"],
    ["svc cr ls --jq '.[].head_ref'", "Only the branches"],
  ],
});

export const show = spec({
  path: ["cr", "show"],
  aliases: ["info"],
  guesses: ["view"],
  summary: "Show a change request with its review and merge preview",
  args: [CR],
  flags: {},
  fields: [...CR_FIELDS, "merge_preview", "manifest", "open_comments"],
  examples: [
    ["svc cr show 3", "Show a change request"],
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
  flags: { "no-pager": { kind: "boolean", summary: "Do not use a pager" } },
  fields: DIFF_FIELDS,
  examples: [
    ["svc cr diff 3", "Read it"],
    ["svc cr diff 3 | git apply", "Try it in your own checkout"],
    ["svc cr diff 3 --jq '.files[].path'", "Only the changed files"],
  ],
});

export const open = spec({
  path: ["cr", "open"],
  aliases: ["new", "create"],
  summary: "Open a change request",
  about: [
    "In a session, --head and --session default to those of the session. In a linked checkout, --head defaults to the current branch.",
  ],
  args: [],
  flags: {
    title: { kind: "string", value: "text", required: true, summary: "The title" },
    ...DESCRIPTION,
    head: {
      kind: "string",
      value: "ref",
      guesses: ["branch", "source"],
      summary: "The branch to merge; in a session its own ($SVC_BRANCH_NAME or $SVC_HEAD_REF)",
      aliases: ["from"],
      completes: "branch",
    },
    base: {
      kind: "string",
      value: "ref",
      guesses: ["target"],
      summary: "The branch to merge into; defaults to the project's default branch",
      aliases: ["into"],
      completes: "branch",
    },
    session: {
      kind: "string",
      value: "id",
      summary: "The session that did the work; in a session its own ($SVC_SESSION_ID)",
      completes: "session",
    },
  },
  fields: CR_FIELDS,
  examples: [
    ['svc cr open --title "Fix the login page"', "In a session or a linked checkout"],
    ['svc cr open --title "Fix it" --from fix-login --into main --body "Closes 12"', "With every option"],
    ['svc cr open --title "Fix it" --description-file - < notes.md', "A long description"],
  ],
});

export const merge = spec({
  path: ["cr", "merge"],
  summary: "Merge an open change request",
  about: [
    "Fast-forwards if the base branch has not moved, and otherwise creates a merge commit. If there are conflicts, nothing is merged; they are listed with the steps to resolve them. The head commit to merge is printed first; if another one is pushed in the meantime, nothing is merged.",
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
      summary: "The merge commit's message; `Merge CR #<n>: <title>` by default",
    },
  },
  fields: MERGE_FIELDS,
  examples: [
    ["svc cr merge 3", "Merge it"],
    ['svc cr merge 3 --match-head "$HEAD"', "Merge only the commit that you have reviewed"],
    ['svc cr merge 3 --message "Release 2" --jq .merge.merge_commit_sha', "Print the merge commit"],
  ],
});

export const close = spec({
  path: ["cr", "close"],
  summary: "Close an open change request without merging it",
  args: [CR],
  flags: {},
  fields: CR_FIELDS,
  examples: [
    ["svc cr close 3", "Close it"],
    ["svc cr close 3 --json=status,closed_at", "With JSON output"],
  ],
});

export const reopen = spec({
  path: ["cr", "reopen"],
  summary: "Reopen a closed change request",
  args: [CR],
  flags: {},
  fields: CR_FIELDS,
  examples: [
    ["svc cr reopen 3", "Reopen it"],
    ["svc cr reopen 3 --json=status", "With JSON output"],
  ],
});

export const edit = spec({
  path: ["cr", "edit"],
  summary: "Edit the title or the description of a change request",
  args: [CR],
  flags: {
    title: { kind: "string", value: "text", summary: "The new title" },
    ...DESCRIPTION,
  },
  fields: CR_FIELDS,
  examples: [
    ['svc cr edit 3 --title "Fix the login page on phones"', "A new title"],
    ["svc cr edit 3 --description-file notes.md", "A new description"],
  ],
});

export const comment = spec({
  path: ["cr", "comment"],
  summary: "Comment on a change request, on a file or on a line of its diff",
  about: [
    "To reply in a thread, also as an agent in a session, pass --reply-to with the id that `svc cr comments` prints. The text is Markdown.",
  ],
  args: [
    { ...CR, required: true },
    { name: "text", summary: "The comment; `-` reads it from standard input", required: true },
  ],
  flags: {
    file: { kind: "string", value: "path", summary: "A file that the change request changes" },
    line: { kind: "integer", value: "n", min: 1, max: 2_147_483_647, summary: "A line of that file" },
    side: {
      kind: "string",
      value: "side",
      choices: SIDES,
      summary: "The file after the change (new, the default) or before it (old)",
    },
    "reply-to": { kind: "string", value: "id", summary: "A comment of the thread to reply in" },
  },
  fields: COMMENT_FIELDS,
  examples: [
    ['svc cr comment 3 "Looks good to me."', "On the change request"],
    ['svc cr comment 3 --file src/login.ts --line 12 "Why not earlier?"', "On a line"],
    ['svc cr comment 3 --reply-to 6f0c1b1e-5a52-4f61-9d50-3f2c8f1d7a11 "Done."', "In a thread"],
    ["svc cr comment 3 - < review.md", "A long text"],
  ],
});

export const comments = spec({
  path: ["cr", "comments"],
  summary: "List the comments of a change request, the oldest first",
  args: [CR],
  flags: { open: { kind: "boolean", summary: "Only threads that are not resolved" } },
  fields: COMMENT_FIELDS,
  examples: [
    ["svc cr comments 3", "All threads"],
    ["svc cr comments 3 --open --json", "Unresolved threads as JSON"],
    ["svc cr comments 3 --open --jq '.[] | [.path, .line, .body]'", "File, line and text"],
  ],
});

export const approve = spec({
  path: ["cr", "approve"],
  summary: "Approve the current head commit of a change request; later pushes are not approved",
  about: ["Users cannot approve their own change requests, and an agent's token cannot approve any."],
  args: [CR],
  flags: { undo: { kind: "boolean", summary: "Withdraw your approval" } },
  fields: CR_FIELDS,
  examples: [
    ["svc cr approve 3", "Approve its head commit"],
    ["svc cr approve 3 --undo", "Withdraw the approval"],
  ],
});

export const checks = spec({
  path: ["cr", "checks"],
  summary: "Show the checks of a change request's head commit, and those that its merge requires",
  about: [
    "Exits with status 1 if one has failed, or if one is pending or required and not reported: `svc cr checks 3 --watch && svc cr merge 3` merges after they have passed.",
  ],
  args: [CR],
  flags: {
    watch: { kind: "boolean", summary: "Wait until none is pending, for at most an hour or --timeout" },
  },
  fields: ["context", "state", "description", "target_url", "updated_at"],
  examples: [
    ["svc cr checks 3", "All checks"],
    ["svc cr checks 3 --watch", "Wait for them"],
    ["svc cr checks 3 --json", "As JSON"],
  ],
});

export const cr: Group = {
  name: "cr",
  summary: "Change requests: propose, review and merge work",
  commands: [
    bind(ls, () => import("../commands/cr/ls.ts").then((module) => module.ls)),
    bind(show, () => import("../commands/cr/show.ts").then((module) => module.show)),
    bind(diff, () => import("../commands/cr/diff.ts").then((module) => module.diff)),
    bind(open, () => import("../commands/cr/open.ts").then((module) => module.open)),
    bind(merge, () => import("../commands/cr/merge.ts").then((module) => module.merge)),
    bind(close, () => import("../commands/cr/close.ts").then((module) => module.close)),
    bind(reopen, () => import("../commands/cr/close.ts").then((module) => module.reopen)),
    bind(edit, () => import("../commands/cr/edit.ts").then((module) => module.edit)),
    bind(comment, () => import("../commands/cr/comment.ts").then((module) => module.comment)),
    bind(comments, () => import("../commands/cr/comments.ts").then((module) => module.comments)),
    bind(checks, () => import("../commands/cr/checks.ts").then((module) => module.checks)),
    bind(approve, () => import("../commands/cr/approve.ts").then((module) => module.approve)),
  ],
};
