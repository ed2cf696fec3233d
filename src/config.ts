import { availableParallelism, homedir } from "node:os";
import { join } from "node:path";
import { requireOwnPreviewDomain } from "./config/preview-domain.ts";
import {
  type AddressRange,
  databaseUrl,
  defaultModel,
  egressLimit,
  type GitHost,
  type GithubApp,
  gitHosts,
  githubApp,
  type Isolation,
  isolation,
  type MailSender,
  type ModelUpstream,
  mailSender,
  masterKey,
  metricsListen,
  modelUpstream,
  previewHost,
  releasesDir,
  type SocketAddress,
  sandboxProviders,
  sessionCaps,
  trustedProxies,
} from "./config/settings.ts";
import {
  baseUrl,
  type Environment,
  flag,
  folder,
  hostName,
  integer,
  matching,
  oneOf,
} from "./config/values.ts";
import type { EgressPolicy } from "./contract/egress/policy.ts";
import type { ProviderName } from "./contract/session.ts";
import { SIGN_UP } from "./contract/sign-in.ts";

export type { AddressRange, GithubApp } from "./config/settings.ts";
export { ConfigError } from "./config/values.ts";

/** The server's configuration (contract: Server configuration), read once from the environment. */
export interface Config {
  host: string;
  port: number;
  /** The URL of this server for people and sandboxes, without a trailing slash or `/v1`. */
  publicUrl: string;
  /** Whether SVC_PUBLIC_URL sets it, or it follows from host and port, by which others may not reach the server. */
  publicUrlSource: "setting" | "address";
  /** The URL of this server for sandboxes, when it differs; in the same form. */
  sandboxApiUrl: string | null;
  dataDir: string;
  /** The releases of the command line that this server offers; null: none. */
  releasesDir: string | null;
  /** Null: the embedded Postgres in the data folder. */
  databaseUrl: string | null;
  /** 32 bytes; null: the key in the data folder. */
  masterKey: Buffer | null;
  allowPrivateRepos: boolean;
  /** Whether requests to URLs that projects name may use `http://` and private addresses. */
  allowPrivateAddresses: boolean;
  /** For a project without a stored ssh key: whether git may use the keys of the user that runs the server. */
  sshKeys: "operator" | "project";
  /** Git hosts whose API svc may use, in addition to the well-known ones. */
  gitHosts: GitHost[];
  /** Where sessions may run, the default first. Empty: docker when an engine answers, else local. */
  sandboxProviders: ProviderName[];
  sandboxIsolation: Isolation;
  /** The most open policy that projects may have, and what their sandboxes may always connect to. */
  egress: EgressPolicy;
  /** Seconds after which a local sandbox whose server does not answer saves its work and ends. */
  orphanS: number;
  /** Sandboxes that this server starts at once; the other starts wait. */
  startsAtOnce: number;
  /** Seconds without use after which a session is stopped. */
  idleTimeoutS: number;
  /** Seconds after which a session whose agent waits for a person is stopped. */
  waitingS: number;
  /** Path of the agent runtime for the local provider; null: svc searches for it. */
  runtimeBin: string | null;
  /** The file with the agents that the operator adds; null: none. */
  runtimesFile: string | null;
  /** The registry that `svc-api runtime install` downloads from. */
  npmRegistry: string;
  /** The OCI runtime of sandboxes in Docker, as the engine names it; null: the engine's default. */
  dockerRuntime: string | null;
  /** The image of sandboxes on Kubernetes; null: sessions there fail with an error that names the variable. */
  kubernetesImage: string | null;
  /** The namespace of sandboxes on Kubernetes; null: the kubeconfig's. */
  kubernetesNamespace: string | null;
  /** The RuntimeClass of sandboxes on Kubernetes; null: the cluster's default. */
  kubernetesRuntimeClass: string | null;
  /** Parent host of previews, `host[:port]`; null: localhost at the port of the API. */
  previewHost: string | null;
  /** Sessions that an account may run at once, by tier; `*` applies to all other tiers. */
  sessionCaps: ReadonlyMap<string, number>;
  /** Apps that an account may run at once. */
  appCap: number;
  /** Whether manifests may open apps to the public. */
  publicApps: boolean;
  /** Previews of change requests that a project may run at once; the others wait. */
  previewCap: number;
  /** The size of an app's volume above which its deployment is stopped. */
  volumeMaxBytes: number;
  /** Checks that an account may run at once; the others wait. */
  checkCap: number;
  /** The file with the upstreams of the model gateway. */
  modelsFile: string | null;
  /** The upstream of SVC_LLM_BASE_URL; it never leaves the server. */
  modelUpstream: ModelUpstream | null;
  /** The gateway's model for sessions when neither the session nor its repository sets one. */
  defaultModel: string | null;
  /** Requests a minute to the model gateway. */
  modelRates: { session: number; project: number };
  /** Days after which entries of the audit log are deleted. */
  auditDays: number;
  /** Who may sign up. */
  signUp: (typeof SIGN_UP)[number];
  /** The OAuth app for sign-in with GitHub. */
  github: GithubApp | null;
  /** The base URL of Slack's Web API, without a trailing slash. */
  slackApiUrl: string;
  /** Where e-mails are sent from, and by which SMTP server; null: none are. */
  mail: MailSender | null;
  /** Host part of the merge commits' no-reply address. */
  noReplyHost: string;
  logLevel: LogLevel;
  /** Proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` svc trusts. */
  trustedProxies: AddressRange[];
  /** Serves `GET /metrics` without a token; null: the API serves it to owners. */
  metricsListen: SocketAddress | null;
}

