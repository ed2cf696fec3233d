import type { Credential } from "../git.ts";
import type { GitHost, GitHostKind } from "../run/options.ts";
import type { HostApi } from "./api.ts";
import { gitea } from "./gitea.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";

/** A repository in the API of its host. */
export interface HostedRepository {
  api: HostApi;
  /** The URL of the API, without a trailing slash. */
  base: string;
  /** The repository's path below `base`. */
  path: string;
  credential: Credential;
  /** Whether the operator configured the host: then private addresses are allowed. */
  trusted: boolean;
}

/**
 * Finds the API of a repository's host: the host must be well known or configured by the operator, and the repository
 * must have an http(s) URL and a token as its credential. Hosts are never probed.
 * @param own the operator's hosts, which take precedence over the well-known ones
 * @param address the repository's URL, checked
 */
export function findHost(
  own: readonly GitHost[],
  address: string,
  credential: Credential | null,
): HostedRepository | null {
  const url = URL.parse(address);
  // excludes ssh keys, and anything else that could end a header
  if (!url || !credential || !TOKEN.test(credential.token)) return null;
  const named = own.find(({ origin }) => origin === url.origin);
  const host = named ?? WELL_KNOWN.find(({ origin }) => origin === url.origin);
  if (!host) return null;
  const api = APIS[host.kind];
  const segments = segmentsOf(url.pathname);
  const path = segments && api.repository(segments);
  return path ? { api, base: api.base(host.origin), path, credential, trusted: named !== undefined } : null;
}

const TOKEN = /^[\x21-\x7e]+$/;

const APIS: Readonly<Record<GitHostKind, HostApi>> = { github, gitlab, gitea };

const WELL_KNOWN: readonly GitHost[] = [
  { origin: "https://github.com", kind: "github" },
  { origin: "https://gitlab.com", kind: "gitlab" },
  { origin: "https://codeberg.org", kind: "gitea" },
  { origin: "https://gitea.com", kind: "gitea" },
];

/** The decoded parts of `/owner/name.git`; null when a part is ambiguous. */
function segmentsOf(pathname: string): string[] | null {
  const trimmed = pathname.replace(/^\/+|\/+$/g, "").replace(/\.git$/, "");
  try {
    const segments = trimmed.split("/").map(decodeURIComponent);
    return segments.every((segment) => SEGMENT.test(segment) && !/^\.{1,2}$/.test(segment)) ? segments : null;
  } catch {
    return null;
  }
}

const SEGMENT = /^[^/\\\u0000-\u001f\u007f]+$/;
