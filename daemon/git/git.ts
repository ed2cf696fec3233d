import { asAgent, type Command } from "../process/children.ts";
import type { Settings } from "../settings.ts";
import type { Credential } from "./credential.ts";

/** Git's messages about failures for which a retry does not help. */
const PERMANENT: readonly [RegExp, string][] = [
  [
    /Remote branch .* not found|couldn't find remote ref/i,
    "the session's branch is not in the repository: it was deleted, or never pushed",
  ],
  [
    /returned error: 401|Authentication failed|could not read (?:Username|Password)/i,
    "the repository refused the credential",
  ],
  [/returned error: 403/i, "the repository refused access"],
  [/returned error: 404|repository '.*' not found/i, "the repository was not found"],
];

/** Variables of the sandbox that git inherits. */
const FORWARDED_VARIABLES =
  /^(?:PATH|TZ|(?:https?|all|no)_proxy|SSL_CERT_(?:FILE|DIR)|GIT_SSL_CAINFO|GIT_SSL_NO_VERIFY)$/i;

/**
 * The environment of the daemon's git: no configuration of the machine, no prompts, no hooks, and only HTTP. It contains
 * the credential, limited to one URL: an argument would appear in the process list, and a file would remain.
 */
export function gitEnvironment(
  { repoUrl, inherited, home }: Pick<Settings, "repoUrl" | "inherited" | "home">,
  credential: Credential | null,
): Record<string, string> {
  const settings: [string, string][] = [
    ["core.hooksPath", "/dev/null"],
    ["core.fsmonitor", "false"],
    ["protocol.version", "2"],
    ["http.followRedirects", "false"],
    // a connection that moves less than a kilobyte a second for a minute is dead
    ["http.lowSpeedLimit", "1000"],
    ["http.lowSpeedTime", "60"],
    ["advice.detachedHead", "false"],
    ["gc.auto", "0"],
    ["maintenance.auto", "0"],
    ["submodule.recurse", "false"],
    ...(credential
      ? ([[`http.${repoUrl}.extraHeader`, authorization(credential)]] satisfies [string, string][])
      : []),
  ];
  return {
    ...Object.fromEntries(Object.entries(inherited).filter(([name]) => FORWARDED_VARIABLES.test(name))),
    HOME: home,
    LC_ALL: "C.UTF-8",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "false",
    GIT_ALLOW_PROTOCOL: "http:https",
    GIT_CONFIG_COUNT: String(settings.length),
    ...Object.fromEntries(
      settings.flatMap(([key, value], index) => [
        [`GIT_CONFIG_KEY_${index}`, key],
        [`GIT_CONFIG_VALUE_${index}`, value],
      ]),
    ),
  };
}

/** A git command in the workspace, as the agent. */
export function workspaceCommand(
  settings: Settings,
  args: readonly string[],
  credential: Credential | null = null,
): Command {
  return {
    ...asAgent(settings, ["git", ...args]),
    environment: gitEnvironment(settings, credential),
    directory: settings.workspace,
  };
}

function authorization({ username, token }: Credential): string {
  return `Authorization: Basic ${Buffer.from(`${username}:${token}`).toString("base64")}`;
}

/** Why git failed, for a person, and whether the failure is permanent. */
export function readFailure(stderr: string, credential: Credential): { reason: string; permanent: boolean } {
  const known = PERMANENT.find(([pattern]) => pattern.test(stderr));
  if (known) return { reason: known[1], permanent: true };
  const lines = stderr.split("\n").filter((line) => /^(?:fatal|error): /.test(line));
  const words = (lines[0] ?? "it ended without a reason").replace(/^\w+: /, "");
  return { reason: redact(words, credential).slice(0, REASON_MAX), permanent: false };
}

const REASON_MAX = 300;

function redact(words: string, credential: Credential): string {
  const encoded = authorization(credential).split(" ").at(-1) ?? credential.token;
  return words
    .replaceAll(credential.token, "***")
    .replaceAll(encoded, "***")
    .replace(/\/\/[^/@\s]*@/g, "//");
}
