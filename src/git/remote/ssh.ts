import { rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { RemoteContext } from "../run/options.ts";
import type { RemoteUrl } from "./remote-url.ts";

/** A host that does not answer within this is down; the deadline of the whole command still applies. */
const CONNECT_TIMEOUT_S = 10;

/**
 * Writes the ssh configuration of one connection: the checked address, the host's own name for its key, no prompts,
 * no forwarding, no proxy, and only the keys it may use. All of it is in one file that only the server's user can
 * read, gone when the command has ended; nothing of it is in the process list.
 * @param address the checked address, or null to let ssh resolve the name
 * @param key a private key in OpenSSH form, or null
 */
export async function openSsh(
  context: RemoteContext,
  remote: RemoteUrl,
  address: string | null,
  key: string | null,
): Promise<{ environment: Record<string, string>; dispose(): Promise<void> }> {
  const name = join(context.temporary, `ssh-${crypto.randomUUID()}`);
  const keyFile = key === null ? null : `${name}.key`;
  const asOperator = context.sshKeys === "operator" && key === null;
  const lines = [
    "Host *",
    ...(address ? [`HostName ${address}`] : []),
    // the form that known_hosts gives to a host on another port
    `HostKeyAlias ${remote.port === 22 ? remote.host : `[${remote.host}]:${remote.port}`}`,
    "BatchMode yes",
    `ConnectTimeout ${CONNECT_TIMEOUT_S}`,
    "ServerAliveInterval 15",
    "ServerAliveCountMax 4",
    "StrictHostKeyChecking accept-new",
    `UserKnownHostsFile ${[context.knownHosts, ...operatorKnownHosts(context)].map(quote).join(" ")}`,
    "UpdateHostKeys no",
    "ForwardAgent no",
    "ForwardX11 no",
    "ClearAllForwardings yes",
    "PermitLocalCommand no",
    "ProxyCommand none",
    "ControlMaster no",
    "ControlPath none",
    "EscapeChar none",
    ...identity(keyFile, asOperator),
    // the settings above take precedence
    ...(asOperator ? [`Include ${quote(join(homedir(), ".ssh", "config"))}`] : []),
  ];
  await writeFile(name, `${lines.join("\n")}\n`, { mode: 0o600 });
  // ssh refuses a key without a newline at its end
  if (keyFile && key) await writeFile(keyFile, key.endsWith("\n") ? key : `${key}\n`, { mode: 0o600 });
  const agent = asOperator ? process.env["SSH_AUTH_SOCK"] : undefined;
  return {
    environment: {
      GIT_SSH_COMMAND: `ssh -F ${shellQuote(name)}`,
      GIT_SSH_VARIANT: "ssh",
      ...(agent ? { SSH_AUTH_SOCK: agent } : {}),
    },
    async dispose() {
      await rm(name, { force: true });
      if (keyFile) await rm(keyFile, { force: true });
    },
  };
}

function operatorKnownHosts(context: RemoteContext): string[] {
  return context.sshKeys === "operator" ? [join(homedir(), ".ssh", "known_hosts")] : [];
}

function identity(keyFile: string | null, asOperator: boolean): string[] {
  if (asOperator) return [];
  const only = ["IdentityAgent none", "IdentitiesOnly yes", "PreferredAuthentications publickey"];
  return keyFile ? [`IdentityFile ${quote(keyFile)}`, ...only] : ["IdentityFile none", ...only];
}

/** A path in ssh_config: `%` and `${…}` would be expanded, and a quote cannot be written at all. */
function quote(path: string): string {
  if (/["\n]|\$\{/.test(path)) throw new Error(`ssh cannot use this path, rename it: ${path}`);
  return `"${path.replaceAll("%", "%%")}"`;
}

function shellQuote(path: string): string {
  return `'${path.replaceAll("'", "'\\''")}'`;
}
