import { editDistance, nearest } from "../src/contract/nearest.ts";
import { type Command, type Group, isGroup, lastWord, nameOf, namesOf } from "./spec.ts";

type Table = readonly (Group | Command)[];

/**
 * The hint for a first word that is not a command but is like one: a word of other tools, a command without its group, or a
 * typo. Such a word is never the name of a new project, and nothing runs.
 * @param rest the other words of the line
 */
export function hintFor(table: Table, word: string, rest: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  if (Object.hasOwn(GUESSES, wanted)) return suggest(table, GUESSES[wanted] ?? "", rest);
  const inGroups = groupCommands(table, wanted);
  if (inGroups.length > 0) return `Did you mean ${inGroups.slice(0, SHOWN).map(quoted).join(" or ")}?`;
  if (PROJECT_NAMES.has(wanted)) return undefined;
  const near = nearest(wanted, namesIn(table)) ?? [...PLANNED].find((name) => isTypo(wanted, name));
  return near === undefined ? undefined : suggest(table, `svc ${near}`, rest);
}

/** Suggestions in one hint. */
const SHOWN = 4;
/** A short word is near too many others. */
const isTypo = (word: string, name: string): boolean => name.length > 4 && editDistance(word, name) <= 2;

/** Usual names of projects, although commands begin with them. */
const PROJECT_NAMES: ReadonlySet<string> = new Set(["web"]);

/** Commands of the specification and of other versions, which this version may not have. */
export const PLANNED: ReadonlySet<string> = new Set([
  ...["self-host", "update", "uninstall", "channels", "connectors", "usage", "webhooks", "models"],
  ...["network", "demo", "checks", "budgets", "audit", "members", "tokens", "rules"],
]);

const NO_SHELL =
  "There is no shell in a sandbox. `svc sessions chat <id>` talks to its agent, `svc sessions preview <id>` opens a port.";

/**
 * Words of git, gh, docker and other tools, with the command that does it. A command begins with `svc` or `git`; anything
 * else is a sentence.
 */
export const GUESSES: Readonly<Record<string, string>> = {
  // change requests
  ...words(
    "svc cr",
    "pr prs mr mrs crs pull-request merge-request change-request change-requests review reviews",
  ),
  // signing in and out
  ...words("svc login", "auth signin sign-in authenticate register signup sign-up account"),
  ...words("svc logout", "signout sign-out"),
  ...words("svc whoami", "me user who id identity"),
  // resources under another name
  ...words("svc projects", "project proj workspace workspaces"),
  ...words("svc repo", "repository repositories repos"),
  ...words("svc sessions", "session agent agents sandbox sandboxes task tasks job jobs"),
  ...words("svc secrets", "secret vars variables vault"),
  ...words("svc env", "environment dotenv"),
  ...words("svc triggers", "trigger cron schedule schedules automations"),
  ...words("svc apps", "app deployment deployments site sites"),
  ...words("svc hosts", "host remote remotes server servers context contexts config configuration settings"),
  // verbs
  ...words("svc ship", "push publish upload"),
  ...words("svc ship --commit", "commit save"),
  ...words("svc init", "setup set-up scaffold bootstrap"),
  ...words("svc help", "man commands docs"),
  ...words("svc completion", "completions autocomplete"),
  ...words("svc self-host", "selfhost"),
  ...words("svc self-host start", "serve up daemon"),
  ...words("svc update", "upgrade self-update"),
  ...words("svc uninstall", "purge"),
  // git does it
  ...words("git clone", "clone"),
  ...words("git pull", "pull"),
  ...words("git fetch", "fetch sync"),
  ...words("git switch", "checkout"),
  ...words("git log", "history"),
  status:
    "For a session: `svc sessions info <id>`. For a change request: `svc cr show <cr>`. For your sign-in: `svc whoami`.",
  ...words(NO_SHELL, "exec shell ssh bash"),
  branch: "To list branches: `svc repo branches`. To create one: `git switch -c <name>`.",
  ...words("svc has no issues; a change request has comments: `svc cr comments <cr>`.", "issue issues"),
  test: 'svc runs no tests. An agent in a session does: `svc sessions new --prompt "Run the tests"`.',
  build: "Apps are built when they are deployed: `svc apps deploy <slug>`.",
  install: "`svc init` sets up a repository; `svc projects new` connects one.",
};

function words(command: string, list: string): Record<string, string> {
  return Object.fromEntries(list.split(" ").map((word) => [word, command]));
}

function suggest(table: Table, guess: string, rest: readonly string[]): string {
  const [program, name = "", ...more] = guess.split(" ");
  if (program !== "git" && program !== "svc") return guess;
  if (program === "svc" && PLANNED.has(name) && !namesIn(table).includes(name)) return notYet(guess);
  const group = table.find((each): each is Group => isGroup(each) && each.name === name);
  const command = group?.commands.find(({ spec }) => namesOf(spec).includes(rest[0] ?? ""));
  const full = command && more.length === 0 ? `${guess} ${lastWord(command.spec)}` : guess;
  return `Did you mean \`${full}\`?`;
}

/** The sentence for a command that this version does not have. */
export const notYet = (command: string): string => `\`${command}\` is not part of this version of svc.`;

/** `svc sessions logs` and `svc apps logs` for `logs`. Names and documented aliases before guesses. */
function groupCommands(table: Table, word: string): string[] {
  const all = table.filter(isGroup).flatMap((group) => group.commands.map(({ spec }) => ({ group, spec })));
  const exact = all.filter(({ spec }) => [lastWord(spec), ...(spec.aliases ?? [])].includes(word));
  const found = exact.length > 0 ? exact : all.filter(({ spec }) => namesOf(spec).includes(word));
  return found.map(({ group, spec }) => `svc ${group.name} ${lastWord(spec)}`);
}

const namesIn = (table: Table): string[] =>
  table.flatMap((each) => {
    if (isGroup(each)) return [nameOf(each)];
    return each.spec.hidden || each.spec.anyName ? [] : namesOf(each.spec);
  });

const quoted = (text: string): string => `\`${text}\``;
