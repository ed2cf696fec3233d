import type { System } from "./system.ts";

/** In a sandbox all settings come from the environment; no configuration file is read or written. */
export const inSandbox = (env: System["env"]): boolean =>
  Boolean(env["SVC_SESSION_ID"]) && Boolean(env["SVC_CLI_TOKEN"] || env["SVC_EXECUTOR_TOKEN"]);

/** Whether svc may prompt: prompts read stdin and draw on stderr, so both must be terminals. */
export function canAsk(system: System, noInput: boolean, json: boolean): boolean {
  if (noInput || json || system.env["CI"] || inSandbox(system.env)) return false;
  return system.stdin.isTTY && system.stderr.isTTY;
}
