import { dirname, join } from "node:path";
import { isRecord } from "./config.ts";
import { CliError, systemCode } from "./failure.ts";
import { isHostName, normalizeUrl } from "./hosts.ts";

/** Spec 2.6, as written by `svc projects link`. Untrusted: a clone may contain it. */
export interface Link {
  project_id: string;
  account_id: string;
  host: string;
  /** Normalized by `normalizeUrl`. */
  host_url: string;
}

export interface FoundLink {
  link: Link;
  path: string;
  /** The directory that is linked. */
  folder: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Excludes every link of a repository from a git command. */
export const EXCEPT_LINKS = [":(top)", ":(exclude,top,glob)**/.svc/link.json"] as const;
/** Matches every link of a repository. */
export const ALL_LINKS = ":(top,glob)**/.svc/link.json";
/** Larger than any link file. */
const LINK_MAX_BYTES = 64 * 1024;

export const linkPath = (folder: string): string => join(folder, ".svc", "link.json");

/**
 * The link of a directory or of its nearest ancestor that has one.
 * @throws CliError `link_invalid`, naming the file: a damaged link is not skipped for an ancestor's.
 */
export async function findLink(cwd: string): Promise<FoundLink | null> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const path = linkPath(folder);
    const text = await read(path);
    if (text !== null) return { link: check(text, path), path, folder };
    if (dirname(folder) === folder) return null;
  }
}

async function read(path: string): Promise<string | null> {
  const { open } = await import("node:fs/promises");
  const { constants } = await import("node:fs");
  try {
    // Does not block on a named pipe.
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const found = await file.stat();
      if (!found.isFile()) throw invalid(path, "it is not a file");
      if (found.size > LINK_MAX_BYTES) throw invalid(path, "it is too large");
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    throw invalid(path, `it cannot be read (${code ?? "unknown error"})`);
  }
}

function check(text: string, path: string): Link {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(path, "it is not JSON");
  }
  if (!isRecord(value)) throw invalid(path, "it is not a JSON object");
  const { project_id, account_id, host, host_url } = value;
  if (typeof project_id !== "string" || !UUID.test(project_id))
    throw invalid(path, "project_id is not a UUID");
  if (typeof account_id !== "string" || !UUID.test(account_id))
    throw invalid(path, "account_id is not a UUID");
  if (typeof host !== "string" || !isHostName(host)) throw invalid(path, "host is not a host name");
  const url = typeof host_url === "string" ? normalizeUrl(host_url) : null;
  if (url === null) throw invalid(path, "host_url is not an address");
  return { project_id, account_id, host, host_url: url };
}

function invalid(path: string, why: string): CliError {
  return new CliError("link_invalid", `The link file ${path} cannot be used: ${why}.`, {
    hint: "Run `svc projects link` there to replace it, or pass --host and --project.",
  });
}
