import { bind, type Group, spec } from "../spec.ts";
import { crApps } from "./cr-apps.ts";
import { DESCRIPTION } from "./cr-description.ts";
import { CR } from "./cr-id.ts";
import { dequeue, merge, queue, ready, revert } from "./cr-merge.ts";
import { checkout, diff, files, ls, show } from "./cr-read.ts";
import {
  apply,
  approve,
  checks,
  comment,
  comments,
  heads,
  reply,
  requestChanges,
  resolve,
  review,
  status,
  timeline,
} from "./cr-review.ts";
import { resolveConflicts, send, updateBranch } from "./cr-session.ts";
import { CR_FIELDS } from "./fields.ts";
import { namesFlag } from "./labels.ts";
import { WEB } from "./web.ts";

const PEOPLE = "@me, or members by name or e-mail address";

export const open = spec({
  path: ["cr", "open"],
  aliases: ["new", "create"],
  summary: "Open a change request",
  about: [
    "In a session, --head and --session default to those of the session. In a clone of the project, --head defaults to the current branch.",
  ],
  args: [],
  flags: {
    title: {
      kind: "string",
      value: "text",
      short: "t",
      summary: "The title; required without --fill, and asked for on a terminal",
    },
    fill: {
      kind: "boolean",
      short: "f",
      summary: "Use the commits for the title and the description, unless they are given",
    },
    ...DESCRIPTION,
    template: {
      kind: "string",
      value: "name",
      short: "T",
      summary: "Begin the description with this template of the base branch",
    },
    editor: {
      kind: "boolean",
      short: "e",
      summary: "Write the title (the first line) and the description in an editor: $VISUAL or $EDITOR",
    },
    head: {
      kind: "string",
      value: "ref",
      short: "H",
      guesses: ["branch", "source", "source-branch"],
      summary: "The branch to merge; in a session its own ($SVC_BRANCH_NAME or $SVC_HEAD_REF)",
      aliases: ["from"],
      completes: "branch",
    },
    base: {
      kind: "string",
      value: "ref",
      short: "B",
      guesses: ["target", "target-branch"],
      summary: "The branch to merge into; defaults to the project's default branch",
      aliases: ["into"],
      completes: "branch",
    },
    draft: { kind: "boolean", short: "d", summary: "Not to be merged until `svc cr ready`" },
    label: namesFlag("Labels of the project"),
    assignee: { ...namesFlag(`Assignees: ${PEOPLE}`), short: "a" },
    reviewer: { ...namesFlag(`Requested reviewers: ${PEOPLE}`), short: "r" },
    session: {
      kind: "string",
      value: "id",
      summary: "The session that did the work; in a session its own ($SVC_SESSION_ID)",
      completes: "session",
    },
    ...WEB,
  },
  fields: CR_FIELDS,
  examples: [
    ['svc cr open --title "Fix the login page"', "In a session or a clone of the project"],
    ["svc cr open --fill", "With the message of its commit, or a list of its commits"],
    ["svc cr open --editor --template release", "From a template, in your editor"],
    ['svc cr open --title "Fix it" --from fix-login --into main --body "Closes 12"', "With every option"],
    ['svc cr open --title "Fix it" --description-file - < notes.md', "A long description"],
  ],
});

