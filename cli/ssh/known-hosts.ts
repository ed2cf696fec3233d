import { appendFile, readFile } from "node:fs/promises";
import { join } from "node:path";
import { replace } from "../config-write.ts";
import { CliError, systemCode } from "../failure.ts";
import type { System } from "../system.ts";
import { sshFolder } from "./keys.ts";

/** Lines that are kept: the newest sessions of a user. */
const LINES_MAX = 1000;

export const knownHostsFile = (system: Pick<System, "env" | "cwd">): string =>
  join(sshFolder(system), "known_hosts");

/**
 * Makes ssh expect a key of a host. It reads the file when the connection is there, so it finds a line that is written before.
 * @param name as ssh was given it
 * @throws CliError `file`
 */
export async function expectHostKey(
  system: Pick<System, "env" | "cwd">,
  name: string,
  publicKey: string,
): Promise<void> {
  const path = knownHostsFile(system);
  const line = `${name} ${publicKey}`;
  try {
    const known = (await readFile(path, "utf8").catch(() => "")).split("\n").filter(Boolean);
    if (known.includes(line)) return;
    if (known.length < LINES_MAX) await appendFile(path, `${line}\n`, { mode: 0o600 });
    else await replace(path, `${[...known.slice(-LINES_MAX / 2), line].join("\n")}\n`);
  } catch (error) {
    throw new CliError("file", `${path} cannot be written (${systemCode(error) ?? "unknown error"}).`);
  }
}
