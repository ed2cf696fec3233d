import { bind, type Group, spec } from "../spec.ts";
import { BRANCH_FIELDS, COMMIT_FIELDS, CONTENTS_FIELDS, ENTRY_FIELDS } from "./fields.ts";
import { LIMIT_FLAG } from "./limit-flag.ts";

const REF = "A branch, a tag or a full commit id; defaults to the default branch";

const AT = { ref: { kind: "string", value: "ref", summary: REF, completes: "branch" } } as const;

const LIMIT = {
  limit: LIMIT_FLAG,
} as const;

export const branches = spec({
  path: ["repo", "branches"],
  summary: "List the branches of the project's repository",
  args: [],
  flags: LIMIT,
  fields: BRANCH_FIELDS,
  examples: [
    ["svc repo branches", "All branches, the default one first"],
    ["svc repo branches --jq '.[].name'", "Only the names"],
  ],
});

export const commits = spec({
  path: ["repo", "commits"],
  aliases: ["log"],
  summary: "List the commits of a branch, the newest first",
  about: ["Lists the newest 30 unless --limit is given."],
  args: [{ name: "ref", summary: REF, completes: "branch" }],
  flags: {
    path: { kind: "string", value: "path", summary: "Only commits that changed this file or directory" },
    ...LIMIT,
  },
  fields: COMMIT_FIELDS,
  examples: [
    ["svc repo commits", "Commits of the default branch"],
    ["svc repo commits fix-login --path src/login.ts --limit 5", "Commits of a branch to one file"],
    ["svc repo commits v1.2 --jq '.[].sha'", "Only the commit ids, from a tag on"],
  ],
});

export const files = spec({
  path: ["repo", "files"],
  aliases: ["ls"],
  summary: "List a directory of the repository",
  args: [
    { name: "path", summary: "The directory, relative to the root of the repository; defaults to the root" },
  ],
  flags: { ...AT, ...LIMIT },
  fields: ENTRY_FIELDS,
  examples: [
    ["svc repo files", "The root, on the default branch"],
    ["svc repo files src --ref fix-login", "A directory, on another branch"],
  ],
});

export const cat = spec({
  path: ["repo", "cat"],
  guesses: ["show", "view"],
  summary: "Print a file of the repository",
  about: [
    "Prints the file unchanged, up to 100 MiB; on a terminal, control characters are escaped. --json holds the first MiB, and for a symbolic link its target.",
  ],
  args: [{ name: "path", summary: "The file, relative to the root of the repository", required: true }],
  flags: AT,
  fields: CONTENTS_FIELDS,
  examples: [
    ["svc repo cat README.md", "On the default branch"],
    ["svc repo cat assets/logo.png --ref fix-login > logo.png", "Download a file of a branch"],
  ],
});

export const repo: Group = {
  name: "repo",
  summary: "Browse the project's repository",
  commands: [
    bind(branches, () => import("../commands/repo/branches.ts").then((module) => module.branches)),
    bind(commits, () => import("../commands/repo/commits.ts").then((module) => module.commits)),
    bind(files, () => import("../commands/repo/files.ts").then((module) => module.files)),
    bind(cat, () => import("../commands/repo/cat.ts").then((module) => module.cat)),
  ],
};
