import { statSync } from "node:fs";
import { isIP } from "node:net";
import { dirname, join } from "node:path";
import ipaddr from "ipaddr.js";
import { EGRESS_ALLOW_MAX, EGRESS_MODES, type EgressPolicy, readEntry } from "../contract/egress/policy.ts";
import { PROVIDERS, type ProviderName } from "../contract/session.ts";
import { baseUrl, ConfigError, type Environment, folder, list, oneOf } from "./values.ts";

/** The upstream of the model gateway that SVC_LLM_BASE_URL names. It speaks OpenAI's protocol. */
export interface ModelUpstream {
  url: string;
  key: string;
}

/** An OAuth app on github.com or a GitHub Enterprise Server. */
export interface GithubApp {
  clientId: string;
  clientSecret: string;
  /** The URL where people sign in, without a trailing slash. */
  url: string;
  /** The base URL of the API, without a trailing slash. */
  apiUrl: string;
}

/** An address range in CIDR form. */
export type AddressRange = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

export interface GitHost {
  /** `https://<host>[:<port>]`, or `http://` when the operator sets that. */
  origin: string;
  kind: (typeof GIT_HOST_KINDS)[number];
}

/** Whether local sandboxes must be isolated (`required`) or run as plain processes (`none`, refused for root). */
export type Isolation = (typeof ISOLATIONS)[number];

export interface SocketAddress {
  hostname: string;
  port: number;
}

/** Who sends e-mails, and by which server. */
export interface MailSender {
  /** `smtp://` or `smtps://`, with the credentials. */
  url: string;
  /** `svc@example.com`, or `svc <svc@example.com>`. */
  from: string;
}

const GITHUB_URL = "https://github.com";
const ISOLATIONS = ["required", "none"] as const;
const GIT_HOST_KINDS = ["github", "gitlab", "gitea"] as const;
/** The limit for accounts of every tier without a limit of its own (contract: Sessions, sandboxes, proxy). */
const SESSION_CAP = 20;

export function sandboxProviders(env: Environment): ProviderName[] {
  const words = list(env, "SVC_SANDBOX_PROVIDER");
  const known = words.map((word) => PROVIDERS.find((name) => name === word));
  if (known.includes(undefined) || new Set(words).size < words.length) {
    throw new ConfigError(
      `SVC_SANDBOX_PROVIDER must be one of ${PROVIDERS.join(", ")}, or several separated by commas, not "${env["SVC_SANDBOX_PROVIDER"]}".`,
    );
  }
  return known.flatMap((name) => name ?? []);
}

export function isolation(env: Environment, isRoot: boolean): Isolation {
  const chosen = oneOf(env, "SVC_SANDBOX_ISOLATION", ISOLATIONS, "required");
  if (chosen === "none" && isRoot) {
    throw new ConfigError(
      "SVC_SANDBOX_ISOLATION=none is refused for root, because an agent could then do whatever root can. " +
        "Unset the variable and install bubblewrap, or start svc as another user.",
    );
  }
  return chosen;
}

/** Both variables, or neither. */
export function mailSender(env: Environment): MailSender | null {
  const [url, from] = [env["SVC_SMTP_URL"] ?? "", env["SVC_MAIL_FROM"] ?? ""];
  if (url === "" && from === "") return null;
  if (url === "" || from === "")
    throw new ConfigError("SVC_SMTP_URL and SVC_MAIL_FROM must both be set, or neither.");
  const server = URL.parse(url);
  // the message must not repeat the value, which may hold a password
  if (!server || !/^smtps?:$/.test(server.protocol) || server.hostname === "")
    throw new ConfigError(
      "SVC_SMTP_URL must be an smtp:// or smtps:// URL, such as smtps://user:password@mail.example.com.",
    );
  if (!/^(?:[^<>@\r\n]{0,200}<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(from))
    throw new ConfigError(
      `SVC_MAIL_FROM must be an address, such as svc@example.com or "svc <svc@example.com>", not "${from}".`,
    );
  return { url, from };
}

export function databaseUrl(env: Environment): string | null {
  const text = env["DATABASE_URL"];
  if (!text) return null;
  // the message must not repeat the value, which holds a password
  if (!/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? "")) {
    throw new ConfigError(
      "DATABASE_URL must be a postgres:// URL, such as postgres://svc:password@db.example.com/svc.",
    );
  }
  return text;
}

