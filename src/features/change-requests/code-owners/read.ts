import type { CodeOwners } from "../../../contract/code-owners.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { prepareDiff } from "../diff.ts";
import { changedPaths, decide, readOwnersFile } from "./file.ts";
import { membersNamed, type Owner, ownersIn } from "./members.ts";

/** Problems that are listed. */
const PROBLEMS_MAX = 100;

/**
 * The owners of the files that a change request changes, by the CODEOWNERS file of its base: that of its head would let
 * its author choose who reviews it.
 * @throws not_found, branch_missing, repo_unreachable, merge_engine_failed
 */
export async function readCodeOwners(deps: Deps, project: ProjectRow, name: string): Promise<CodeOwners> {
  const { tips, repo, request } = await prepareDiff(deps, project, name);
  const file = await readOwnersFile(deps, repo, tips.base);
  const words = file.rules.flatMap(({ owners }) => owners);
  const find = await membersNamed(deps.db, project.accountId, words);
  const ownersOf = new Map<number, Owner[]>();
  const errors = [...file.problems];
  for (const { line, owners } of file.rules) {
    const found = owners.map(find);
    ownersOf.set(line, ownersIn(found));
    errors.push(...found.flatMap((one) => ("problem" in one ? [{ line, message: one.problem }] : [])));
  }
  const { paths, isComplete } = await changedPaths(deps, repo, request);
  const files = (await decide(file, paths)).map(({ path, rule }) => ({
    path,
    owners: ownersOf.get(rule?.line ?? 0) ?? [],
    line: rule?.line ?? null,
  }));
  return {
    path: file.path,
    base_sha: tips.base,
    files,
    errors: errors.toSorted((a, b) => a.line - b.line).slice(0, PROBLEMS_MAX),
    truncated: !isComplete || errors.length > PROBLEMS_MAX,
  };
}
