/**
 * Other names of commands: those of gh, glab, git, docker, kubectl, heroku, fly and of coding agents. `cli/lookup.ts` applies
 * them. Words with an answer instead are in `cli/hints.ts`.
 */

/** Other names of groups, which run. The singular and the plural of each group's name do, too. */
export const GROUP_NAMES: Readonly<Record<string, string>> = {
  ...words(
    "cr",
    "pr",
    "prs",
    "mr",
    "mrs",
    "pull-request",
    "pull-requests",
    "merge-request",
    "merge-requests",
  ),
  ...words("cr", "change-request", "change-requests"),
  ...words("alias", "aliases"),
};

/** Commands that run without their group. */
export const SHORTHANDS: Readonly<Record<string, readonly [group: string, command: string]>> = {
  logs: ["sessions", "logs"],
  diff: ["cr", "diff"],
  comment: ["cr", "comment"],
};

/** Verbs that run in a group with exactly one command of these names. */
export const SYNONYMS: Readonly<Record<string, readonly string[]>> = {
  ...same(["ls"], "list"),
  ...same(["info", "show"], "info show view get describe inspect"),
  ...same(["new", "add", "create"], "new create add"),
  ...same(["rm"], "remove delete del destroy"),
  ...same(["edit"], "update modify"),
  ...same(["logs", "log"], "logs log tail"),
  ...same(["stop"], "kill terminate"),
};

/** Verbs that only read. What is suggested for one must only read, too. */
export const READING: ReadonlySet<string> = new Set(
  "ls list info show view get describe inspect cat logs log tail status".split(" "),
);
/** Verbs that delete. They are suggested for a typo of a longer word only. */
export const DELETING: ReadonlySet<string> = new Set(
  "rm remove delete del destroy unset uninstall disconnect".split(" "),
);

/** Programs whose command lines are answered with the command of svc. */
export const PROGRAMS: ReadonlySet<string> = new Set(
  "gh glab hub docker kubectl heroku fly flyctl".split(" "),
);

/** Commands of the specification and of other versions, which this version may not have. */
export const PLANNED: ReadonlySet<string> = new Set([
  ...["self-host", "update", "uninstall", "channels", "connectors", "usage", "webhooks", "models"],
  ...["network", "demo", "checks", "budgets", "audit", "members", "accounts", "tokens", "rules"],
]);

/** Usual names of projects, although commands begin with them. */
export const PROJECT_NAMES: ReadonlySet<string> = new Set(["web"]);

/** A record with the same value for each line. */
export function words(answer: string, ...lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => [line, answer]));
}

function same(names: readonly string[], verbs: string): Record<string, readonly string[]> {
  return Object.fromEntries(verbs.split(" ").map((verb) => [verb, names]));
}
