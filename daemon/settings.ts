import { isAbsolute } from "node:path";
import { DAEMON_PORT, type DaemonApp, type DaemonEnv, RUNTIME_PORT } from "../src/contract/daemon.ts";
import { isReservedName, SECRET_NAME } from "../src/contract/environment.ts";
import { UUID } from "../src/contract/id.ts";
import { arrayOf, field, isObject, parseJson } from "../src/contract/json.ts";
import {
  type CustomRuntime,
  DEFAULT_MODE,
  DEFAULT_RUNTIME,
  isPermissionMode,
  isRuntimeName,
  PERMISSION_MODES,
  type PermissionMode,
  RUNTIME_NAMES,
  type RuntimeName,
} from "../src/contract/runtimes.ts";
import type { DaemonSetup } from "../src/contract/setup.ts";
import { readApp } from "./app/settings.ts";
import { NOT_INHERITED } from "./not-inherited.ts";
import { type Earlier, readEarlier } from "./record/earlier.ts";
import { readSetup } from "./setup/settings.ts";

/** The settings that the daemon reads from its environment at start (spec 2.8). */
export interface Settings {
  projectId: string;
  sessionId: string;
  branch: string;
  /** The gateway's clone URL, without credentials. */
  repoUrl: string;
  /** Ends in `/v1`. */
  apiUrl: string;
  /** The sandbox service key. No process that the daemon starts gets it. */
  token: string;
  host: string;
  port: number;
  /** A unix socket on which the daemon listens too; null: none. */
  socket: string | null;
  /** Loopback ports that the daemon relays to unix sockets outside the sandbox. */
  relays: readonly { port: number; path: string }[];
  runtimePort: number;
  /** The folder of the clone. */
  workspace: string;
  /** Home of the agent runtime, outside the repository. */
  home: string;
  /** The runtime's program; null: it is searched for in PATH. */
  runtimeBin: string | null;
  /** The agent of the session. */
  runtime: RuntimeName | CustomRuntime;
  /** A folder whose `node_modules` a project's tools and plugins import from. It may be missing. */
  plugins: string;
  /** The user of the runtime's processes; null: the daemon's own user. */
  user: User | null;
  /** The wrapper command of every process that runs as the agent. */
  wrap: readonly string[];
  agent: string | null;
  model: string | null;
  mode: PermissionMode;
  effort: string | null;
  /** Whether to open the conversation at boot. */
  opensConversation: boolean;
  /** The first prompt, which is sent at boot; null: none, or svc sends it from its queue. */
  prompt: string | null;
  autoClone: boolean;
  /** Seconds without a response from the server after which the daemon saves and exits; null: no limit. */
  orphanS: number | null;
  /** The commit of the saved work that is restored at boot. */
  restore: string | null;
  /** What happened in the session's earlier sandboxes. */
  earlier: Earlier;
  /** The app that is deployed in this sandbox; null: the sandbox is an agent's. */
  app: DaemonApp | null;
  /** The command to run before the agent starts; null: none. */
  setup: DaemonSetup | null;
  /** The port on which the app must listen, if not its own. */
  appPort: number | null;
  secrets: DaemonEnv;
  /** The variables that the runtime inherits in addition to the secrets. */
  inherited: Readonly<Record<string, string>>;
}

export interface User {
  uid: number;
  gid: number;
}

/** A variable is missing or invalid. The message is one line and names the variable. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads and checks the environment.
 * @throws SettingsError for the first variable that is missing or invalid
 */
