import { isAbsolute } from "node:path";
import { DAEMON_PORT, type DaemonApp, type DaemonEnv, RUNTIME_PORT } from "../src/contract/daemon.ts";
import { isReservedName, SECRET_NAME } from "../src/contract/environment.ts";
import { UUID } from "../src/contract/id.ts";
import { parseJson } from "../src/contract/json.ts";
import { readApp } from "./app/settings.ts";

/** What the daemon is told by its environment (spec 2.8), read once. */
export interface Settings {
  projectId: string;
  sessionId: string;
  branch: string;
  /** The gateway's clone URL, without credentials. */
  repoUrl: string;
  /** Ends in `/v1`. */
  apiUrl: string;
  /** The sandbox service key. Nothing that the daemon starts gets it. */
  token: string;
  host: string;
  port: number;
  /** A unix socket on which the daemon listens, too; null: on none. */
  socket: string | null;
  /** Ports of the loopback that lead out of the sandbox, to unix sockets. */
  relays: readonly { port: number; path: string }[];
  runtimePort: number;
  /** Where the repository is cloned to. */
  workspace: string;
  /** Home of the agent runtime, outside the repository. */
  home: string;
  /** The runtime's program; null: looked for. */
  runtimeBin: string | null;
  /** A folder whose `node_modules` projects' tools and plugins import from; it need not be there. */
  plugins: string;
  /** Whose processes the runtime's are; null: the daemon's own user's. */
  user: User | null;
  /** What stands before the command of whatever works in the sandbox. */
  wrap: readonly string[];
  agent: string | null;
  model: string | null;
  /** Whether the conversation is to be opened at boot. */
  opensConversation: boolean;
  /** First prompt, to be sent at boot; null: there is none, or svc gives it as it gives all others. */
  prompt: string | null;
  autoClone: boolean;
  /** Seconds without an answer of the server after which the daemon saves and ends; null: it does not watch. */
  orphanS: number | null;
  /** Saved work to be brought back at boot. */
  restore: string | null;
  /** What is deployed in this sandbox; null: it is an agent's. */
  app: DaemonApp | null;
  /** Where the app is to listen, if not on its own port. */
  appPort: number | null;
  secrets: DaemonEnv;
  /** What the runtime inherits beside the secrets. */
  inherited: Readonly<Record<string, string>>;
}

export interface User {
  uid: number;
  gid: number;
}

