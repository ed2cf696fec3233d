import type { System } from "../../system.ts";
import type { Env } from "./env-file.ts";
import type { Stack } from "./stack.ts";

/** Variables of the operator's environment that a native server gets. Everything else comes from its settings. */
const PASSED = new Set([
  "HOME",
  "PATH",
  "USER",
  "LOGNAME",
  "SHELL",
  "LANG",
  "TZ",
  "TMPDIR",
  "XDG_RUNTIME_DIR",
  "SSH_AUTH_SOCK",
  "DOCKER_HOST",
  "DOCKER_CONTEXT",
  "DOCKER_CONFIG",
  "DOCKER_TLS_VERIFY",
  "DOCKER_CERT_PATH",
]);

/** The environment of a native server: a few variables of the machine, and the settings. */
export function serverEnvironment(env: System["env"], stack: Stack, settings: Env): Record<string, string> {
  const passed = Object.entries(env).flatMap(([name, value]): [string, string][] =>
    value !== undefined && (PASSED.has(name) || name.startsWith("LC_")) ? [[name, value]] : [],
  );
  return {
    ...Object.fromEntries(passed),
    ...Object.fromEntries(settings),
    SVC_DATA_DIR: stack.data,
  };
}