export function readSettings(env: Environment, self: User | null): Settings {
  const names = secretNames(env);
  const opensConversation = env["SVC_BOOTSTRAP_OPENCODE_SESSION"] === "1";
  const settings: Settings = {
    projectId: matching(env, "SVC_PROJECT_ID", UUID, "a UUID"),
    sessionId: matching(env, "SVC_SESSION_ID", UUID, "a UUID"),
    branch: matching(env, "SVC_BRANCH_NAME", BRANCH, "the name of a branch"),
    repoUrl: url(env, "SVC_REPO_URL"),
    apiUrl: url(env, "SVC_API_URL"),
    token: secret(env, "SVC_TOKEN"),
    host: matching(env, "SVC_SERVICE_HOST", HOST, "an IP address", "0.0.0.0"),
    port: port(env, "SVC_SERVICE_PORT", 0, DAEMON_PORT),
    socket: env["SVC_SERVICE_SOCKET"] ? folder(env, "SVC_SERVICE_SOCKET", "") : null,
    relays: relays(env),
    runtimePort: port(env, "SVC_RUNTIME_PORT", 1, RUNTIME_PORT),
    workspace: folder(env, "SVC_WORKSPACE", "/workspace"),
    home: folder(env, "SVC_RUNTIME_HOME", "/opt/svc/home"),
    runtime: runtime(env),
    runtimeBin: env["SVC_RUNTIME_BIN"] ? folder(env, "SVC_RUNTIME_BIN", "") : null,
    plugins: folder(env, "SVC_RUNTIME_PLUGINS", "/opt/svc/plugins"),
    user: user(env, self),
    wrap: wrap(env),
    agent: env["SVC_AGENT_NAME"] || null,
    model: env["SVC_OPENCODE_MODEL"] || null,
    mode: permissionMode(env),
    effort: env["SVC_REASONING_EFFORT"] || null,
    opensConversation,
    prompt: opensConversation && env["SVC_PROMPT_QUEUE"] !== "1" ? env["SVC_INITIAL_PROMPT"] || null : null,
    autoClone: env["SVC_PROJECT_AUTO_CLONE"] === "1",
    restore: env["SVC_RESTORE_COMMIT"]
      ? matching(env, "SVC_RESTORE_COMMIT", OBJECT_ID, "a commit's id")
      : null,
    earlier: readEarlier(env),
    orphanS: env["SVC_ORPHAN_SECONDS"]
      ? Number(matching(env, "SVC_ORPHAN_SECONDS", SECONDS, "seconds"))
      : null,
    app: app(env),
    setup: setup(env),
    appPort: env["SVC_RUNTIME_PORT"] ? port(env, "SVC_RUNTIME_PORT", 1, RUNTIME_PORT) : null,
    secrets: {
      revision: env["SVC_PROJECT_SECRETS_REVISION"] ?? "",
      env: Object.fromEntries(names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]))),
    },
    inherited: Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) =>
        value === undefined || NOT_INHERITED.has(name) || names.includes(name) ? [] : [[name, value]],
      ),
    ),
  };
  if (settings.port === settings.runtimePort)
    throw new SettingsError("SVC_RUNTIME_PORT and SVC_SERVICE_PORT must be different ports.");
  if (`${settings.home}/`.startsWith(`${settings.workspace}/`))
    throw new SettingsError("SVC_RUNTIME_HOME must be outside SVC_WORKSPACE, which each boot empties.");
  return settings;
}

/** Names that `git check-ref-format --branch` accepts, that are not options, and that fit a ref's file name. */
const BRANCH = /^(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)))[A-Za-z0-9_][A-Za-z0-9_./@+=#-]{0,243}(?<![/.])$/;
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SECONDS = /^[1-9]\d{0,6}$/;
const HOST = /^[0-9a-fA-F.:]{2,45}$/;

function matching(env: Environment, name: string, pattern: RegExp, kind: string, fallback = ""): string {
  const value = env[name] || fallback;
  if (value === "") throw new SettingsError(`${name} is required: it must be ${kind}.`);
  if (!pattern.test(value)) throw new SettingsError(`${name} must be ${kind}, not ${JSON.stringify(value)}.`);
  return value;
}

function url(env: Environment, name: string): string {
  const text = env[name] ?? "";
  const parsed = URL.parse(text);
  // the message does not repeat the value, which may contain a credential
  if (
    !parsed ||
    !/^https?:$/.test(parsed.protocol) ||
    parsed.username ||
    parsed.password ||
    parsed.search ||
    parsed.hash
  )
    throw new SettingsError(`${name} must be an http or https URL without credentials, query or fragment.`);
  return parsed.href.replace(/\/+$/, "");
}

function secret(env: Environment, name: string): string {
  const value = env[name] ?? "";
  if (!/^[\x21-\x7e]{8,1024}$/.test(value))
    throw new SettingsError(`${name} must be the sandbox service key: at least 8 visible ASCII characters.`);
  return value;
}

function port(env: Environment, name: string, min: number, fallback: number): number {
  const text = env[name] || String(fallback);
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value < min || value > 65535)
    throw new SettingsError(`${name} must be a port from ${min} to 65535, not ${JSON.stringify(text)}.`);
  return value;
}

