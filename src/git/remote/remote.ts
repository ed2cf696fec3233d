import { resolveHost } from "../../lib/address.ts";
import type { Credential, RemoteRepository } from "../git.ts";
import { baseEnvironment, hasProxy, type Setting, withSettings } from "../run/environment.ts";
import type { RemoteContext } from "../run/options.ts";
import { publicAddresses } from "./address.ts";
import { type RemoteUrl, readRemoteUrl } from "./remote-url.ts";
import { openSsh } from "./ssh.ts";

/** A remote that was just checked, with everything that one git process needs to reach it. */
export interface Remote {
  /** The URL for git, without credentials. */
  url: string;
  scheme: RemoteUrl["scheme"];
  /** For messages: the host, or "the server's disk". */
  label: string;
  environment: Record<string, string>;
  /** Secrets to redact from messages. */
  secrets: string[];
  /** Removes the key file, if one was written. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Checks a URL as a user gave it: its form and, unless private addresses are allowed, its host's addresses.
 * @throws SvcError `invalid_repo_url`, `repo_not_allowed`, `repo_unreachable` (the host has no address)
 */
export async function checkRemote(
  context: RemoteContext,
  url: string,
): Promise<{ url: string; credential: Credential | null }> {
  const remote = readRemoteUrl(url, context.allowPrivate);
  await addressesOf(context, remote);
  return { url: remote.url, credential: remote.credential };
}

/**
 * Checks a stored URL again and pins it to the addresses that were checked, so that a changed answer (DNS
 * rebinding) has no effect. With an operator's proxy, the proxy resolves http(s) names: there its own
 * rules must keep svc off private addresses.
 * @throws SvcError like `checkRemote`
 */
export async function openRemote(context: RemoteContext, repo: RemoteRepository): Promise<Remote> {
  const remote = readRemoteUrl(repo.url, context.allowPrivate);
  const addresses = await addressesOf(context, remote);
  const credential = repo.credential ?? remote.credential;
  const settings: Setting[] = [[`protocol.${remote.scheme}.allow`, "always"]];
  const environment: Record<string, string> = {
    ...baseEnvironment(context.home),
    GIT_ALLOW_PROTOCOL: remote.scheme,
  };
  const secrets: string[] = [];
  let url = remote.url;
  let dispose = async () => {};
  if (remote.scheme === "https" || remote.scheme === "http") {
    // a literal address has nothing to pin
    if (addresses && addresses[0] !== remote.host && !hasProxy())
      settings.push(["http.curloptResolve", pin(remote, addresses)]);
    if (credential) settings.push(authorization(remote, credential, secrets));
  } else if (remote.scheme === "ssh") {
    const ssh = await openSsh(context, remote, addresses?.[0] ?? null, credential?.token ?? null);
    Object.assign(environment, ssh.environment);
    if (credential) secrets.push(...credential.token.split("\n").filter((line) => line.length > 20));
    dispose = ssh.dispose;
  } else if (remote.scheme === "git" && addresses?.[0]) {
    url = remote.withHost(addresses[0]);
  }
  return {
    url,
    scheme: remote.scheme,
    label: remote.host || "the server's disk",
    environment: withSettings(environment, settings),
    secrets,
    [Symbol.asyncDispose]: () => dispose(),
  };
}

/** Null where no address is forbidden: then nothing needs to be pinned, and names may come from /etc/hosts or ssh. */
async function addressesOf(context: RemoteContext, remote: RemoteUrl): Promise<string[] | null> {
  if (context.allowPrivate || remote.scheme === "file") return null;
  return await publicAddresses(remote.host, context.resolve ?? resolveHost, context.limits.resolveMs);
}

function pin(remote: RemoteUrl, addresses: string[]): string {
  const list = addresses.map((address) => (address.includes(":") ? `[${address}]` : address));
  return `${remote.host}:${remote.port}:${list.join(",")}`;
}

/** The forms in which a credential for http(s) goes over the wire, and may appear in messages of the host. */
export function secretsOf(credential: Credential): string[] {
  const { token } = credential;
  return [basicOf(credential), token, encodeURIComponent(token), Buffer.from(token).toString("base64")];
}

function basicOf({ username, token }: Credential): string {
  return Buffer.from(`${username}:${token}`).toString("base64");
}

/** A header for this origin only: curl would not send it elsewhere, and redirects are refused anyway. */
function authorization(remote: RemoteUrl, credential: Credential, secrets: string[]): Setting {
  const basic = basicOf(credential);
  secrets.push(...secretsOf(credential));
  const origin = new URL(remote.url).origin;
  return [`http.${origin}/.extraHeader`, `Authorization: Basic ${basic}`];
}
