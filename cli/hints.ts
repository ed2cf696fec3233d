/** The answers to words and flags of other tools that are no commands of svc. `cli/guesses.ts` and `cli/flags.ts` apply them. */
import { words } from "./words.ts";

const START = "svc sessions new --prompt <text>";
const SHELL =
  "`svc sessions shell <id>` opens a shell in a sandbox, `svc sessions exec <id> -- <command>` runs one command, and `svc sessions chat <id>` talks to its agent.";
const APPS =
  "Apps are `[[apps]]` in svc.toml on the default branch, so a change request adds or removes one.";
const TRIGGERS =
  "Triggers are `[[triggers]]` in svc.toml on the default branch, so a change request adds or removes one.";
const NO_ISSUES = "svc has no issues; a change request has comments: `svc cr comments <cr>`.";
const REVIEW =
  "To approve: `svc cr approve <cr>`. To block the merge: `svc cr request-changes <cr> -b <text>`. To comment: `svc cr comment <cr> <text>`. To read: `svc cr show <cr>` and `svc cr diff <cr>`.";

/**
 * The answer to words that are not a command: the command that does it, which begins with `svc` or `git`, or a sentence. Two
 * words have precedence over one. A line of exactly these words does not run, even if it could.
 */
export const HINTS: Readonly<Record<string, string>> = {
  // change requests
  review: REVIEW,
  reviews: "svc cr",
  ...words("svc cr approve <cr> --undo", "cr revoke", "cr unapprove"),
  ...words("svc cr request-changes <cr> -b <text>", "cr reject", "cr block", "request-changes"),
  ...words("svc cr comment <cr> <text>", "cr note", "note"),
  ...words("svc cr ready <cr> --undo", "cr draft", "cr wip"),
  ...words(
    "A change request cannot be deleted. `svc cr close <cr>` closes it without merging it.",
    "cr rm",
    "cr remove",
    "cr delete",
    "cr abandon",
  ),
  ...words("On its branch: `git fetch origin`, then `git merge origin/<base>` and `git push`.", "cr rebase"),
  ...words("svc cr checks <cr>", "cr ci", "cr pipeline", "run watch", "run view"),
  ...words("svc cr checkout <cr>", "co"),
  checkout: "For a change request: `svc cr checkout <cr>`. For a branch: `git switch <name>`.",
  show: "For a change request: `svc cr show <cr>`. For a session: `svc sessions info <id>`.",
  // checks
  ...words("svc checks ls", "run list", "run ls", "check list", "check ls", "ci", "pipeline", "pipelines"),
  "check report": "svc checks report <name> <state>",
  // signing in and out
  ...words("svc login", "auth", "signin", "sign-in", "authenticate", "register", "signup", "sign-up"),
  ...words("svc logout", "signout", "sign-out", "auth logout"),
  ...words("svc whoami", "me", "who", "id", "identity", "auth status", "auth whoami", "auth list"),
  ...words("svc never prints a token. `svc whoami` shows whose it is.", "auth token"),
  ...words("svc tokens", "token", "pat", "access-token", "access-tokens", "deploy-key", "deploy-keys"),
  ...words(
    "svc accounts",
    "org",
    "orgs",
    "organization",
    "organizations",
    "team",
    "teams",
    "tenant",
    "group",
    "groups",
  ),
  ...words("svc members", "user", "users", "people", "collaborator", "collaborators", "access"),
  ...words("svc members invite <email>", "invite", "invitation", "invitations"),
  // resources under another name
  ...words("svc projects", "proj", "workspace", "workspaces"),
  ...words("svc projects new", "repo create", "repo new", "create", "new-project"),
  ...words("svc projects ls", "repo list", "list", "ls"),
  ...words("svc projects clone <project>", "clone", "repo clone"),
  ...words("svc projects info", "repo view", "info"),
  ...words("svc projects edit", "repo edit", "repo rename"),
  ...words(
    "svc projects link <project>",
    "projects use",
    "projects switch",
    "projects select",
    "use",
    "switch",
  ),
  ...words("svc projects open", "open", "dashboard"),
  ...words("svc repo", "repository", "repositories", "repos"),
  ...words(
    "svc sessions",
    "agent",
    "agents",
    "agent-task",
    "agent-tasks",
    "sandbox",
    "sandboxes",
    "task",
    "tasks",
  ),
  ...words(
    "svc sessions",
    "job",
    "jobs",
    "pod",
    "pods",
    "codespace",
    "codespaces",
    "container",
    "containers",
  ),
  ...words("svc secrets", "vars", "var", "variable", "variables", "vault"),
  ...words("svc secrets ls", "env list", "env ls", "env show", "env get", "config list", "config get"),
  ...words("svc secrets set NAME=VALUE", "env set", "env add", "config set", "config add"),
  ...words(
    "Values of secrets are never shown. `svc secrets ls` lists their names.",
    "secrets get",
    "secrets show",
    "secrets view",
    "secrets cat",
    "secrets reveal",
  ),
  ...words("svc env", "environment", "dotenv"),
  ...words("svc triggers", "cron", "crons", "schedule", "schedules", "automations", "workflow", "workflows"),
  ...words("svc triggers disable <slug>", "triggers pause", "triggers stop"),
  ...words("svc triggers enable <slug>", "triggers resume", "triggers start"),
  ...words(TRIGGERS, "triggers new", "triggers create", "triggers add", "triggers rm", "triggers remove"),
  ...words(TRIGGERS, "triggers delete", "triggers edit", "triggers update"),
  ...words("svc apps", "deployment", "deployments", "site", "sites"),
  ...words(
    APPS,
    "apps new",
    "apps create",
    "apps add",
    "apps rm",
    "apps remove",
    "apps delete",
    "apps destroy",
  ),
  ...words("svc apps history <slug>", "releases", "history"),
  ...words("svc apps rollback <slug>", "rollback", "apps promote"),
  ...words("svc webhooks", "hook", "hooks"),
  ...words("svc labels", "label", "tag", "tags"),
  ...words("svc hosts", "remote", "remotes", "server", "servers", "context", "contexts"),
  config: "For environment variables: `svc secrets`. For the servers that svc connects to: `svc hosts`.",
  ...words(
    "For a server of svc: `svc hosts`. For environment variables: `svc secrets`.",
    "configuration",
    "settings",
  ),
  // sessions
  ...words("svc sessions ls", "ps"),
  ...words("svc status", "top", "dash", "overview"),
  ...words(START, "new", "spawn"),
  run: `To start an agent: \`${START}\`. To fire a trigger: \`svc triggers fire <slug>\`.`,
  ...words(
    `For a new session: \`${START}\`. For one that is stopped: \`svc sessions restart <id>\`. For a server: \`svc self-host start\`.`,
    "start",
    "sessions start",
  ),
  ...words("svc sessions chat", "attach", "talk", "continue", "claude", "codex"),
  resume:
    "To continue a conversation: `svc sessions chat <id>`. For a sandbox that is stopped: `svc sessions restart <id>`.",
  ...words("svc sessions prompt <id> <text>", "ask", "send", "tell"),
  ...words("svc sessions saved <id>", "sessions changes"),
  ...words(
    "To wait for an answer: `svc sessions prompt <id> <text> --wait`. To see whether the agent works: `svc sessions info <id>`.",
    "sessions wait",
    "sessions watch",
    "wait",
    "watch",
  ),
  ...words(SHELL, "shell", "ssh", "bash", "sessions ssh"),
  exec: `To give an agent a task: \`${START}\`. To run a command in a sandbox: \`svc sessions exec <id> -- <command>\`.`,
  log: "For a session: `svc sessions logs <id>`. For an app: `svc apps logs <slug>`. For commits: `svc repo commits`.",
  tail: "For a session: `svc sessions logs <id> -f`. For an app: `svc apps logs <slug> -f`.",
  history:
    "For a conversation: `svc sessions conversation <id>`. For commits: `svc repo commits`, or `git log`.",
  // verbs
  ...words("svc ship", "push", "publish", "upload", "launch"),
  ...words("svc ship --commit", "commit", "save"),
  ...words("svc init", "setup", "set-up", "scaffold", "bootstrap"),
  ...words("svc help", "man", "commands", "docs"),
  ...words("svc completion", "completions", "autocomplete"),
  ...words("svc self-host", "selfhost"),
  ...words("svc self-host start", "serve", "up", "daemon"),
  ...words("svc update", "upgrade", "self-update"),
  ...words("svc uninstall", "purge"),
  // git does it
  ...words("git pull", "pull"),
  ...words("git fetch", "fetch", "sync"),
  branch: "To list branches: `svc repo branches`. To create one: `git switch -c <name>`.",
  ...words(NO_ISSUES, "issue", "issues"),
  ...words("svc has no releases; an app has deployments: `svc apps info <slug>`.", "release"),
  ...words("svc has no gists or project boards.", "gist"),
  ...words(
    "An extension is a program svc-<name> on the PATH: `svc help extensions`.",
    "extension",
    "extensions",
    "plugin",
    "plugins",
  ),
  test: 'svc runs no tests. An agent in a session does: `svc sessions new --prompt "Run the tests"`.',
  build: "Apps are built when they are deployed: `svc apps deploy <slug>`.",
  install: "`svc init` sets up a repository; `svc projects new` connects one.",
};