function folder(env: Environment, name: string, fallback: string): string {
  const path = (env[name] || fallback).replace(/(?<=.)\/+$/, "");
  if (!isAbsolute(path) || path === "/" || path.split("/").includes(".."))
    throw new SettingsError(`${name} must be an absolute path below /, not ${JSON.stringify(path)}.`);
  return path;
}

/** Only root can start processes as another user. */
function user(env: Environment, self: User | null): User | null {
  const text = env["SVC_RUNTIME_USER"];
  if (!text) return null;
  const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(text) ?? [];
  if (uid === undefined)
    throw new SettingsError(
      `SVC_RUNTIME_USER must be a user and a group id, such as 1000:1000, not ${JSON.stringify(text)}.`,
    );
  const wanted = { uid: Number(uid), gid: Number(gid) };
  if (self && self.uid === wanted.uid && self.gid === wanted.gid) return null;
  if (self && self.uid !== 0)
    throw new SettingsError("SVC_RUNTIME_USER must be the daemon's own user unless the daemon runs as root.");
  return wanted;
}

function runtime(env: Environment): RuntimeName | CustomRuntime {
  const name = env["SVC_RUNTIME_NAME"] || DEFAULT_RUNTIME;
  if (isRuntimeName(name)) return name;
  const description = parseJson(env["SVC_RUNTIME_DESCRIPTION"] ?? "");
  if (isDescription(description) && description.name === name) return description;
  throw new SettingsError(
    `SVC_RUNTIME_NAME must be ${RUNTIME_NAMES.join(", ")}, or have SVC_RUNTIME_DESCRIPTION, not be ${JSON.stringify(name)}.`,
  );
}

/** svc has written it. */
function isDescription(value: unknown): value is CustomRuntime {
  return arrayOf(field(value, "command")).length > 0 && isObject(field(value, "environment"));
}

function permissionMode(env: Environment): PermissionMode {
  const mode = env["SVC_PERMISSION_MODE"] || DEFAULT_MODE;
  if (isPermissionMode(mode)) return mode;
  throw new SettingsError(
    `SVC_PERMISSION_MODE must be ${PERMISSION_MODES.join(", ")}, not ${JSON.stringify(mode)}.`,
  );
}

function wrap(env: Environment): string[] {
  const text = env["SVC_RUNTIME_WRAP"];
  if (!text) return [];
  const words = parseJson(text);
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string" && !word.includes("\0")))
    throw new SettingsError("SVC_RUNTIME_WRAP must be a JSON list of strings: a command and its arguments.");
  return words;
}

function relays(env: Environment): Settings["relays"] {
  const found = parseJson(env["SVC_RELAYS"] || "{}");
  const entries = Object.entries(typeof found === "object" && found !== null ? found : { "": null });
  return entries.map(([port, path]) => {
    if (!/^[1-9]\d{0,4}$/.test(port) || Number(port) > 65535 || typeof path !== "string" || !isAbsolute(path))
      throw new SettingsError("SVC_RELAYS must be a JSON object that maps ports to paths of unix sockets.");
    return { port: Number(port), path };
  });
}

function app(env: Environment): DaemonApp | null {
  const text = env["SVC_APP"];
  if (!text) return null;
  const found = readApp(text);
  if (!found) throw new SettingsError("SVC_APP must be svc's description of a deployment, as JSON.");
  return found;
}

function setup(env: Environment): DaemonSetup | null {
  const text = env["SVC_SETUP"];
  if (!text) return null;
  const found = readSetup(text);
  if (!found) throw new SettingsError("SVC_SETUP must be svc's description of a setup command, as JSON.");
  return found;
}

function secretNames(env: Environment): string[] {
  const names = (env["SVC_PROJECT_SECRET_NAMES"] ?? "").split(",").filter(Boolean);
  const bad = names.find((name) => !SECRET_NAME.test(name) || isReservedName(name));
  if (bad !== undefined)
    throw new SettingsError(
      `SVC_PROJECT_SECRET_NAMES contains ${JSON.stringify(bad)}, which is not a valid secret name.`,
    );
  return names;
}
