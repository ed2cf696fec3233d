import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { replace } from "../../config-write.ts";
import { readDotenv } from "../../dotenv.ts";
import { CliError, systemCode } from "../../failure.ts";
import type { Stack } from "./stack.ts";
import { makeFolder } from "./state.ts";

/** The settings of the server by name: the variables of its environment. */
export type Env = ReadonlyMap<string, string>;

const HEADER = `# Settings and secrets of the self-hosted svc server. Change them with \`svc self-host env set\`;
# they take effect at the next start. Keep a copy of SVC_MASTER_KEY: without it, stored secrets cannot be read.
`;

/** @returns null if the file does not exist. @throws CliError `file` if it cannot be read or parsed. */
export async function readEnv({ envFile }: Stack): Promise<Map<string, string> | null> {
  const text = await readFile(envFile, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return null;
    throw new CliError("file", `Cannot read ${envFile} (${systemCode(error) ?? "unknown error"}).`);
  });
  if (text === null) return null;
  const read = readDotenv(text);
  if ("values" in read) return read.values;
  throw new CliError("file", `${envFile}, line ${read.line}: ${read.reason}.`, {
    hint: "Correct the line, or restore the file from a backup.",
  });
}

/** @throws CliError `self_host` if the settings of a stack that was set up are missing. */
export async function requireEnv(stack: Stack): Promise<Map<string, string>> {
  const env = await readEnv(stack);
  if (env !== null) return env;
  throw new CliError("self_host", `The settings of the self-hosted server are missing: ${stack.envFile}.`, {
    hint: "Restore the file from a backup. It holds the master key, without which stored secrets cannot be read.",
  });
}

/** Replaces the file atomically, with mode 0600. */
export async function writeEnv(stack: Stack, env: Env): Promise<void> {
  await makeFolder(stack);
  await replace(stack.envFile, renderEnv(env));
}

/** The dotenv file that `readDotenv` reads back, whatever the values are. */
export function renderEnv(env: Env): string {
  return HEADER + [...env].map(([name, value]) => `${name}=${quote(value)}\n`).join("");
}

/** A hash by which changed settings are recognized. */
export const hashOf = (env: Env): string =>
  createHash("sha256")
    .update(JSON.stringify([...env].toSorted(([a], [b]) => (a < b ? -1 : 1))))
    .digest("hex");

const ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Dollar signs are escaped for other readers, such as a shell, which would expand them. */
function quote(value: string): string {
  if (/^[\w./:@%+=,-]+$/.test(value)) return value;
  return `"${value.replace(/[\\"$]/g, "\\$&").replace(/[\n\r\t]/g, (each) => ESCAPES[each] ?? each)}"`;
}
