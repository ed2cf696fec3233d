import type { EditedProject } from "../../src/contract/project.ts";
import { bind, type Group, spec } from "../spec.ts";
import { BUDGET_FLAGS } from "./account-flag.ts";
import { fieldsOf, PROJECT_FIELDS } from "./fields.ts";

const OPTIONAL_PROJECT = {
  name: "id-or-slug",
  summary: "The project; defaults to the linked one",
  completes: "project",
} as const;

export const ls = spec({
  path: ["projects", "ls"],
  summary: "List your projects",
  about: ["Without --account, lists the projects of every account that you are a member of."],
  args: [],
  flags: {
    account: { kind: "string", value: "id", summary: "Only the projects of this account, by its id or slug" },
  },
  fields: PROJECT_FIELDS,
  examples: [
    ["svc projects ls", "List all"],
    ["svc projects ls --json=slug,repo_url", "Two fields as JSON"],
  ],
});

export const info = spec({
  path: ["projects", "info"],
  summary: "Show one project",
  args: [OPTIONAL_PROJECT],
  flags: {},
  fields: [...PROJECT_FIELDS, "resolved_from"],
  examples: [
    ["svc projects info", "The linked project"],
    ["svc projects info shop --jq .default_branch", "One field of another"],
  ],
});

export const clone = spec({
  path: ["projects", "clone"],
  summary: "Clone the repository of a project, and link the clone to it",
  about: [
    "Clones through svc, which is git's credential helper in the clone: git needs no other credential to pull and to push, also if the repository is private on another git host.",
  ],
  args: [
    { name: "id-or-slug", summary: "The project", required: true, completes: "project" },
    { name: "folder", summary: "The new folder; defaults to the project's slug" },
  ],
  flags: {
    depth: {
      kind: "integer",
      value: "n",
      min: 1,
      max: 999_999,
      summary: "Only the last commits of each branch",
    },
  },
  fields: ["project_id", "slug", "path", "remote"],
  examples: [
    ["svc projects clone shop", "Into ./shop"],
    ["svc projects clone shop ~/code/shop --depth 1", "Without the history, into another folder"],
  ],
});

export const link = spec({
  path: ["projects", "link"],
  summary: "Link this directory to a project",
  about: [
    "Writes .svc/link.json here. Commands in this directory and below then use that project and its host.",
  ],
  args: [
    {
      name: "id-or-slug",
      summary: "The project; defaults to the only one that has this repository, else prompts",
      completes: "project",
    },
  ],
  flags: {},
  fields: ["project_id", "account_id", "host", "host_url", "path"],
  examples: [
    ["svc projects link shop", "By slug"],
    ["svc projects link", "Choose from a list"],
  ],
});

export const unlink = spec({
  path: ["projects", "unlink"],
  summary: "Remove the link of this directory",
  args: [],
  flags: {},
  fields: ["path", "removed"],
  examples: [
    ["svc projects unlink", "Remove .svc/link.json"],
    ["svc projects unlink --json", "With JSON output"],
  ],
});

export const open = spec({
  path: ["projects", "open"],
  summary: "Open a project's page in the browser",
  about: ["Without a terminal, and in a sandbox, it only prints the address."],
  args: [OPTIONAL_PROJECT],
  flags: { "print-url": { kind: "boolean", summary: "Print the address without opening it" } },
  fields: ["url"],
  examples: [
    ["svc projects open", "The linked project"],
    ["svc projects open shop --print-url", "Only its address"],
  ],
});

export const create = spec({
  path: ["projects", "new"],
  summary: "Create a project for a repository on a git host, or for a new one that svc hosts",
  about: [
    "Without --repo, svc hosts a new, empty repository: push to it with `svc ship`.",
    "If a project of yours has the repository already, nothing is created, unless --force is given.",
    "The server checks access to the repository before it stores anything. A private repository needs a credential: --git-token, or one inside the URL, which is stored encrypted and never shown again.",
  ],
  args: [{ name: "name", summary: "The project's name; defaults to the repository's" }],
  flags: {
    name: { kind: "string", value: "name", summary: "The same as the argument" },
    repo: {
      kind: "string",
      value: "url",
      guesses: ["url", "remote", "repository"],
      summary: "The clone URL: https, ssh or git; or a folder, if the server runs on this machine",
      aliases: ["repo-url"],
    },
    branch: {
      kind: "string",
      value: "default",
      summary: "The default branch; defaults to the repository's",
      aliases: ["default-branch"],
    },
    account: {
      kind: "string",
      value: "id",
      summary: "The account that owns it, by its id or slug; by default the active one",
    },
    "git-token": {
      kind: "string",
      value: "token",
      summary: "Token, password or ssh key for the git host; `-` reads it from standard input",
    },
    "git-username": { kind: "string", value: "name", summary: "The user name for the credential" },
    link: { kind: "boolean", summary: "Link this directory to the new project" },
    force: { kind: "boolean", summary: "Create it even if the repository has a project already" },
  },
  fields: PROJECT_FIELDS,
  examples: [
    ["svc projects new --repo https://git.example.com/shop.git --link", "A project for this checkout"],
    ["svc projects new shop", "A repository that svc hosts"],
    [
      "svc projects new --repo https://git.example.com/shop.git --git-token - < token.txt",
      "A private repository",
    ],
  ],
});

