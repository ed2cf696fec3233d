import { delimiter, isAbsolute } from "node:path";
import { withoutRuntime } from "./browser.ts";
import { ALIAS_NAME } from "./config.ts";
import { CliError, systemCode } from "./failure.ts";
import { runAttached } from "./run-attached.ts";
import type { System } from "./system.ts";
import { oneLine } from "./text.ts";

/** Programs of svc itself, which are no extensions: svc-api, svc-agent, svc-entrypoint. */
const OWN = /^(api|agent|entrypoint)(-|$)/;
/** Credentials stay with svc. An extension that needs the server calls `svc`, which finds the stored token. */
const CREDENTIALS: ReadonlySet<string> = new Set(["SVC_CLI_TOKEN", "SVC_EXECUTOR_TOKEN", "SVC_TOKEN"]);

/** The program `svc-<name>` in an absolute folder of the PATH, so never one of the current folder; null if there is none. */
export function findExtension({ env }: Pick<System, "env">, name: string): string | null {
  if (!ALIAS_NAME.test(name) || OWN.test(name)) return null;
  const folders = (env["PATH"] ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return Bun.which(`svc-${name}`, { PATH: folders.join(delimiter) });
}

/** Runs an extension on svc's own streams. Returns its exit code. @throws CliError `file` if it cannot be started. */
export async function runExtension(
  system: System,
  program: string,
  args: readonly string[],
): Promise<number> {
  const env = Object.entries(withoutRuntime(system.env)).filter(([name]) => !CREDENTIALS.has(name));
  try {
    return await runAttached(system, [program, ...args], Object.fromEntries(env));
  } catch (error) {
    const code = systemCode(error) ?? "unknown error";
    throw new CliError("file", `The extension ${oneLine(program)} cannot be started (${code}).`);
  }
}
