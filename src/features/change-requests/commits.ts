import type { Commit } from "../../contract/repository.ts";
import type { Deps } from "../../deps.ts";
import { type Page, readCursor } from "../../http/page.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { repositoryOf } from "../projects/repository.ts";
import { commitsToWire } from "../repository/commits.ts";
import { requireCommits } from "./preview.ts";
import { findChangeRequest } from "./row.ts";
import { findWithBranches, resolveTips } from "./tips.ts";

/**
 * The commits of a change request, newest first: reachable from its head and not from its base. The cursor holds both
 * commits, so that later pages do not change when a branch moves.
 * @throws branch_missing, repo_unreachable, validation_failed
 */
export async function listCrCommits(
  deps: Deps,
  project: ProjectRow,
  name: string,
  { limit, cursor }: Page,
): Promise<{ commits: Commit[]; next_cursor?: string }> {
  const { base, head, skip } = await readPosition(deps, project, name, readCursor(cursor, CURSOR));
  const repo = repositoryOf(deps, project);
  await requireCommits(deps, repo, [base, head]);
  const range = { commit: head, without: base, path: new Uint8Array(), skip, limit };
  const { commits, more } = await deps.git.log(repo, { ...range, signatures: true });
  const next = Buffer.from(`${base}.${head}.${skip + commits.length}`).toString("base64url");
  return { commits: await commitsToWire(deps, commits), ...(more && { next_cursor: next }) };
}

const CURSOR = /^([0-9a-f]{40}|[0-9a-f]{64})\.([0-9a-f]{40}|[0-9a-f]{64})\.([1-9]\d{0,7})$/;

async function readPosition(
  deps: Deps,
  project: ProjectRow,
  name: string,
  cursor: string | null,
): Promise<{ base: string; head: string; skip: number }> {
  if (cursor !== null) {
    await findChangeRequest(deps.db, project, name);
    const [base = "", head = "", skip] = cursor.split(".");
    return { base, head, skip: Number(skip) };
  }
  const [row, listing] = await findWithBranches(deps, project, name);
  return { ...(await resolveTips(row, listing)), skip: 0 };
}