export const edit = spec({
  path: ["projects", "edit"],
  summary: "Rename a project, change its repository or default branch, or set what its models may cost",
  about: [
    "The repository and the default branch can be changed only by owners and admins. A stored credential for another repository is deleted. A former default branch stays protected: `svc projects unprotect`.",
    "A budget is in US dollars; `none` removes it.",
  ],
  args: [OPTIONAL_PROJECT],
  flags: {
    name: { kind: "string", value: "name", summary: "Its new name; the slug stays" },
    repo: { kind: "string", value: "url", guesses: ["url"], summary: "The clone URL of its repository" },
    branch: {
      kind: "string",
      value: "default",
      summary: "The default branch, into which change requests are merged",
      aliases: ["default-branch"],
    },
    ...BUDGET_FLAGS,
  },
  fields: fieldsOf<EditedProject>()([...PROJECT_FIELDS, "git_credential_dropped"]),
  examples: [
    ["svc projects edit --branch trunk", "Another default branch"],
    ["svc projects edit shop --budget 50 --session-budget 5", "Limit what models cost"],
  ],
});

export const unprotect = spec({
  path: ["projects", "unprotect"],
  summary: "Remove the protection of a former default branch",
  about: [
    "Only owners and admins can. The default branch, and branches that svc.toml on it protects, stay protected.",
  ],
  args: [{ name: "branch", summary: "The branch", required: true, completes: "branch" }],
  flags: {},
  fields: PROJECT_FIELDS,
  examples: [
    ["svc projects unprotect master", "After the default branch was renamed"],
    ["svc projects unprotect master --project shop", "In another project"],
  ],
});

export const rm = spec({
  path: ["projects", "rm"],
  summary: "Delete a project with its change requests",
  about: ["The repository on its git host is not changed."],
  args: [{ name: "id-or-slug", summary: "The project", required: true, completes: "project" }],
  flags: { yes: { kind: "boolean", short: "y", summary: "Skip the confirmation prompt" } },
  fields: ["project_id", "slug", "deleted"],
  examples: [
    ["svc projects rm shop", "Delete it after you type its name"],
    ["svc projects rm shop --yes", "In a script"],
  ],
});

export const credential = spec({
  path: ["projects", "git-credential"],
  guesses: ["credential", "set-credential"],
  summary: "Store the credential for a project's repository",
  about: [
    "Reads the token, password or ssh key from standard input; on a terminal it prompts. The credential is stored encrypted and never shown again.",
  ],
  args: [OPTIONAL_PROJECT],
  flags: { username: { kind: "string", value: "name", summary: "The user name for the credential" } },
  fields: ["project_id", "stored"],
  examples: [
    ["svc projects git-credential < token.txt", "For the linked project"],
    ["svc projects git-credential shop --username git < ~/.ssh/deploy_key", "An ssh key for another project"],
  ],
});

export const projects: Group = {
  name: "projects",
  summary: "Repositories that svc works on",
  commands: [
    bind(ls, () => import("../commands/projects/ls.ts").then((module) => module.ls)),
    bind(info, () => import("../commands/projects/info.ts").then((module) => module.info)),
    bind(create, () => import("../commands/projects/new.ts").then((module) => module.create)),
    bind(clone, () => import("../commands/projects/clone.ts").then((module) => module.clone)),
    bind(link, () => import("../commands/projects/link.ts").then((module) => module.link)),
    bind(unlink, () => import("../commands/projects/link.ts").then((module) => module.unlink)),
    bind(edit, () => import("../commands/projects/edit.ts").then((module) => module.edit)),
    bind(unprotect, () => import("../commands/projects/unprotect.ts").then((module) => module.unprotect)),
    bind(open, () => import("../commands/projects/open.ts").then((module) => module.open)),
    bind(credential, () =>
      import("../commands/projects/git-credential.ts").then((module) => module.credential),
    ),
    bind(rm, () => import("../commands/projects/rm.ts").then((module) => module.rm)),
  ],
};
