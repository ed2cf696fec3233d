import { setImmediate } from "node:timers/promises";
import type { CodeOwners } from "../../../contract/code-owners.ts";
import type { Deps } from "../../../deps.ts";
import type { Repository } from "../../../git/git.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { finderOf } from "../../manifest/tree.ts";
import { prepareDiff } from "../diff.ts";
import { membersNamed, type Owner } from "./members.ts";
import { type OwnersProblem, parseOwners } from "./parse.ts";

/** Where the file can be. The first one that exists is read. */
const PLACES = [".svc/CODEOWNERS", ".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];
/** A larger file is not read. */
const OWNERS_MAX_BYTES = 256 * 1024;
/** Files whose owners are found, as many as GitHub lists of a pull request. */
const FILES_MAX = 3_000;
/** Problems that are listed. */
const PROBLEMS_MAX = 100;
/** Files between two pauses in which other requests are answered: 2,000 patterns take milliseconds a file. */
const FILES_AT_ONCE = 2;

/**
 * The owners of the files that a change request changes, by the CODEOWNERS file of its base: that of its head would let
 * its author choose who reviews it.
 * @throws not_found, branch_missing, repo_unreachable, merge_engine_failed
 */
export async function readCodeOwners(deps: Deps, project: ProjectRow, name: string): Promise<CodeOwners> {
  const { tips, repo, request } = await prepareDiff(deps, project, name);
  const { path, text, problem } = await findOwners(deps, repo, tips.base);
  const { rules, problems } = parseOwners(text);
  const words = rules.flatMap(({ owners }) => owners);
  const find = await membersNamed(deps.db, project.accountId, words);
  const known = rules.map(({ line, matches, owners }) => {
    const found = owners.map(find);
    const unknown = found.flatMap((one) => ("problem" in one ? [{ line, message: one.problem }] : []));
    return {
      line,
      matches,
      unknown,
      owners: distinct(found.flatMap((one) => ("owner" in one ? [one.owner] : []))),
    };
  });
  const errors = [...problem, ...problems, ...known.flatMap(({ unknown }) => unknown)];
  const changed = await deps.git.diff(repo, { ...request, maxFiles: FILES_MAX, onPatch: () => false });
  const files: CodeOwners["files"] = [];
  for (const [at, entry] of changed.files.slice(0, FILES_MAX).entries()) {
    if (at % FILES_AT_ONCE === 0) await setImmediate();
    const file = Buffer.from(entry.path).toString("utf8");
    const rule = known.findLast(({ matches }) => matches(file));
    files.push({ path: file, owners: rule?.owners ?? [], line: rule?.line ?? null });
  }
  return {
    path,
    base_sha: tips.base,
    files,
    errors: errors.toSorted((a, b) => a.line - b.line).slice(0, PROBLEMS_MAX),
    truncated: changed.truncated || errors.length > PROBLEMS_MAX,
  };
}

async function findOwners(
  deps: Deps,
  repo: Repository,
  commit: string,
): Promise<{ path: string | null; text: string; problem: OwnersProblem[] }> {
  const find = finderOf(deps, repo, commit);
  for (const path of PLACES) {
    const entry = await find(path);
    if (entry?.type !== "file") continue;
    if ((entry.size ?? 0) > OWNERS_MAX_BYTES) {
      const message = `The file must have at most ${OWNERS_MAX_BYTES} bytes. It is ignored.`;
      return { path, text: "", problem: [{ line: 1, message }] };
    }
    const bytes = await deps.git.readFile(repo, commit, path, OWNERS_MAX_BYTES);
    return { path, text: new TextDecoder().decode(bytes ?? undefined), problem: [] };
  }
  return { path: null, text: "", problem: [] };
}

const distinct = (owners: readonly Owner[]): Owner[] => [
  ...new Map(owners.map((owner) => [owner.user_id, owner])).values(),
];
