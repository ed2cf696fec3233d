import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { CliError, systemCode } from "./failure.ts";
import { BUILT_IN, DEFAULT_HOST, isHostName, normalizeUrl } from "./hosts.ts";
import type { System } from "./system.ts";

/** One host as the configuration file stores it. */
export interface HostEntry {
  url?: string;
  dashboard_url?: string;
  token?: string;
  user_email?: string;
  account_id?: string;
}

export interface Config {
  active: string;
  hosts: Record<string, HostEntry>;
  /** Command lines by their shorter names. */
  aliases?: Record<string, string>;
}

/** A host as commands see it: the stored entry over the built-in one. */
export interface Host extends HostEntry {
  name: string;
  url: string;
  builtin: boolean;
}

/** The form of an alias, and of the name of an extension. */
export const ALIAS_NAME = /^[a-z0-9][a-z0-9-]{0,39}$/;

/** The configuration file: SVC_CONFIG_FILE, else svc/config.json in XDG_CONFIG_HOME or ~/.config. */
export function configPath({ env, cwd }: Pick<System, "env" | "cwd">): string {
  const file = env["SVC_CONFIG_FILE"];
  if (file) return resolve(cwd, file);
  const xdg = env["XDG_CONFIG_HOME"];
  const base = xdg && isAbsolute(xdg) ? xdg : join(env["HOME"] || homedir(), ".config");
  return join(base, "svc", "config.json");
}

/** A larger file is not a configuration of svc. */
const CONFIG_MAX_BYTES = 1024 * 1024;

/**
 * Reads the configuration; empty if the file does not exist.
 * @throws CliError `config_invalid`, naming the file, for anything that is not a configuration.
 */
export async function readConfig(path: string): Promise<Config> {
  const text = await readText(path);
  if (text === null) return { active: DEFAULT_HOST, hosts: {} };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(path, "it is not JSON");
  }
  return check(value, path);
}

async function readText(path: string): Promise<string | null> {
  const { open } = await import("node:fs/promises");
  try {
    const file = await open(path, "r");
    try {
      const { size } = await file.stat();
      if (size > CONFIG_MAX_BYTES) throw invalid(path, "it is too large");
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = systemCode(error);
    if (code === "ENOENT") return null;
    if (code === "ENOTDIR" || code === "EISDIR") throw invalid(path, "it is not a file");
    throw new CliError("file", `The configuration cannot be read: ${path} (${code ?? "unknown error"}).`, {
      hint: "Check the permissions of the file and of its folder, or set SVC_CONFIG_FILE to another file.",
    });
  }
}

/** Whether users other than the owner can read the file and its tokens. */
export async function isExposed(path: string): Promise<boolean> {
  if (process.platform === "win32") return false;
  const { stat } = await import("node:fs/promises");
  const found = await stat(path).catch(() => null);
  return found !== null && (found.mode & 0o077) !== 0;
}

function check(value: unknown, path: string): Config {
  if (!isRecord(value)) throw invalid(path, "it is not a JSON object");
  const active = value["active"] ?? DEFAULT_HOST;
  if (typeof active !== "string" || !isHostName(active)) throw invalid(path, "`active` is not a host name");
  const hosts = value["hosts"] ?? {};
  if (!isRecord(hosts)) throw invalid(path, "`hosts` is not an object");
  const checked: Record<string, HostEntry> = {};
  for (const [name, entry] of Object.entries(hosts)) {
    if (!isHostName(name)) throw invalid(path, "a key of `hosts` is not a host name");
    checked[name] = checkEntry(entry, name, path);
  }
  const { aliases, ...rest } = value;
  if (aliases === undefined) return { ...rest, active, hosts: checked };
  return { ...rest, active, hosts: checked, aliases: checkAliases(aliases, path) };
}

function checkAliases(aliases: unknown, path: string): Record<string, string> {
  if (!isRecord(aliases)) throw invalid(path, "`aliases` is not an object");
  const checked: Record<string, string> = {};
  for (const [name, command] of Object.entries(aliases)) {
    if (!ALIAS_NAME.test(name)) throw invalid(path, "a key of `aliases` is not a name");
    if (typeof command !== "string") throw invalid(path, `aliases.${name} is not a string`);
    checked[name] = command;
  }
  return checked;
}

function checkEntry(entry: unknown, name: string, path: string): HostEntry {
  if (!isRecord(entry)) throw invalid(path, `hosts.${name} is not an object`);
  for (const key of ["url", "dashboard_url", "token", "user_email", "account_id"] as const) {
    const value = entry[key];
    if (value !== undefined && typeof value !== "string") {
      throw invalid(path, `hosts.${name}.${key} is not a string`);
    }
  }
  const { url, token } = entry;
  if (typeof token === "string" && !/^[\x21-\x7e]+$/.test(token)) {
    throw invalid(path, `hosts.${name}.token is not a token`);
  }
  if (url === undefined && !Object.hasOwn(BUILT_IN, name)) throw invalid(path, `hosts.${name} has no url`);
  if (typeof url === "string" && normalizeUrl(url) === null) {
    throw invalid(path, `hosts.${name}.url is not an address`);
  }
  return entry;
}

function invalid(path: string, why: string): CliError {
  return new CliError("config_invalid", `The configuration file ${path} is damaged: ${why}.`, {
    hint: "Repair the file, or move it away and run `svc login`. svc does not replace a damaged file.",
  });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The built-in hosts and the stored ones, built-in first. */
export function listHosts(config: Config): Host[] {
  const names = new Set([...Object.keys(BUILT_IN), ...Object.keys(config.hosts)]);
  return [...names].flatMap((name) => getHost(config, name) ?? []);
}

export function getHost(config: Config, name: string): Host | undefined {
  const stored = Object.hasOwn(config.hosts, name) ? config.hosts[name] : undefined;
  const builtIn = Object.hasOwn(BUILT_IN, name) ? BUILT_IN[name] : undefined;
  const url = normalizeUrl(stored?.url ?? builtIn ?? "");
  return url === null ? undefined : { ...stored, name, url, builtin: builtIn !== undefined };
}
