import { isIP } from "node:net";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import ipaddr from "ipaddr.js";
import { PROVIDERS, type ProviderName } from "./contract/session.ts";
import { SIGN_UP } from "./contract/sign-in.ts";

/** Where every sandbox may ask for models, by OpenAI's protocol. */
export interface ModelGateway {
  url: string;
  key: string;
  /** The one for sessions that choose none, and whose repository chooses none. */
  model: string | null;
}

/** An OAuth app of github.com, or of a GitHub Enterprise Server. */
export interface GithubApp {
  clientId: string;
  clientSecret: string;
  /** Where people sign in, without a trailing slash. */
  url: string;
  /** Where the API answers. */
  apiUrl: string;
}

/** The server's configuration (contract: Server configuration), read once from the environment. */
export interface Config {
  host: string;
  port: number;
  /** Where people and sandboxes reach this server; without a trailing slash or `/v1`. */
  publicUrl: string;
  /** Where a sandbox reaches this server, when that is elsewhere; in the same form. */
  sandboxApiUrl: string | null;
  dataDir: string;
  /** Null: the embedded Postgres in the data folder. */
  databaseUrl: string | null;
  /** 32 bytes; null: the key in the data folder. */
  masterKey: Buffer | null;
  allowPrivateRepos: boolean;
  /** Whose ssh keys git may use for a project without a stored one: the server user's own, or nobody's. */
  sshKeys: "operator" | "project";
  /** Git hosts whose API svc may use, beside the well-known ones. */
  gitHosts: GitHost[];
  /** Where sessions may run, the default first; none: docker when an engine answers, else local. */
  sandboxProviders: ProviderName[];
  /** Whether local sandboxes must be isolated, or must not be: as plain processes, never of root. */
  sandboxIsolation: (typeof ISOLATIONS)[number];
  /** Seconds after which a local sandbox whose server does not answer saves its work and ends. */
  orphanS: number;
  /** Seconds without use after which a session is stopped. */
  idleTimeoutS: number;
  /** The agent runtime's program for the local provider; null: looked for. */
  runtimeBin: string | null;
  /** Where `svc-api runtime install` fetches from. */
  npmRegistry: string;
  /** The image of sandboxes on Kubernetes; null: sessions there fail and say so. */
  kubernetesImage: string | null;
  /** Where sandboxes live on Kubernetes; null: the kubeconfig's namespace. */
  kubernetesNamespace: string | null;
  /** Where previews of sandboxes are served, `host[:port]`; null: below localhost, at the port of the API. */
  previewHost: string | null;
  /** Sessions that an account may have at once, by its tier; `*` is for every tier that is not named. */
  sessionCaps: ReadonlyMap<string, number>;
  /** Apps that an account may have in sandboxes at once. */
  appCap: number;
  /** The model gateway that sandboxes get, when the operator has one; a project may bring its own keys as secrets. */
  modelGateway: ModelGateway | null;
  /** Who may make a user by themselves. */
  signUp: (typeof SIGN_UP)[number];
  /** The OAuth app by which people sign in with GitHub, when the operator has one. */
  github: GithubApp | null;
  /** Host part of the merge commits' no-reply address. */
  noReplyHost: string;
  logLevel: LogLevel;
  /** Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count. */
  trustedProxies: AddressRange[];
  /** Where `GET /metrics` is served without a token; null: at the API, to owners. */
  metricsListen: { hostname: string; port: number } | null;
}

/** The addresses that begin with these bits. */
export type AddressRange = readonly [address: ipaddr.IPv4 | ipaddr.IPv6, bits: number];

interface GitHost {
  /** `https://<host>[:<port>]`, or `http://` where the operator says so. */
  origin: string;
  kind: (typeof GIT_HOST_KINDS)[number];
}

/** A unix socket's path is bound by the kernel: 104 bytes on macOS, 108 on Linux. */
const FOLDER_MAX_BYTES = 90;
/** What the kernel takes for a program's path (PATH_MAX). */
const PROGRAM_MAX_BYTES = 4096;
/** Sessions of an account whose tier nothing is said about (contract: Sessions, sandboxes, proxy). */
const SESSION_CAP = 20;
/** As many as sessions: each has a sandbox. */
const APP_CAP = 20;