/** The kernel's limit for a path (PATH_MAX). */
const PROGRAM_MAX_BYTES = 4096;
/** The same as the default for sessions: each app has a sandbox too. */
const APP_CAP = 20;
/** A project may have many open change requests, and few of them are looked at. */
const PREVIEW_CAP = 5;
/** A database of a small team. */
const VOLUME_MAX_BYTES = 1024 ** 3;
const TIB = 1024 ** 4;
/** Each keeps a processor busy for minutes. */
const CHECK_CAP = 4;
/** A start waits for the network and the disk, too. */
const STARTS_PER_PROCESSOR = 2;

const NPM_REGISTRY = "https://registry.npmjs.org";
const SLACK_API = "https://slack.com/api";

/** A year, and the weeks of an audit of that year. */
const AUDIT_DAYS = 400;

/** An agent with several subagents makes fewer than a hundred calls a minute. */
const MODEL_RATES = { session: 300, project: 1_500 };

/** `[registry/]path[:tag][@digest]` (OCI distribution: Pulling manifests). */
const IMAGE = /^[a-z0-9][\w.:/@-]{0,511}$/;
/** As the engine lists it: `runsc`, `io.containerd.runc.v2`. */
const RUNTIME = /^[A-Za-z0-9][\w.-]{0,127}$/;
/** A DNS label (RFC 1123). */
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** A DNS subdomain (RFC 1123). */
const RUNTIME_CLASS = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