export const close = spec({
  path: ["cr", "close"],
  summary: "Close open change requests without merging them",
  about: ["If one of several cannot be closed, the others are, and the exit code is 1."],
  args: [{ ...CR, many: true }],
  flags: {},
  fields: CR_FIELDS,
  examples: [
    ["svc cr close 3", "Close it"],
    ["svc cr close 3 4 7", "Close several"],
    ["svc cr close 3 4 --json=number,status", "A list of those that were closed"],
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
  summary: "Edit the title, the description, the base, the labels or the people of a change request",
  args: [CR],
  flags: {
    title: { kind: "string", value: "text", short: "t", summary: "The new title" },
    ...DESCRIPTION,
    base: {
      kind: "string",
      value: "ref",
      short: "B",
      summary: "Another branch to merge into; this removes its approvals",
      completes: "branch",
    },
    "add-label": namesFlag("Labels to add"),
    "remove-label": namesFlag("Labels to remove"),
    "add-assignee": namesFlag(`Add assignees: ${PEOPLE}`),
    "remove-assignee": namesFlag("Remove assignees"),
    "add-reviewer": namesFlag(`Request a review from ${PEOPLE}`),
    "remove-reviewer": namesFlag("Remove requested reviewers"),
  },
  fields: CR_FIELDS,
  examples: [
    ['svc cr edit 3 --title "Fix the login page on phones"', "A new title"],
    ["svc cr edit 3 --description-file notes.md", "A new description"],
    ["svc cr edit 3 --base main", "Merge it into another branch"],
    ["svc cr edit 3 --add-reviewer bob --add-assignee @me", "Request a review from bob"],
    ["svc cr edit 3 --add-label bug,ui --remove-label wip", "Change its labels"],
  ],
});

export const cr: Group = {
  name: "cr",
  summary: "Change requests: propose, review and merge work",
  commands: [
    bind(ls, () => import("../commands/cr/ls.ts").then((module) => module.ls)),
    bind(status, () => import("../commands/cr/status.ts").then((module) => module.status)),
    bind(show, () => import("../commands/cr/show.ts").then((module) => module.show)),
    bind(diff, () => import("../commands/cr/diff.ts").then((module) => module.diff)),
    bind(files, () => import("../commands/cr/files.ts").then((module) => module.files)),
    bind(timeline, () => import("../commands/cr/timeline.ts").then((module) => module.timeline)),
    bind(heads, () => import("../commands/cr/heads.ts").then((module) => module.heads)),
    bind(checkout, () => import("../commands/cr/checkout.ts").then((module) => module.checkout)),
    bind(open, () => import("../commands/cr/open.ts").then((module) => module.open)),
    bind(merge, () => import("../commands/cr/merge.ts").then((module) => module.merge)),
    bind(queue, () => import("../commands/cr/queue.ts").then((module) => module.queue)),
    bind(dequeue, () => import("../commands/cr/queue.ts").then((module) => module.dequeue)),
    bind(close, () => import("../commands/cr/close.ts").then((module) => module.close)),
    bind(reopen, () => import("../commands/cr/close.ts").then((module) => module.reopen)),
    bind(ready, () => import("../commands/cr/ready.ts").then((module) => module.ready)),
    bind(revert, () => import("../commands/cr/revert.ts").then((module) => module.revert)),
    bind(edit, () => import("../commands/cr/edit.ts").then((module) => module.edit)),
    bind(comment, () => import("../commands/cr/comment.ts").then((module) => module.comment)),
    bind(reply, () => import("../commands/cr/comment.ts").then((module) => module.reply)),
    bind(resolve, () => import("../commands/cr/resolve.ts").then((module) => module.resolve)),
    bind(apply, () => import("../commands/cr/apply.ts").then((module) => module.apply)),
    bind(comments, () => import("../commands/cr/comments.ts").then((module) => module.comments)),
    bind(crApps, () => import("../commands/cr/apps.ts").then((module) => module.crApps)),
    bind(checks, () => import("../commands/cr/checks.ts").then((module) => module.checks)),
    bind(review, () => import("../commands/cr/review.ts").then((module) => module.review)),
    bind(approve, () => import("../commands/cr/approve.ts").then((module) => module.approve)),
    bind(requestChanges, () =>
      import("../commands/cr/request-changes.ts").then((module) => module.requestChanges),
    ),
    bind(send, () => import("../commands/cr/send.ts").then((module) => module.send)),
    bind(updateBranch, () => import("../commands/cr/update-branch.ts").then((module) => module.updateBranch)),
    bind(resolveConflicts, () => import("../commands/cr/send.ts").then((module) => module.resolveConflicts)),
  ],
};
