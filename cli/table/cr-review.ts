import type { Comment } from "../../src/contract/comment.ts";
import { spec } from "../spec.ts";
import { CR } from "./cr-id.ts";
import { APPLIED_FIELDS, COMMENT_FIELDS, CR_FIELDS, HEAD_FIELDS, TIMELINE_FIELDS } from "./fields.ts";
import { WEB } from "./web.ts";

const SIDES = ["old", "new"] as const satisfies readonly Comment["side"][];

const COMMENT = {
  name: "comment",
  summary: "A comment of the thread, by the id that `svc cr comments` prints",
  required: true,
} as const;

const TEXT = {
  body: {
    kind: "string",
    value: "text",
    short: "b",
    guesses: ["message", "m"],
    summary: "The text of the comment",
  },
  "body-file": {
    kind: "string",
    value: "path",
    short: "F",
    summary: "Read the comment from a file; `-` is standard input",
    completes: "file",
  },
} as const;

export const status = spec({
  path: ["cr", "status"],
  summary: "Show your change requests, those to review, and that of the current branch",
  about: [
    "Lists open change requests that you or your agents opened, and those of others that still need an approval and do not have yours. That of the current branch is shown in any state.",
  ],
  args: [],
  flags: {},
  fields: ["branch", "of_branch", "created", "to_review"],
  examples: [
    ["svc cr status", "In a clone of the project"],
    ["svc cr status --jq '.to_review[].number'", "Numbers of those to review"],
  ],
});

export const comment = spec({
  path: ["cr", "comment"],
  summary: "Comment on a change request, on a file or on a line of its diff",
  about: ["To reply in a thread, use `svc cr reply`, also as an agent in a session. The text is Markdown."],
  args: [CR, { name: "text", summary: "The comment; `-` reads it from standard input" }],
  flags: {
    ...TEXT,
    file: { kind: "string", value: "path", summary: "A file that the change request changes" },
    line: { kind: "integer", value: "n", min: 1, max: 2_147_483_647, summary: "A line of that file" },
    "start-line": {
      kind: "integer",
      value: "n",
      min: 1,
      max: 2_147_483_647,
      summary: "The first of several lines, of which --line is the last",
    },
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
    ['svc cr comment "Looks good to me."', "On that of the current branch"],
    ['svc cr comment 3 --file src/login.ts --line 12 "Why not earlier?"', "On a line"],
    ['svc cr comment 3 --file src/login.ts --start-line 10 --line 12 "Simplify."', "On several lines"],
    ["svc cr comment 3 - < review.md", "A long text"],
  ],
});

export const reply = spec({
  path: ["cr", "reply"],
  summary: "Reply in a thread of a change request",
  args: [
    CR,
    COMMENT,
    { name: "text", summary: "The reply; `-` reads it from standard input", required: true },
  ],
  flags: {},
  fields: COMMENT_FIELDS,
  examples: [
    ['svc cr reply 3 6f0c1b1e-5a52-4f61-9d50-3f2c8f1d7a11 "Done."', "In a thread"],
    ["svc cr reply 3 6f0c1b1e-5a52-4f61-9d50-3f2c8f1d7a11 - < reply.md", "A long text"],
  ],
});

export const resolve = spec({
  path: ["cr", "resolve"],
  summary: "Resolve a thread of a change request",
  args: [CR, COMMENT],
  flags: { undo: { kind: "boolean", summary: "Reopen the thread" } },
  fields: COMMENT_FIELDS,
  examples: [
    ["svc cr resolve 3 6f0c1b1e-5a52-4f61-9d50-3f2c8f1d7a11", "Resolve it"],
    ["svc cr resolve 3 6f0c1b1e-5a52-4f61-9d50-3f2c8f1d7a11 --undo", "Reopen it"],
  ],
});

export const apply = spec({
  path: ["cr", "apply"],
  summary: "Commit the suggestions of comments to the head branch",
  about: [
    "A suggestion is a fenced code block with the language `suggestion` in a comment on lines: it replaces them. Several are one commit; if one of them cannot be applied, none is. The threads are resolved.",
  ],
  args: [CR, { ...COMMENT, many: true, summary: "Comments, by their ids, separated by spaces or commas" }],
  flags: { message: { kind: "string", value: "text", short: "m", summary: "The message of the commit" } },
  fields: APPLIED_FIELDS,
  examples: [
    ["svc cr apply 3 6f0c1b1e-5a52-4f61-9d50-3f2c8f1d7a11", "Commit it"],
    ["svc cr apply 6f0c1b1e-5a52-4f61-9d50-3f2c8f1d7a11", "On the change request of the current branch"],
    [
      "svc cr apply 3 6f0c1b1e-5a52-4f61-9d50-3f2c8f1d7a11,0b7c8a52-93c4-4f0e-8b0d-2f1f6f1f0a42",
      "Two at once",
    ],
  ],
});

