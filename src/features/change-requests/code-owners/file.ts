import { setImmediate } from "node:timers/promises";
import type { Deps } from "../../../deps.ts";
import type { DiffRequest, Repository } from "../../../git/git.ts";
import { finderOf } from "../../manifest/tree.ts";
import { type ParsedOwners, parseOwners } from "./parse.ts";

/** Where the file can be. The first one that exists is read. */
const PLACES = [".svc/CODEOWNERS", ".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
/** A larger file is not read. */
const OWNERS_MAX_BYTES = 256 * 1024;
/** Files whose owners are found, as many as GitHub lists of a pull request. */
const FILES_MAX = 3_000;
/** Files between two pauses in which other requests are answered: 2,000 patterns take milliseconds a file. */
const FILES_AT_ONCE = 2;

/** A CODEOWNERS file. */
export interface OwnersFile extends ParsedOwners {
  /** Null: there is none. */
  path: string | null;
}

/** The CODEOWNERS file of a commit, which the mirror has. @throws merge_engine_failed */
export async function readOwnersFile(deps: Deps, repo: Repository, commit: string): Promise<OwnersFile> {
  const find = finderOf(deps, repo, commit);
  for (const path of PLACES) {
    const entry = await find(path);
    if (entry?.type !== "file") continue;
    if ((entry.size ?? 0) > OWNERS_MAX_BYTES) {
      const message = `The file must have at most ${OWNERS_MAX_BYTES} bytes. It is ignored.`;
      return { path, rules: [], problems: [{ line: 1, message }], unreadLine: 1 };
    }
    const bytes = await deps.git.readFile(repo, commit, path, OWNERS_MAX_BYTES);
    return { path, ...parseOwners(new TextDecoder().decode(bytes ?? undefined)) };
  }
  return { path: null, ...parseOwners("") };
}

interface Changed {
  paths: string[];
  /** False: there are more. */
  isComplete: boolean;
}

/** The paths that differ between two commits; a renamed file has two. @throws merge_engine_failed, payload_too_large */
export async function changedPaths(
  deps: Deps,
  repo: Repository,
  { from, to, attributes }: Pick<DiffRequest, "from" | "to" | "attributes">,
): Promise<Changed> {
  const request = { from, to, attributes, maxFiles: FILES_MAX, onPatch: () => false };
  const { files, truncated } = await deps.git.diff(repo, request);
  const paths = files.slice(0, FILES_MAX).map(({ path }) => Buffer.from(path).toString("utf8"));
  return { paths, isComplete: !truncated };
}

/** What decides about a path: the last line of a file that matches it. */
export interface Decided {
  path: string;
  rule: OwnersFile["rules"][number] | null;
}

/** Finds the lines that decide about paths, with pauses: that of many takes seconds. */
export async function decide({ rules }: OwnersFile, paths: readonly string[]): Promise<Decided[]> {
  const decided: Decided[] = [];
  for (const [at, path] of paths.entries()) {
    if (at % FILES_AT_ONCE === 0) await setImmediate();
    decided.push({ path, rule: rules.findLast(({ matches }) => matches(path)) ?? null });
  }
  return decided;
}