/** `[registry/]path[:tag][@digest]` (OCI distribution: Pulling manifests). */
const IMAGE = /^[a-z0-9][\w.:/@-]{0,511}$/;
/** A DNS label (RFC 1123). */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

const ISOLATIONS = ["required", "none"] as const;
const GIT_HOST_KINDS = ["github", "gitlab", "gitea"] as const;
const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** A variable with a value that svc cannot work with. The message is one line and names the variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** Names of the variables that `readConfig` reads. */
type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks the configuration.
 * @param isRoot whether the server would run as root
 * @throws ConfigError for the first variable with a bad value.
 */
export function readConfig(env: Environment, isRoot = process.getuid?.() === 0): Config {
  const host = env["SVC_HOST"] || "127.0.0.1";
  const port = integer(env, "SVC_PORT", 8008, 0, 65535);
  return {
    host,
    port,
    publicUrl:
      baseUrl(env, "SVC_PUBLIC_URL") ??
      `http://${isLoopback(host) || isAnyAddress(host) ? "localhost" : bracketed(host)}:${port}`,
    sandboxApiUrl: baseUrl(env, "SVC_SANDBOX_API_URL"),
    dataDir: folder(env, "SVC_DATA_DIR", join(homedir(), ".local", "share", "svc")),
    databaseUrl: databaseUrl(env),
    masterKey: masterKey(env),
    allowPrivateRepos: flag(env, "SVC_ALLOW_PRIVATE_REPOS"),
    sshKeys: oneOf(env, "SVC_SSH_KEYS", ["operator", "project"], isLoopback(host) ? "operator" : "project"),
    gitHosts: gitHosts(env),
    sandboxProviders: sandboxProviders(env),
    sandboxIsolation: isolation(env, isRoot),
    orphanS: integer(env, "SVC_ORPHAN_MINUTES", 15, 1, 7 * 24 * 60) * 60,
    idleTimeoutS: integer(env, "SVC_IDLE_TIMEOUT", 3600, 10, 30 * 86_400),
    runtimeBin: env["SVC_RUNTIME_BIN"] ? folder(env, "SVC_RUNTIME_BIN", "", PROGRAM_MAX_BYTES) : null,
    npmRegistry: baseUrl(env, "SVC_NPM_REGISTRY") ?? "https://registry.npmjs.org",
    kubernetesImage: matching(env, "SVC_KUBERNETES_IMAGE", IMAGE, "the name of a container image"),
    kubernetesNamespace: matching(env, "SVC_KUBERNETES_NAMESPACE", NAMESPACE, "the name of a namespace"),
    previewHost: previewHost(env),
    sessionCaps: sessionCaps(env),
    appCap: integer(env, "SVC_APP_CAP", APP_CAP, 0, 100_000),
    modelGateway: modelGateway(env),
    signUp: oneOf(env, "SVC_SIGN_UP", SIGN_UP, "invited"),
    github: githubApp(env),
    noReplyHost: hostName(env, "SVC_NO_REPLY_HOST", "svc.invalid"),
    logLevel: oneOf(env, "SVC_LOG_LEVEL", LOG_LEVELS, "info"),
    trustedProxies: trustedProxies(env),
    metricsListen: metricsListen(env),
  };
}

function sandboxProviders(env: Environment): ProviderName[] {
  const words = (env["SVC_SANDBOX_PROVIDER"] ?? "").split(/[\s,]+/).filter(Boolean);
  const known = words.map((word) => PROVIDERS.find((name) => name === word));
  if (known.includes(undefined) || new Set(words).size < words.length) {
    throw new ConfigError(
      `SVC_SANDBOX_PROVIDER must be one of ${PROVIDERS.join(", ")}, or several with commas between them, and is "${env["SVC_SANDBOX_PROVIDER"]}".`,
    );
  }
  return known.flatMap((name) => name ?? []);
}

function isolation(env: Environment, isRoot: boolean): Config["sandboxIsolation"] {
  const chosen = oneOf(env, "SVC_SANDBOX_ISOLATION", ISOLATIONS, "required");
  if (chosen === "none" && isRoot) {
    throw new ConfigError(
      "SVC_SANDBOX_ISOLATION=none is refused for root, since an agent could then do whatever root can: " +
        "install bubblewrap and unset the variable, or start svc as another user.",
    );
  }
  return chosen;
}

