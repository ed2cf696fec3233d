import type {
  ChangeRequestTemplate,
  ChangeRequestTemplates,
} from "../../../contract/change-request-template.ts";
import { SvcError } from "../../../contract/errors.ts";
import { DESCRIPTION_MAX_BYTES } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import type { Repository } from "../../../git/git.ts";
import { checkBranchName } from "../../../git/refs.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { fetchCommits, LISTING_MS } from "../../projects/fetch.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { existingTip } from "../open.ts";

/** The most templates of a branch: with their size, this bounds an answer to a little more than 1 MiB. */
const TEMPLATES_MAX = 16;
/** The entries of one directory that are looked at. */
const ENTRIES_MAX = 1_000;

/** The folders in which GitHub looks, in its order. */
const FOLDERS = [".github", "", "docs"];
const SINGLE = /^pull[_-]request[_-]template(?:\.(?:md|txt))?$/i;
const SEVERAL = /^pull_request_template$/i;
const IN_SEVERAL = /\.(?:md|txt)$/i;

/**
 * The templates at the tip of a branch. The default is svc's own, else the first that GitHub would find; those of its
 * `PULL_REQUEST_TEMPLATE` folders follow. A file that is too large to be a description, or is no text, is left out.
 * @throws invalid_ref, ref_not_found, branch_missing, repo_unreachable
 */
export async function listTemplates(
  deps: Deps,
  project: ProjectRow,
  base: string | undefined,
): Promise<ChangeRequestTemplates> {
  const ref = checkBranchName(base ?? project.defaultBranch);
  const repo = repositoryOf(deps, project);
  const { tips } = await deps.git.listBranches(repo, LISTING_MS);
  const commit = existingTip(tips, ref);
  if (!(await fetchCommits(deps, repo, [commit])))
    throw new SvcError("branch_missing", `The branch "${ref}" moved while svc read it. Try again.`);
  const paths = await findPaths(deps, repo, commit);
  const templates: ChangeRequestTemplate[] = [];
  for (const { path, isDefault } of paths.slice(0, TEMPLATES_MAX)) {
    const body = await readText(deps, repo, commit, path);
    if (body !== null) templates.push({ name: nameOf(path), path, body, is_default: isDefault });
  }
  return { templates };
}

interface Place {
  path: string;
  isDefault: boolean;
}

async function findPaths(deps: Deps, repo: Repository, commit: string): Promise<Place[]> {
  const list = (path: string) => listEntries(deps, repo, commit, path);
  const own = (await list(".svc")).filter(({ name, isFile }) => isFile && name === OWN);
  const singles = own.map(({ path }) => path);
  const several: string[] = [];
  for (const folder of FOLDERS) {
    const entries = await list(folder);
    singles.push(
      ...entries.filter(({ name, isFile }) => isFile && SINGLE.test(name)).map(({ path }) => path),
    );
    for (const { path } of entries.filter(({ name, isFile }) => !isFile && SEVERAL.test(name))) {
      const files = (await list(path)).filter(({ name, isFile }) => isFile && IN_SEVERAL.test(name));
      several.push(...files.map((file) => file.path));
    }
  }
  const first = singles.slice(0, 1).map((path) => ({ path, isDefault: true }));
  return [...first, ...several.map((path) => ({ path, isDefault: false }))];
}

const OWN = "change_request_template.md";

interface Entry {
  name: string;
  path: string;
  /** Else it is a folder. Links are followed nowhere. */
  isFile: boolean;
}

async function listEntries(deps: Deps, repo: Repository, commit: string, folder: string): Promise<Entry[]> {
  const path = Buffer.from(folder);
  const found = await deps.git.listDirectory(repo, { commit, path, skip: 0, limit: ENTRIES_MAX });
  return (found?.entries ?? []).flatMap(({ name: bytes, type, size }) => {
    const name = Buffer.from(bytes).toString("utf8");
    const isFile = type === "file" && (size ?? 0) <= DESCRIPTION_MAX_BYTES;
    if (!isFile && type !== "directory") return [];
    return [{ name, path: folder === "" ? name : `${folder}/${name}`, isFile }];
  });
}

/** Null if it is no text, or its name is not UTF-8. */
async function readText(deps: Deps, repo: Repository, commit: string, path: string): Promise<string | null> {
  const bytes = await deps.git.readFile(repo, commit, path, DESCRIPTION_MAX_BYTES);
  if (bytes === null || bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1).replace(IN_SEVERAL, "");
}
