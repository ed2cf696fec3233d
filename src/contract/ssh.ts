/**
 * The keys of one SSH connection into a sandbox: JSON, the first line of the standard input of `svc-agent ssh-server`. The
 * client makes both, so no side trusts a key that it sees for the first time.
 */
export interface SshKeys {
  /** The private key of the server, in OpenSSH's format. */
  host_key: string;
  /** The public key that may sign in: `ssh-ed25519 AAAA…`. */
  client_key: string;
}

/** The program in a sandbox that serves SSH on its standard input and output. */
export const SSH_SERVER = ["svc-agent", "ssh-server"] as const;