function integer(env: Environment, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new ConfigError(`${name} must be a whole number from ${min} to ${max}, and is "${text}".`);
  }
  return value;
}

function flag(env: Environment, name: string): boolean {
  const text = (env[name] ?? "").toLowerCase();
  if (["", "0", "false", "no"].includes(text)) return false;
  if (["1", "true", "yes"].includes(text)) return true;
  throw new ConfigError(`${name} must be 1 or 0, and is "${env[name]}".`);
}

function oneOf<const T extends string>(env: Environment, name: string, values: readonly T[], fallback: T): T {
  const text = env[name];
  if (!text) return fallback;
  const value = values.find((candidate) => candidate === text);
  if (value === undefined)
    throw new ConfigError(`${name} must be one of ${values.join(", ")}, and is "${text}".`);
  return value;
}

function folder(env: Environment, name: string, fallback: string, maxBytes = FOLDER_MAX_BYTES): string {
  const path = env[name] || fallback;
  if (!isAbsolute(path)) throw new ConfigError(`${name} must be an absolute path, and is "${path}".`);
  if (Buffer.byteLength(path) > maxBytes)
    throw new ConfigError(`${name} must be at most ${maxBytes} bytes long, and is "${path}".`);
  return path.length > 1 ? path.replace(/\/+$/, "") : path;
}

function matching(env: Environment, name: string, pattern: RegExp, says: string): string | null {
  const text = env[name];
  if (!text) return null;
  if (!pattern.test(text)) throw new ConfigError(`${name} must be ${says}, and is "${text}".`);
  return text;
}

function baseUrl(env: Environment, name: string): string | null {
  const text = env[name];
  if (!text) return null;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new ConfigError(`${name} must be an http or https URL without credentials, query or fragment.`);
  }
  return url.href.replace(/\/+$/, "").replace(/\/v1$/, "");
}

function databaseUrl(env: Environment): string | null {
  const text = env["DATABASE_URL"];
  if (!text) return null;
  // The value holds a password: it is never repeated in the message.
  if (!/^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? "")) {
    throw new ConfigError("DATABASE_URL must be a postgres:// URL.");
  }
  return text;
}

function masterKey(env: Environment): Buffer | null {
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

function gitHosts(env: Environment): GitHost[] {
  const entries = (env["SVC_GIT_HOSTS"] ?? "").split(/[\s,]+/).filter(Boolean);
  const hosts = entries.map(readGitHost);
  const twice = hosts.find(({ origin }, index) => hosts.findIndex((host) => host.origin === origin) < index);
  if (twice) throw new ConfigError(`SVC_GIT_HOSTS names ${twice.origin} twice.`);
  return hosts;
}

function readGitHost(entry: string): GitHost {
  const [, place = "", wanted = ""] = /^([^=]+)=([a-z]+)$/.exec(entry) ?? [];
  const url = URL.parse(/^https?:\/\//i.test(place) ? place : `https://${place}`);
  const kind = GIT_HOST_KINDS.find((known) => known === wanted);
  // nothing but scheme, host and port: no credentials, path, query or fragment
  if (
    !kind ||
    !url ||
    url.href !== `${url.origin}/` ||
    !/^(?:[a-z0-9._-]+|\[[0-9a-f:.]+\])$/.test(url.hostname)
  ) {
    throw new ConfigError(
      `SVC_GIT_HOSTS must hold entries such as git.example.com=gitlab (or github, gitea), and holds "${entry.replace(/[^=/]*@/, "")}".`,
    );
  }
  return { origin: url.origin, kind };
}

function previewHost(env: Environment): string | null {
  const text = env["SVC_PREVIEW_HOST"];
  if (!text) return null;
  if (!/^[a-z0-9]([a-z0-9.-]{0,190}[a-z0-9])?(:[1-9]\d{0,4})?$/.test(text)) {
    throw new ConfigError(
      `SVC_PREVIEW_HOST must be a host name, with a port if it is not the usual one, and is "${text}".`,
    );
  }
  return text;
}

/** `20`, or `free=2,team=50`; both together as `20,free=2`. */
function sessionCaps(env: Environment): ReadonlyMap<string, number> {
  const caps = new Map([["*", SESSION_CAP]]);
  for (const entry of (env["SVC_SESSION_CAP"] ?? "").split(/[\s,]+/).filter(Boolean)) {
    const [, tier = "*", digits] = /^(?:([a-z0-9_-]{1,64})=)?(\d{1,6})$/.exec(entry) ?? [];
    if (digits === undefined) {
      throw new ConfigError(
        `SVC_SESSION_CAP must be a number, or entries such as free=2 with a comma between them, and holds "${entry}".`,
      );
    }
    caps.set(tier, Number(digits));
  }
  return caps;
}

function modelGateway(env: Environment): ModelGateway | null {
  const [url, key] = [env["SVC_LLM_BASE_URL"], env["SVC_LLM_API_KEY"]];
  const model = env["SVC_LLM_MODEL"] || null;
  if (!url && !key && model !== null)
    throw new ConfigError(
      "SVC_LLM_MODEL is a model of the gateway: set SVC_LLM_BASE_URL and SVC_LLM_API_KEY too.",
    );
  if (!url && !key) return null;
  if (!url || !key) throw new ConfigError("SVC_LLM_BASE_URL and SVC_LLM_API_KEY belong together: set both.");
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? ""))
    throw new ConfigError("SVC_LLM_BASE_URL must be an http or https URL.");
  if (model !== null && !/^[\x21-\x7e]{1,256}$/.test(model))
    throw new ConfigError("SVC_LLM_MODEL must be a model's name.");
  return { url, key, model };
}

