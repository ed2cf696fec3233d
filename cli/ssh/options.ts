import type { System } from "../system.ts";
import { shellWord } from "../text.ts";
import { knownHostsFile } from "./known-hosts.ts";

/** How ssh reaches a sandbox. */
export interface Way {
  /** The name of a stored host of svc; null: the one of the environment. */
  server: string | null;
  project: string;
  /** How ssh names the sandbox, as `svc sessions ssh --stdio` reads it: a session's id, or ssh's own token for the name. */
  name: string;
  identityFile: string;
}

/** The options by which OpenSSH reaches a sandbox, as lines of ssh_config(5). */
export function sshOptions(
  system: Pick<System, "env" | "cwd" | "self">,
  { server, project, name, identityFile }: Way,
): string[] {
  const host = server === null ? [] : ["--host", server];
  const command = [...system.self, ...host, "--project", project, "sessions", "ssh", "--stdio"];
  const proxy = command.map((word) => shellWord(percent(word))).join(" ");
  return [
    `ProxyCommand ${proxy} '${name}'`,
    "User svc",
    `IdentityFile ${quoted(identityFile)}`,
    "IdentitiesOnly yes",
    `UserKnownHostsFile ${quoted(knownHostsFile(system))}`,
    "StrictHostKeyChecking yes",
    "ForwardAgent no",
    // svc reconnects by itself
    "ServerAliveInterval 0",
  ];
}

/** ssh expands tokens that begin with a percent sign. */
const percent = (word: string) => word.replaceAll("%", "%%");
const quoted = (path: string) => `"${percent(path)}"`;