const LOG_LEVELS = ["trace", "debug", "info", "warn", "error", "silent"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/**
 * Reads and checks the configuration.
 * @param isRoot whether the server runs as root
 * @throws ConfigError for the first variable with an invalid value
 */
export function readConfig(env: Environment, isRoot = process.getuid?.() === 0): Config {
  const host = env["SVC_HOST"] || "127.0.0.1";
  const port = integer(env, "SVC_PORT", 8008, 0, 65535);
  const publicUrl =
    baseUrl(env, "SVC_PUBLIC_URL", "https://svc.example.com") ??
    `http://${isLoopback(host) || isAnyAddress(host) ? "localhost" : bracketed(host)}:${port}`;
  const previews = previewHost(env);
  requireOwnPreviewDomain(env, publicUrl, previews);
  return {
    host,
    port,
    publicUrl,
    publicUrlSource: env["SVC_PUBLIC_URL"] ? "setting" : "address",
    sandboxApiUrl: baseUrl(env, "SVC_SANDBOX_API_URL", "http://host.docker.internal:8008"),
    dataDir: folder(env, "SVC_DATA_DIR", join(homedir(), ".local", "share", "svc")),
    releasesDir: releasesDir(env),
    databaseUrl: databaseUrl(env),
    masterKey: masterKey(env),
    allowPrivateRepos: flag(env, "SVC_ALLOW_PRIVATE_REPOS"),
    allowPrivateAddresses: flag(env, "SVC_ALLOW_PRIVATE_ADDRESSES"),
    sshKeys: oneOf(env, "SVC_SSH_KEYS", ["operator", "project"], isLoopback(host) ? "operator" : "project"),
    gitHosts: gitHosts(env),
    sandboxProviders: sandboxProviders(env),
    sandboxIsolation: isolation(env, isRoot),
    egress: egressLimit(env),
    orphanS: integer(env, "SVC_ORPHAN_MINUTES", 15, 1, 7 * 24 * 60) * 60,
    startsAtOnce: integer(env, "SVC_STARTS_AT_ONCE", availableParallelism() * STARTS_PER_PROCESSOR, 1, 1_000),
    idleTimeoutS: integer(env, "SVC_IDLE_TIMEOUT", 3600, 10, 30 * 86_400),
    waitingS: integer(env, "SVC_WAITING_MINUTES", 50, 1, 30 * 24 * 60) * 60,
    runtimeBin: env["SVC_RUNTIME_BIN"] ? folder(env, "SVC_RUNTIME_BIN", "", PROGRAM_MAX_BYTES) : null,
    runtimesFile: env["SVC_RUNTIMES_FILE"] ? folder(env, "SVC_RUNTIMES_FILE", "", PROGRAM_MAX_BYTES) : null,
    npmRegistry: baseUrl(env, "SVC_NPM_REGISTRY", NPM_REGISTRY) ?? NPM_REGISTRY,
    dockerRuntime: matching(
      env,
      "SVC_DOCKER_RUNTIME",
      RUNTIME,
      "the name of a runtime of the Docker engine, such as runsc",
    ),
    kubernetesImage: matching(
      env,
      "SVC_KUBERNETES_IMAGE",
      IMAGE,
      "the name of a container image, such as registry.example.com/svc/sandbox:1.2",
    ),
    kubernetesNamespace: matching(
      env,
      "SVC_KUBERNETES_NAMESPACE",
      NAMESPACE,
      "the name of a namespace, such as svc-sandboxes",
    ),
    kubernetesRuntimeClass: matching(
      env,
      "SVC_KUBERNETES_RUNTIME_CLASS",
      RUNTIME_CLASS,
      "the name of a RuntimeClass, such as gvisor",
    ),
    previewHost: previews,
    sessionCaps: sessionCaps(env),
    checkCap: integer(env, "SVC_CHECK_CAP", CHECK_CAP, 0, 100_000),
    publicApps: flag(env, "SVC_PUBLIC_APPS", true),
    appCap: integer(env, "SVC_APP_CAP", APP_CAP, 0, 100_000),
    previewCap: integer(env, "SVC_PREVIEW_CAP", PREVIEW_CAP, 0, 100_000),
    volumeMaxBytes: integer(env, "SVC_VOLUME_MAX_BYTES", VOLUME_MAX_BYTES, 1024 ** 2, TIB),
    modelsFile: env["SVC_MODELS_FILE"] ? folder(env, "SVC_MODELS_FILE", "", PROGRAM_MAX_BYTES) : null,
    modelUpstream: modelUpstream(env),
    defaultModel: defaultModel(env),
    modelRates: modelRates(env),
    auditDays: integer(env, "SVC_AUDIT_DAYS", AUDIT_DAYS, 1, 36_500),
    signUp: oneOf(env, "SVC_SIGN_UP", SIGN_UP, "invited"),
    github: githubApp(env),
    slackApiUrl: baseUrl(env, "SVC_SLACK_API_URL", SLACK_API) ?? SLACK_API,
    mail: mailSender(env),
    noReplyHost: hostName(env, "SVC_NO_REPLY_HOST", "svc.invalid"),
    logLevel: oneOf(env, "SVC_LOG_LEVEL", LOG_LEVELS, "info"),
    trustedProxies: trustedProxies(env),
    metricsListen: metricsListen(env),
  };
}

function modelRates(env: Environment): Config["modelRates"] {
  return {
    session: integer(env, "SVC_LLM_SESSION_RATE", MODEL_RATES.session, 1, 1_000_000),
    project: integer(env, "SVC_LLM_PROJECT_RATE", MODEL_RATES.project, 1, 1_000_000),
  };
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
