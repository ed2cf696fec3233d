import { spec } from "../spec.ts";
import { OWN_ID } from "./session-id.ts";

const PATH = { name: "path", summary: "A path in the workspace; all of it by default" } as const;

export const files = spec({
  path: ["sessions", "files"],
  guesses: ["tree"],
  summary: "List the files in the workspace of a session, or what it changes",
  about: [
    "The files are those of the running sandbox, as they are now. A folder is listed without those inside it.",
    "With --changes, the list has the files that differ from the commit at which the branch left the default branch, whether the changes are committed or not. `svc sessions diff` prints them, and `svc sessions cp` copies files.",
  ],
  args: [OWN_ID, { ...PATH, summary: "A folder in the workspace; its root by default" }],
  flags: { changes: { kind: "boolean", summary: "Only the changed files, of all folders" } },
  fields: ["name", "path", "path_base64", "type", "size", "status", "additions", "deletions", "binary"],
  examples: [
    ["svc sessions files 1a2b3c4d", "The root"],
    ["svc sessions files 1a2b src/login", "A folder"],
    ["svc sessions files 1a2b --changes", "What the agent has changed"],
  ],
});

export const diff = spec({
  path: ["sessions", "diff"],
  guesses: ["patch"],
  summary: "Show what the workspace of a session changes",
  about: [
    "Compares the files of the running sandbox, committed or not, with the commit at which the branch left the default branch. Ignored files are left out, and so are files of more than 32 MiB.",
    "On a terminal the patch is coloured and shown in a pager (SVC_PAGER, PAGER or less). Elsewhere it is printed unchanged, for `git apply`. The patch of one path has no content of binary files.",
  ],
  args: [OWN_ID, PATH],
  flags: { "no-pager": { kind: "boolean", summary: "Do not use a pager" } },
  fields: ["base", "head", "version", "files", "more"],
  examples: [
    ["svc sessions diff 1a2b3c4d", "Read it"],
    ["svc sessions diff 1a2b src/login.ts", "The changes of one file"],
    ["svc sessions diff 1a2b | git apply", "Apply it to your own checkout"],
  ],
});