/** A variable with a value that the daemon cannot work with. The message is one line and names the variable. */
export class SettingsError extends Error {
  override readonly name = "SettingsError";
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The daemon's own, or what would change how its runtime's programs start. */
const NOT_INHERITED: ReadonlySet<string> = new Set([
  "SVC_TOKEN",
  "SVC_APP",
  "SVC_RESTORE_COMMIT",
  "SVC_SERVICE_HOST",
  "SVC_SERVICE_SOCKET",
  "SVC_RELAYS",
  "SVC_ORPHAN_SECONDS",
  "SVC_RUNTIME_HOME",
  "SVC_RUNTIME_PORT",
  "SVC_RUNTIME_BIN",
  "SVC_RUNTIME_PLUGINS",
  "SVC_RUNTIME_USER",
  "SVC_RUNTIME_WRAP",
  "BUN_OPTIONS",
  "BUN_BE_BUN",
  "BUN_INSPECT",
  "NODE_OPTIONS",
]);

/**
 * Reads and checks the environment.
 * @throws SettingsError for the first variable that is missing or cannot be used
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
    runtimeBin: env["SVC_RUNTIME_BIN"] ? folder(env, "SVC_RUNTIME_BIN", "") : null,
    plugins: folder(env, "SVC_RUNTIME_PLUGINS", "/opt/svc/plugins"),
    user: user(env, self),
    wrap: wrap(env),
    agent: env["SVC_AGENT_NAME"] || null,
    model: env["SVC_OPENCODE_MODEL"] || null,
    opensConversation,
    prompt: opensConversation && env["SVC_PROMPT_QUEUE"] !== "1" ? env["SVC_INITIAL_PROMPT"] || null : null,
    autoClone: env["SVC_PROJECT_AUTO_CLONE"] === "1",
    restore: env["SVC_RESTORE_COMMIT"]
      ? matching(env, "SVC_RESTORE_COMMIT", OBJECT_ID, "a commit's id")
      : null,
    orphanS: env["SVC_ORPHAN_SECONDS"]
      ? Number(matching(env, "SVC_ORPHAN_SECONDS", SECONDS, "seconds"))
      : null,
    app: app(env),
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
    throw new SettingsError("SVC_RUNTIME_PORT must be another port than SVC_SERVICE_PORT.");
  if (`${settings.home}/`.startsWith(`${settings.workspace}/`))
    throw new SettingsError("SVC_RUNTIME_HOME must lie outside SVC_WORKSPACE, which each boot empties.");
  return settings;
}

/** What `git check-ref-format --branch` takes and nobody reads as an option; in bytes, what a ref's file name can hold. */
const BRANCH = /^(?!.*(?:\.\.|\/\/|\/\.|@\{|\.lock(?:\/|$)))[A-Za-z0-9_][A-Za-z0-9_./@+=#-]{0,243}(?<![/.])$/;
const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const SECONDS = /^[1-9]\d{0,6}$/;
const HOST = /^[0-9a-fA-F.:]{2,45}$/;

function matching(env: Environment, name: string, pattern: RegExp, says: string, fallback = ""): string {
  const value = env[name] || fallback;
  if (value === "") throw new SettingsError(`${name} is missing: it must be ${says}.`);
  if (!pattern.test(value))
    throw new SettingsError(`${name} must be ${says}, and is ${JSON.stringify(value)}.`);
  return value;
}

function url(env: Environment, name: string): string {
  const text = env[name] ?? "";
  const parsed = URL.parse(text);
  // a value with a credential in it is not repeated
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
    throw new SettingsError(`${name} must be the sandbox service key, of 8 or more visible characters.`);
  return value;
}

function port(env: Environment, name: string, min: number, fallback: number): number {
  const text = env[name] || String(fallback);
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value < min || value > 65535)
    throw new SettingsError(`${name} must be a port from ${min} to 65535, and is ${JSON.stringify(text)}.`);
  return value;
}

function folder(env: Environment, name: string, fallback: string): string {
  const path = (env[name] || fallback).replace(/(?<=.)\/+$/, "");
  if (!isAbsolute(path) || path === "/" || path.split("/").includes(".."))
    throw new SettingsError(`${name} must be an absolute path other than /, and is ${JSON.stringify(path)}.`);
  return path;
}

/** Only root can start processes as somebody else. */
function user(env: Environment, self: User | null): User | null {
  const text = env["SVC_RUNTIME_USER"];
  if (!text) return null;
  const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(text) ?? [];
  if (uid === undefined)
    throw new SettingsError(
      `SVC_RUNTIME_USER must be two numbers as in 1000:1000, and is ${JSON.stringify(text)}.`,
    );
  const wanted = { uid: Number(uid), gid: Number(gid) };
  if (self && self.uid === wanted.uid && self.gid === wanted.gid) return null;
  if (self && self.uid !== 0)
    throw new SettingsError("SVC_RUNTIME_USER names another user, and only root can start programs as one.");
  return wanted;
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
      throw new SettingsError("SVC_RELAYS must be a JSON object of ports, and paths of unix sockets.");
    return { port: Number(port), path };
  });
}

function app(env: Environment): DaemonApp | null {
  const text = env["SVC_APP"];
  if (!text) return null;
  const found = readApp(text);
  if (!found) throw new SettingsError("SVC_APP must be what svc writes about a deployment, as JSON.");
  return found;
}

function secretNames(env: Environment): string[] {
  const names = (env["SVC_PROJECT_SECRET_NAMES"] ?? "").split(",").filter(Boolean);
  const bad = names.find((name) => !SECRET_NAME.test(name) || isReservedName(name));
  if (bad !== undefined)
    throw new SettingsError(
      `SVC_PROJECT_SECRET_NAMES holds ${JSON.stringify(bad)}, which no secret can be called.`,
    );
  return names;
}