export function masterKey(env: Environment): Buffer | null {
  const text = env["SVC_MASTER_KEY"];
  if (!text) return null;
  const key = /^[0-9a-f]{64}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  if (key.length !== 32) {
    throw new ConfigError(
      "SVC_MASTER_KEY must be 32 bytes in hex or base64, as `openssl rand -hex 32` prints them.",
    );
  }
  return key;
}

export function gitHosts(env: Environment): GitHost[] {
  const hosts = list(env, "SVC_GIT_HOSTS").map(readGitHost);
  const twice = hosts.find(({ origin }, index) => hosts.findIndex((host) => host.origin === origin) < index);
  if (twice) throw new ConfigError(`SVC_GIT_HOSTS names ${twice.origin} twice.`);
  return hosts;
}

function readGitHost(entry: string): GitHost {
  const [, address = "", wanted = ""] = /^([^=]+)=([a-z]+)$/.exec(entry) ?? [];
  const url = URL.parse(/^https?:\/\//i.test(address) ? address : `https://${address}`);
  const kind = GIT_HOST_KINDS.find((known) => known === wanted);
  // scheme, host and port only: no credentials, path, query or fragment
  if (
    !kind ||
    !url ||
    url.href !== `${url.origin}/` ||
    !/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(url.hostname)
  ) {
    throw new ConfigError(
      `SVC_GIT_HOSTS must be a list of entries such as git.example.com=gitlab (or github, gitea), not "${entry.replace(/[^=/]*@/, "")}".`,
    );
  }
  return { origin: url.origin, kind };
}

export function previewHost(env: Environment): string | null {
  const text = env["SVC_PREVIEW_HOST"];
  if (!text) return null;
  if (!/^[a-z0-9]([a-z0-9.-]{0,190}[a-z0-9])?(:[1-9]\d{0,4})?$/.test(text)) {
    throw new ConfigError(
      `SVC_PREVIEW_HOST must be a host name such as preview.example.com, or host:port, not "${text}".`,
    );
  }
  return text;
}

/** The main module of a compiled program. */
const COMPILED = /^(?:\/\$bunfs\/|[A-Z]:[\\/]~BUN[\\/])/;
/** The kernel's limit for a path (PATH_MAX). */
const PATH_MAX_BYTES = 4096;

/** The folder of SVC_RELEASES_DIR, which must exist; else `releases` beside this program, now or later. */
export function releasesDir(env: Environment): string | null {
  if (env["SVC_RELEASES_DIR"]) {
    const path = folder(env, "SVC_RELEASES_DIR", "", PATH_MAX_BYTES);
    if (isFolder(path)) return path;
    throw new ConfigError(`SVC_RELEASES_DIR must be a folder of releases. There is no folder "${path}".`);
  }
  return COMPILED.test(Bun.main) ? join(dirname(process.execPath), "releases") : null;
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

/** Reads `20`, `free=2,team=50`, or both: `20,free=2`. */
export function sessionCaps(env: Environment): ReadonlyMap<string, number> {
  const caps = new Map([["*", SESSION_CAP]]);
  for (const entry of list(env, "SVC_SESSION_CAP")) {
    const [, tier = "*", digits] = /^(?:([a-z0-9_-]{1,64})=)?(\d{1,6})$/.exec(entry) ?? [];
    if (digits === undefined) {
      throw new ConfigError(
        `SVC_SESSION_CAP must be a number such as 20, or entries such as free=2 separated by commas, not "${entry}".`,
      );
    }
    caps.set(tier, Number(digits));
  }
  return caps;
}

export function modelUpstream(env: Environment): ModelUpstream | null {
  const [url, key] = [env["SVC_LLM_BASE_URL"], env["SVC_LLM_API_KEY"]];
  if (!url && !key) return null;
  if (!url || !key)
    throw new ConfigError("SVC_LLM_BASE_URL and SVC_LLM_API_KEY must be set together. Set both.");
  if (!/^[\x21-\x7e]{1,4096}$/.test(key))
    throw new ConfigError("SVC_LLM_API_KEY must be printable ASCII without blanks.");
  const parsed = URL.parse(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.password || parsed.search) {
    throw new ConfigError(
      "SVC_LLM_BASE_URL must be an http or https URL without credentials or query, such as https://api.openai.com/v1.",
    );
  }
  return { url: parsed.href.replace(/\/+$/, ""), key };
}

/** The model of sessions that do not choose one. */
export function defaultModel(env: Environment): string | null {
  const model = env["SVC_LLM_MODEL"] || null;
  if (model === null) return null;
  if (!env["SVC_LLM_BASE_URL"] && !env["SVC_MODELS_FILE"])
    throw new ConfigError(
      "SVC_LLM_MODEL names a model of the gateway. Set SVC_LLM_BASE_URL and SVC_LLM_API_KEY, or SVC_MODELS_FILE, too.",
    );
  if (!/^[\x21-\x7e]{1,256}$/.test(model))
    throw new ConfigError("SVC_LLM_MODEL must be the name of a model, such as gpt-5.");
  return model;
}

export function githubApp(env: Environment): GithubApp | null {
  const [clientId, clientSecret] = [env["SVC_GITHUB_CLIENT_ID"], env["SVC_GITHUB_CLIENT_SECRET"]];
  const own = baseUrl(env, "SVC_GITHUB_URL", GITHUB_URL);
  if (!clientId && !clientSecret && own === null) return null;
  // the message must not repeat the secret
  if (!clientId || !clientSecret) {
    throw new ConfigError(
      "SVC_GITHUB_CLIENT_ID and SVC_GITHUB_CLIENT_SECRET must be set together. Set both.",
    );
  }
  for (const [name, value] of [
    ["SVC_GITHUB_CLIENT_ID", clientId],
    ["SVC_GITHUB_CLIENT_SECRET", clientSecret],
  ] as const) {
    if (!/^[\x21-\x7e]{1,256}$/.test(value))
      throw new ConfigError(`${name} must be the value that GitHub shows, without blanks.`);
  }
  const url = own ?? GITHUB_URL;
  const apiUrl = url === GITHUB_URL ? "https://api.github.com" : `${url}/api/v3`;
  return { clientId, clientSecret, url, apiUrl };
}

export function trustedProxies(env: Environment): AddressRange[] {
  return list(env, "SVC_TRUSTED_PROXIES").map((entry) => {
    const range = entry.includes("/") ? entry : `${entry}/${entry.includes(":") ? 128 : 32}`;
    if (isIP(entry.replace(/\/.*/, "")) === 0 || !ipaddr.isValidCIDR(range)) {
      throw new ConfigError(
        `SVC_TRUSTED_PROXIES must be a list of addresses or ranges such as 10.0.0.0/8 separated by commas, not "${entry}".`,
      );
    }
    return ipaddr.parseCIDR(range);
  });
}

export function egressLimit(env: Environment): EgressPolicy {
  const allow = list(env, "SVC_EGRESS_ALLOW").map((text) => {
    const entry = readEntry(text);
    if (entry === null)
      throw new ConfigError(
        `SVC_EGRESS_ALLOW must be a list of host names such as registry.example.com or *.example.com:8443 separated by commas, not "${text}".`,
      );
    return entry;
  });
  if (allow.length > EGRESS_ALLOW_MAX)
    throw new ConfigError(`SVC_EGRESS_ALLOW must have at most ${EGRESS_ALLOW_MAX} entries.`);
  return { mode: oneOf(env, "SVC_EGRESS", EGRESS_MODES, "open"), allow };
}

export function metricsListen(env: Environment): SocketAddress | null {
  const text = env["SVC_METRICS_LISTEN"];
  if (!text) return null;
  const [, hostname = "", digits = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const plain = hostname.replace(/^\[(.*)\]$/, "$1");
  if (!(plain === "localhost" || isIP(plain) !== 0) || Number(digits) > 65_535) {
    throw new ConfigError(
      `SVC_METRICS_LISTEN must be an address and a port such as 127.0.0.1:9100, not "${text}".`,
    );
  }
  return { hostname: plain, port: Number(digits) };
}
