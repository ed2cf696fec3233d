import { homedir } from "node:os";
import { basename, isAbsolute, join } from "node:path";
import { PLATFORMS, type Platform } from "../../src/contract/release.ts";
import { isRecord } from "../config.ts";
import { CliError, systemCode } from "../failure.ts";
import type { System } from "../system.ts";

/** What install.sh wrote down: all that `svc update` and `svc uninstall` may change. */
export interface InstallRecord {
  version: string;
  platform: Platform;
  /** The program. `<program>.prev` is the version before it. */
  program: string;
  /** The symbolic links to the program. */
  links: string[];
  /** The URL of the server, without a trailing slash. */
  source: string;
  /** The key that its releases are signed with, as base64 of the DER; null if it was not known. */
  publicKey: string | null;
  /** The line that it added to a start file of the shell. */
  pathLine: { file: string; line: string } | null;
}

/** A larger file is not a record. */
const RECORD_MAX_BYTES = 64 * 1024;

/** The folder of the installation, `~/.svc`. */
export const homeFolder = ({ env }: Pick<System, "env">): string => join(env["HOME"] || homedir(), ".svc");

export const recordPath = (system: Pick<System, "env">): string => join(homeFolder(system), "install.json");

/**
 * The record of this user's installation; null if there is none.
 * @throws CliError `install_record_invalid`, naming the file
 */
export async function readRecord(system: Pick<System, "env">): Promise<InstallRecord | null> {
  const path = recordPath(system);
  const { readFile, stat } = await import("node:fs/promises");
  let value: unknown;
  try {
    if ((await stat(path)).size > RECORD_MAX_BYTES) throw invalid(path);
    value = JSON.parse(await readFile(path, "utf8"));
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error) ?? "")) return null;
    throw invalid(path);
  }
  const record = check(value);
  if (record === null) throw invalid(path);
  return record;
}

/** Only files named svc, by absolute paths, so that no record makes svc remove anything else. */
function check(value: unknown): InstallRecord | null {
  if (!isRecord(value)) return null;
  const { version, distribution, source, public_key, path_line } = value;
  const platform = PLATFORMS.find((known) => known === value["platform"]);
  const [program, previous] = pathsOf(value["files"], ["svc", "svc.prev"]) ?? [];
  const links = pathsOf(value["links"], ["svc"]);
  const publicKey = public_key ?? null;
  const pathLine = path_line ?? null;
  if (typeof version !== "string" || distribution !== "script" || platform === undefined) return null;
  if (program === undefined || previous !== `${program}.prev` || links === null) return null;
  if (typeof source !== "string" || !/^https?:\/\//.test(source) || !URL.canParse(source)) return null;
  if (publicKey !== null && (typeof publicKey !== "string" || !/^[A-Za-z0-9+/=]{60}$/.test(publicKey)))
    return null;
  if (pathLine !== null && !isPathLine(pathLine)) return null;
  return {
    version,
    platform,
    program,
    links,
    source: new URL(source).href.replace(/\/+$/, ""),
    publicKey,
    pathLine,
  };
}

function pathsOf(value: unknown, names: readonly string[]): string[] | null {
  if (!Array.isArray(value)) return null;
  const isPath = (path: unknown): path is string =>
    typeof path === "string" && isAbsolute(path) && names.includes(basename(path));
  return value.every(isPath) ? value : null;
}

function isPathLine(value: unknown): value is { file: string; line: string } {
  if (!isRecord(value)) return false;
  const { file, line } = value;
  return typeof file === "string" && isAbsolute(file) && typeof line === "string" && line !== "";
}

function invalid(path: string): CliError {
  return new CliError("install_record_invalid", `The record of the installation ${path} cannot be used.`, {
    hint: "Run the install script of your server again, which writes it: curl -fsSL <server>/install.sh | sh",
  });
}

/** Records the version that is installed now. A record that is not there stays away. */
export async function recordVersion(system: System, version: string): Promise<void> {
  const path = recordPath(system);
  const { readFile } = await import("node:fs/promises");
  const { replace } = await import("../config-write.ts");
  const record: unknown = JSON.parse(await readFile(path, "utf8"));
  if (!isRecord(record) || record["version"] === version) return;
  await replace(path, `${JSON.stringify({ ...record, version }, null, 2)}\n`, 0o644);
}
