import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Branches, Repository } from "../../git/git.ts";
import { checkBranchName } from "../../git/refs.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { awaitFetch, fetchCommits, LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";

/** A commit of a project's repository, in the mirror with its history. */
export interface Resolved {
  repo: Repository;
  /** The requested ref without `refs/heads/`, or the default branch. */
  ref: string;
  commit: string;
}

/**
 * Resolves a branch (the default one if omitted), a tag, `refs/heads/…`, `refs/tags/…` or a full commit id to a commit. A
 * branch takes precedence over a tag of the same name. Names are looked up literally; git never parses them as a
 * revision.
 * @throws invalid_ref, ref_not_found, repo_unreachable, unavailable.
 */
export async function resolveRef(deps: Deps, project: ProjectRow, text?: string): Promise<Resolved> {
  const repo = repositoryOf(deps, project);
  const ref = shownRef(project, text);
  if (text !== undefined && OBJECT_ID.test(text))
    return { repo, ref, commit: await requireCommit(deps, repo, text.toLowerCase()) };
  const commit = await findName(deps, repo, text ?? HEADS + project.defaultBranch);
  if (commit === null) throw notFound(project, text, ref);
  if (await fetchCommits(deps, repo, [commit])) return { repo, ref, commit };
  throw new SvcError("ref_not_found", `"${ref}" was moved or deleted while svc read it. Try again.`);
}

/** The ref as it is shown in the response. */
export function shownRef(project: ProjectRow, text: string | undefined): string {
  const name = text ?? project.defaultBranch;
  return name.startsWith(HEADS) ? name.slice(HEADS.length) : name;
}

async function findName(deps: Deps, repo: Repository, name: string): Promise<string | null> {
  const isTag = name.startsWith(TAGS);
  // the check removes one `refs/heads/`
  const short = checkBranchName(isTag ? HEADS + name.slice(TAGS.length) : name);
  const tip = (await listFilled(deps, repo)).tips.get(short);
  if (tip !== undefined && !isTag) return tip;
  return name.startsWith(HEADS) ? null : await awaitFetch(deps.git.findTag(repo, short));
}

const OBJECT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/i;
const HEADS = "refs/heads/";
const TAGS = "refs/tags/";

/** Contacts the git host only for a commit that is not in the mirror. */
async function requireCommit(deps: Deps, repo: Repository, commit: string): Promise<string> {
  if (await deps.git.hasCommit(repo, commit)) return commit;
  const [tip = ""] = (await listFilled(deps, repo)).tips.values();
  // an id of another length is of another object format
  if (tip.length === commit.length && (await fetchCommits(deps, repo, [commit]))) return commit;
  throw new SvcError("ref_not_found", `The repository has no commit ${commit} on a branch or tag.`);
}

async function listFilled(deps: Deps, repo: Repository): Promise<Branches> {
  const listing = await deps.git.listBranches(repo, LISTING_MS);
  if (listing.tips.size > 0) return listing;
  throw new SvcError(
    "ref_not_found",
    "The repository is empty. Push a first commit to it: git push -u origin HEAD",
  );
}

function notFound(project: ProjectRow, text: string | undefined, ref: string): SvcError {
  if (text === undefined) {
    return new SvcError(
      "ref_not_found",
      `The repository has no branch "${ref}", which is this project's default branch. Push it, or request another with ref.`,
    );
  }
  const what = text.startsWith(HEADS) ? "branch" : text.startsWith(TAGS) ? "tag" : "branch or tag";
  return new SvcError(
    "ref_not_found",
    `The repository has no ${what} "${ref.replace(TAGS, "")}". List the branches of ${project.name} with: svc repo branches`,
  );
}