function githubApp(env: Environment): GithubApp | null {
  const [clientId, clientSecret] = [env["SVC_GITHUB_CLIENT_ID"], env["SVC_GITHUB_CLIENT_SECRET"]];
  const own = baseUrl(env, "SVC_GITHUB_URL");
  if (!clientId && !clientSecret && own === null) return null;
  // the secret is never repeated in a message
  if (!clientId || !clientSecret) {
    throw new ConfigError("SVC_GITHUB_CLIENT_ID and SVC_GITHUB_CLIENT_SECRET belong together: set both.");
  }
  for (const [name, value] of [
    ["SVC_GITHUB_CLIENT_ID", clientId],
    ["SVC_GITHUB_CLIENT_SECRET", clientSecret],
  ] as const) {
    if (!/^[\x21-\x7e]{1,256}$/.test(value))
      throw new ConfigError(`${name} must be as GitHub shows it, without blanks.`);
  }
  const url = own ?? "https://github.com";
  const apiUrl = url === "https://github.com" ? "https://api.github.com" : `${url}/api/v3`;
  return { clientId, clientSecret, url, apiUrl };
}

function trustedProxies(env: Environment): AddressRange[] {
  const entries = (env["SVC_TRUSTED_PROXIES"] ?? "").split(/[\s,]+/).filter(Boolean);
  return entries.map((entry) => {
    const range = entry.includes("/") ? entry : `${entry}/${entry.includes(":") ? 128 : 32}`;
    if (isIP(entry.replace(/\/.*/, "")) === 0 || !ipaddr.isValidCIDR(range)) {
      throw new ConfigError(
        `SVC_TRUSTED_PROXIES must hold addresses or ranges such as 10.0.0.0/8 with commas between them, and holds "${entry}".`,
      );
    }
    return ipaddr.parseCIDR(range);
  });
}

function metricsListen(env: Environment): Config["metricsListen"] {
  const text = env["SVC_METRICS_LISTEN"];
  if (!text) return null;
  const [, hostname = "", digits = ""] = /^(.+):(\d{1,5})$/.exec(text) ?? [];
  const plain = hostname.replace(/^\[(.*)\]$/, "$1");
  if (!(plain === "localhost" || isIP(plain) !== 0) || Number(digits) > 65_535) {
    throw new ConfigError(
      `SVC_METRICS_LISTEN must be an address and a port such as 127.0.0.1:9100, and is "${text}".`,
    );
  }
  return { hostname: plain, port: Number(digits) };
}

function hostName(env: Environment, name: string, fallback: string): string {
  const text = env[name] || fallback;
  if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text))
    throw new ConfigError(`${name} must be a host name.`);
  return text;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\./.test(host);
}

function isAnyAddress(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

function bracketed(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}
