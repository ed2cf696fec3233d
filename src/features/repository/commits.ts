import type { Commit } from "../../contract/repository.ts";
import type { Deps } from "../../deps.ts";
import type { LoggedCommit, Signature } from "../../git/git.ts";
import type { Page } from "../../http/page.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { readPath } from "../projects/path.ts";
import { coAuthorsOf } from "./co-authors.ts";
import { nextCursor, resolvePage } from "./cursor.ts";
import { verificationsOf } from "./verification.ts";

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
  const request = { commit, path, skip, limit, signatures: true };
  const { commits, more } = await deps.git.log(repo, request);
  return { commits: await commitsToWire(deps, commits), ...nextCursor(commit, skip + commits.length, more) };
}

/** Commits as they cross the wire. @param commits with their signatures */
export async function commitsToWire(
  deps: Pick<Deps, "db">,
  commits: readonly LoggedCommit[],
): Promise<Commit[]> {
  const verifications = await verificationsOf(deps, commits);
  return commits.flatMap(({ id, parents, author, committer, subject, body, truncated }, at) => {
    const verification = verifications[at];
    if (!verification) return [];
    const people = { author: signatureToWire(author), committer: signatureToWire(committer) };
    const message = { co_authors: coAuthorsOf(body), subject, body, truncated };
    return [{ sha: id, parents, ...people, ...message, verification }];
  });
}

function signatureToWire({ name, email, date }: Signature): Commit["author"] {
  return { name, email, date: date?.toISOString() ?? null };
}
