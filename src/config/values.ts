import { isAbsolute } from "node:path";

/** A variable whose value svc cannot use. The message is one line and names the variable. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/** The process's environment. An empty variable counts as unset. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The kernel limits the path of a unix socket in the folder: 104 bytes on macOS, 108 on Linux. */
const FOLDER_MAX_BYTES = 90;

export function integer(env: Environment, name: string, fallback: number, min: number, max: number): number {
  const text = env[name];
  if (!text) return fallback;
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > max) {
    throw new ConfigError(
      `${name} must be a whole number from ${min} to ${max}, such as ${fallback}, not "${text}".`,
    );
  }
  return value;
}

export function flag(env: Environment, name: string, fallback = false): boolean {
  const text = (env[name] ?? "").toLowerCase();
  if (text === "") return fallback;
  if (["0", "false", "no"].includes(text)) return false;
  if (["1", "true", "yes"].includes(text)) return true;
  throw new ConfigError(`${name} must be 1 or 0, not "${env[name]}".`);
}

export function oneOf<const T extends string>(
  env: Environment,
  name: string,
  values: readonly T[],
  fallback: T,
): T {
  const text = env[name];
  if (!text) return fallback;
  const value = values.find((candidate) => candidate === text);
  if (value === undefined)
    throw new ConfigError(`${name} must be one of ${values.join(", ")}, not "${text}".`);
  return value;
}

/** The entries of a list, which commas or blanks separate. */
export function list(env: Environment, name: string): string[] {
  return (env[name] ?? "").split(/[\s,]+/).filter(Boolean);
}

export function folder(
  env: Environment,
  name: string,
  fallback: string,
  maxBytes = FOLDER_MAX_BYTES,
): string {
  const path = env[name] || fallback;
  if (!isAbsolute(path))
    throw new ConfigError(`${name} must be an absolute path, such as /srv/svc, not "${path}".`);
  if (Buffer.byteLength(path) > maxBytes)
    throw new ConfigError(`${name} must be at most ${maxBytes} bytes long: "${path}".`);
  return path.length > 1 ? path.replace(/\/+$/, "") : path;
}

/** @param expected what the value must be, with an example */
export function matching(env: Environment, name: string, pattern: RegExp, expected: string): string | null {
  const text = env[name];
  if (!text) return null;
  if (!pattern.test(text)) throw new ConfigError(`${name} must be ${expected}, not "${text}".`);
  return text;
}

/** @param example an accepted value, for the error */
export function baseUrl(env: Environment, name: string, example: string): string | null {
  const text = env[name];
  if (!text) return null;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    throw new ConfigError(
      `${name} must be an http or https URL without credentials, query or fragment, such as ${example}.`,
    );
  }
  return url.href.replace(/\/+$/, "").replace(/\/v1$/, "");
}

export function hostName(env: Environment, name: string, fallback: string): string {
  const text = env[name] || fallback;
  if (!/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/i.test(text))
    throw new ConfigError(`${name} must be a host name, such as svc.example.com.`);
  return text;
}
