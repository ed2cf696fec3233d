import type { Credential } from "../git.ts";
import type { GitHost, GitHostKind } from "../run/options.ts";
import type { HostApi } from "./api.ts";
import { gitea } from "./gitea.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";

/** A repository as the API of its host knows it. */
export interface HostedRepository {
  api: HostApi;
  /** Where the API is, without a trailing slash. */
  base: string;
  /** The repository's path below `base`. */
  path: string;
  credential: Credential;
  /** Whether the operator named the host: then its addresses are the operator's choice, private ones too. */
  trusted: boolean;
}

/**
 * Finds the API of a repository's host. There is one when the host is well known or named by the operator, the
 * repository is reached over its web address, and its stored credential is a token. No host is ever asked what it is.
 * @param own the operator's hosts, which come before the well-known ones
 * @param address the repository's URL, checked
 */
export function findHost(
  own: readonly GitHost[],
  address: string,
  credential: Credential | null,
): HostedRepository | null {
  const url = URL.parse(address);
  // an ssh key is not one line, and neither is anything else that could end a header
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

/** What stands between the slashes of `/owner/name.git`, decoded; null when a part could be taken for something else. */
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
