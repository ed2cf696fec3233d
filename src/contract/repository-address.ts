/** Ports that a URL need not name. */
const DEFAULT_PORTS: Readonly<Record<string, string>> = { http: "80", https: "443", ssh: "22", git: "9418" };

/**
 * One spelling of a repository's address, to compare the URLs of remotes and of projects: `git@host:a/b`,
 * `ssh://git@host/a/b.git` and `https://user:token@HOST/a/b/` are the same repository. Never sent or shown.
 * @returns null for anything that is not an address of a repository, such as a relative path
 */
export function repositoryKey(address: string): string | null {
  const text = address.trim();
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/is.exec(text) ?? [];
  if (scheme === "") return text.startsWith("/") ? fileKey(text) : scpKey(text);
  const protocol = scheme.toLowerCase();
  if (protocol === "file") return fileKey(decoded(rest.replace(/^localhost(?=\/)/i, "")));
  if (!Object.hasOwn(DEFAULT_PORTS, protocol)) return null;
  // parsed as https, since only then unusual forms of a host become canonical
  const url = URL.parse(`https://${rest}`);
  if (url === null) return null;
  const port = /^[^/]*:(\d+)(?:\/|$)/.exec(rest)?.[1] ?? DEFAULT_PORTS[protocol];
  return keyOf(url.hostname, port === DEFAULT_PORTS[protocol] ? "" : `:${port}`, decoded(url.pathname));
}

/** `user@host:path`. One letter before the colon is a drive of Windows. */
function scpKey(text: string): string | null {
  const [, host = "", path = ""] = /^(?:[^@/\s]+@)?(\[[^\]/]+\]|[^:/@[\]\s]{2,}):(?!:)(.+)$/.exec(text) ?? [];
  const url = host === "" ? null : URL.parse(`https://${host}/`);
  return url === null ? null : keyOf(url.hostname, "", path);
}

function keyOf(host: string, port: string, path: string): string | null {
  const name = path.replace(/^\/+|\/+$/g, "").replace(/\.git$/i, "");
  return host === "" || name === "" ? null : `${host.replace(/\.$/, "")}${port}/${name}`;
}

/** On a disk, a folder with and one without `.git` are two repositories. */
function fileKey(path: string): string | null {
  const name = path.replace(/\/+$/, "");
  return name === "" ? null : `file:${name}`;
}

/** The text unchanged if its escapes are not valid. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