const NO_SHELL_ALIAS =
  "An alias is a command of svc. To run another program, name it svc-<name> and put it on the PATH.";
const FILES = "`svc cr files <cr>` lists the changed files.";
const RESUME = `To continue: \`svc sessions chat <id>\`. To start: \`${START}\`.`;

/**
 * Flags of other tools, by the command and the flag, or by the flag alone: the flag that does it, in commands that have it, or
 * a sentence.
 */
export const FLAG_HINTS: Readonly<Record<string, string>> = {
  ...words("--status all", "--all", "-a", "-A"),
  ...words("--yes", "--force", "-f"),
  ...words("--project <id-or-slug>", "--repo", "-R"),
  ...words(
    "Pass `--title <text>`; `--body-file -` reads the description.",
    "svc cr open --fill",
    "svc cr open -f",
  ),
  "svc cr show --comments": "`svc cr comments <cr>` lists the comments.",
  ...words(FILES, "svc cr diff --name-status"),
  ...words("`svc projects open` opens the project's page in the browser.", "--web", "-w"),
  ...words(
    "Write `NAME=VALUE`, or `NAME=-` to read the value.",
    "svc secrets set --body",
    "svc secrets set -b",
  ),
  ...words(
    RESUME,
    "svc -p",
    "svc --prompt",
    "svc --print",
    "svc --resume",
    "svc -r",
    "svc --continue",
    "svc -c",
  ),
  ...words(NO_SHELL_ALIAS, "svc alias set --shell", "svc alias set -s"),
  "-v": "`svc version` prints the version.",
};

/** The answer to an argument that a command does not take. */
export const EXTRA_HINTS: Readonly<Record<string, string>> = {
  "svc sessions new": `Did you mean \`${START}\`?`,
  "svc cr status": "To show one: `svc cr show <cr>`. Its checks: `svc cr checks <cr>`.",
  "svc alias set": "Put the command in quotes: svc alias set co 'cr checkout'",
  "svc login": "To name the server: `svc login --api <url>`.",
  "svc ship": "To deploy an app: `svc apps deploy <slug>`.",
  "svc mcp":
    "`svc mcp` serves svc's tools, without arguments. For the services of agents: `svc connectors ls`.",
};
