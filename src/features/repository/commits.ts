import type { Commit } from "../../contract/repository.ts";
import type { Deps } from "../../deps.ts";
import type { LoggedCommit, Signature } from "../../git/git.ts";
import type { Page } from "../../http/page.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { coAuthorsOf } from "./co-authors.ts";
import { nextCursor, resolvePage } from "./cursor.ts";
import { readPath } from "./path.ts";

interface CommitsQuery {
  ref?: string;
  path?: string;
  path_base64?: string;
}

/**
 * The commits reachable from a ref, newest first; with a path, those that changed it.
 * @throws validation_failed, and what `resolveRef` throws.
 */
export async function listCommits(
  deps: Deps,
  project: ProjectRow,
  query: CommitsQuery,
  { limit, cursor }: Page,
) {
  const path = readPath(query);
  const { repo, commit, skip } = await resolvePage(deps, project, { ref: query.ref, cursor });
  const { commits, more } = await deps.git.log(repo, { commit, path, skip, limit });
  return { commits: commits.map(commitToWire), ...nextCursor(commit, skip + commits.length, more) };
}

/** A commit as it crosses the wire. */
export function commitToWire({
  id,
  parents,
  author,
  committer,
  subject,
  body,
  truncated,
}: LoggedCommit): Commit {
  return {
    sha: id,
    parents,
    author: signatureToWire(author),
    committer: signatureToWire(committer),
    co_authors: coAuthorsOf(body),
    subject,
    body,
    truncated,
  };
}

function signatureToWire({ name, email, date }: Signature): Commit["author"] {
  return { name, email, date: date?.toISOString() ?? null };
}