export const heads = spec({
  path: ["cr", "heads"],
  summary: "List the commits that the head of a change request has had, the newest first",
  about: [
    "svc keeps them, also those that a force push replaced. `svc cr diff --since` shows what is new since one.",
  ],
  args: [CR],
  flags: {},
  fields: HEAD_FIELDS,
  examples: [
    ["svc cr heads 3", "Its pushes, and what you have reviewed"],
    ["svc cr diff 3 --since 2", "What is new since the second one"],
  ],
});

export const timeline = spec({
  path: ["cr", "timeline"],
  summary: "List what has happened to a change request, the oldest first",
  about: [
    "Pushes and force pushes, reviews, labels, people, checks, merges and whatever else changed it, with who did it. `svc cr comments` lists what was said.",
  ],
  args: [CR],
  flags: {},
  fields: TIMELINE_FIELDS,
  examples: [
    ["svc cr timeline 3", "Its history"],
    ["svc cr timeline 3 --jq '.[] | select(.event == \"head_ref_force_pushed\")'", "Only force pushes"],
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

export const review = spec({
  path: ["cr", "review"],
  summary: "Approve a change request, request changes on it, or comment on it",
  about: [
    "With --approve, a text is added as a comment. --comments adds comments on lines: a JSON array of objects with `path`, `body` and, for lines, `line`, `start_line` and `side` (`new` or `old`), as in the REST API. All of the review is submitted at once, or nothing of it. `svc cr comment` also comments on a line or in a thread, and `svc cr approve --undo` and `svc cr request-changes --undo` withdraw a review.",
  ],
  args: [CR],
  flags: {
    approve: { kind: "boolean", short: "a", summary: "Approve its current head commit" },
    "request-changes": {
      kind: "boolean",
      short: "r",
      summary: "Request changes, which blocks the merge; the text says which",
    },
    comment: { kind: "boolean", short: "c", summary: "Only comment" },
    ...TEXT,
    comments: {
      kind: "string",
      value: "path",
      summary: "Add the comments of a JSON file; `-` is standard input",
      completes: "file",
    },
  },
  fields: [...CR_FIELDS, "comment", "comments"],
  examples: [
    ["svc cr review 3 --approve", "Approve it"],
    ['svc cr review 3 --approve --body "Nice work."', "With a comment"],
    ['svc cr review 3 --request-changes --body "Handle the empty list."', "Block the merge"],
    ["svc cr review 3 --comment --body-file review.md", "Comment on it"],
    ["svc cr review 3 --approve --comments comments.json", "With comments on lines"],
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

export const requestChanges = spec({
  path: ["cr", "request-changes"],
  summary: "Request changes on a change request, which blocks its merge",
  about: [
    "It blocks the merge, also of later commits, until you approve the change request or withdraw the request (--undo), or an owner or admin dismisses it (--dismiss). It takes the place of your approval. The text is Markdown; `svc cr show` prints it.",
  ],
  args: [CR],
  flags: {
    body: {
      kind: "string",
      value: "text",
      short: "b",
      guesses: ["message", "m"],
      summary: "What has to change",
    },
    "body-file": {
      kind: "string",
      value: "path",
      short: "F",
      summary: "Read the text from a file; `-` is standard input",
      completes: "file",
    },
    undo: { kind: "boolean", summary: "Withdraw your request" },
    dismiss: {
      kind: "string",
      value: "name",
      summary: "Dismiss the request of this person, by name or user id; for owners and admins",
    },
  },
  fields: CR_FIELDS,
  examples: [
    ['svc cr request-changes 3 -b "Handle the empty list."', "Block the merge"],
    ["svc cr request-changes 3 --undo", "Withdraw the request"],
    ["svc cr request-changes 3 --dismiss Ada", "Dismiss the request of Ada"],
  ],
});

export const checks = spec({
  path: ["cr", "checks"],
  summary: "Show the checks of a change request's head commit, and those that its merge requires",
  about: [
    "Checks that svc runs itself also have a log, and can be run again. CI has the logs of those that it reports.",
    "Exits with status 1 if one has failed, or if one is pending or required and not reported: `svc cr checks 3 --watch && svc cr merge 3` merges after they have passed.",
  ],
  args: [CR],
  flags: {
    watch: {
      kind: "boolean",
      summary: "Wait until none is pending, for at most an hour or --timeout; with --log, print new lines",
    },
    log: {
      kind: "string",
      value: "name",
      guesses: ["logs"],
      summary: "Print the log of a check that svc runs, or the output of a check run",
    },
    rerun: {
      kind: "string",
      value: "name",
      guesses: ["retry", "run"],
      summary: "Run a check again, then show all",
    },
    ...WEB,
    send: { kind: "boolean", summary: "Send the failed checks and their logs to the session of the branch" },
  },
  fields: ["context", "state", "description", "target_url", "updated_at"],
  examples: [
    ["svc cr checks 3", "All checks"],
    ["svc cr checks 3 --watch", "Wait for them"],
    ["svc cr checks 3 --log test --watch", "Follow the log of a check"],
    ["svc cr checks 3 --rerun test --watch", "Run a check again, and wait"],
    ["svc cr checks 3 --json", "As JSON"],
  ],
});
