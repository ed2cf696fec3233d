import { REF_MAX_BYTES } from "../../contract/limits.ts";
import { QUEUE_BRANCHES } from "../../contract/merge-queue.ts";
import type { Branch } from "../../contract/repository.ts";
import type { Deps } from "../../deps.ts";
import { type Page, page, readCursor } from "../../http/page.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { repositoryOf } from "../projects/repository.ts";

/**
 * The current branches of a project's repository: the default one, then the others by name. Omits names that are longer
 * than svc accepts, and the branches of merge queues.
 * @throws repo_unreachable
 */
export async function listBranches(deps: Deps, project: ProjectRow, { limit, cursor }: Page) {
  const after = readCursor(cursor, BRANCH_CURSOR);
  const { tips } = await deps.git.listBranches(repositoryOf(deps, project), LISTING_MS);
  const rows = [...tips]
    .map(([name, commit_sha]): Branch => ({ name, commit_sha, is_default: name === project.defaultBranch }))
    .filter(({ name }) => !name.startsWith(QUEUE_BRANCHES))
    .filter((row) => Buffer.byteLength(row.name) <= REF_MAX_BYTES && (after === null || keyOf(row) > after))
    .sort((a, b) => Number(b.is_default) - Number(a.is_default) || (a.name < b.name ? -1 : 1));
  const { rows: branches, next } = page(rows.slice(0, limit + 1), limit, keyOf);
  return { branches, ...next };
}

/** The sort key. */
function keyOf({ name, is_default }: Branch): string {
  return `${is_default ? 0 : 1}${name}`;
}

const BRANCH_CURSOR = /^[01]./;
