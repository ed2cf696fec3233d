import { inArray } from "drizzle-orm";
import type { Db } from "../../../../db/client.ts";
import { changeRequestOwners } from "../../../../db/schema/index.ts";
import type { OwnedFiles, Ownership } from "../../../contract/code-owners.ts";
import type { Deps } from "../../../deps.ts";
import type { Repository } from "../../../git/git.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { emptyTreeLike } from "../../projects/diff.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { requireCommits } from "../preview.ts";
import type { CrRow } from "../row.ts";
import { changedPaths, decide, type OwnersFile, readOwnersFile } from "./file.ts";

/** Files of one line that are named; the others are counted. */
const FILES_NAMED = 10;
/** Characters of a path that is named. */
const PATH_SHOWN = 500;

/** The commits of a change request, and the result of its merge if that has been written. */
interface Commits {
  base: string;
  head: string;
  result?: string;
}

/**
 * The owners of the changed files, by the CODEOWNERS file of the base: those of the diff that reviewers see, and those that the
 * merge changes. They differ where git follows a rename of the base: a change of `a` is merged into `b`.
 * @throws branch_missing, repo_unreachable, merge_engine_failed, payload_too_large
 */
export async function readOwnership(
  deps: Deps,
  repo: Repository,
  { base, head, result }: Commits,
): Promise<Ownership> {
  await requireCommits(deps, repo, result === undefined ? [base, head] : [base, head, result]);
  const file = await readOwnersFile(deps, repo, base);
  if (file.path === null) return { lines: [], isComplete: true };
  const { mergeBase } = await deps.git.relate(repo, base, head);
  const seen = { from: mergeBase ?? emptyTreeLike(head), to: head, attributes: base };
  const shown = await changedPaths(deps, repo, seen);
  const merged =
    result === undefined
      ? shown
      : await changedPaths(deps, repo, { from: base, to: result, attributes: base });
  const paths = [...new Set([...shown.paths, ...merged.paths])];
  return { lines: await linesOf(file, paths), isComplete: shown.isComplete && merged.isComplete };
}

/** The lines of a file that decide about changed paths. One that cannot be read decides about what no later line matches: it could name anybody. */
export async function linesOf(file: OwnersFile, paths: readonly string[]): Promise<OwnedFiles[]> {
  const lines = new Map<number, OwnedFiles>();
  for (const { path, rule } of await decide(file, paths)) {
    const isUnread = file.unreadLine > (rule?.line ?? 0);
    if (!isUnread && !rule?.isOwned) continue;
    const line = isUnread ? file.unreadLine : (rule?.line ?? 0);
    const owners = isUnread ? [] : (rule?.owners ?? []).map(storable);
    const owned = lines.get(line) ?? { line, owners, isUnread, files: [], total: 0 };
    owned.total += 1;
    if (owned.files.length < FILES_NAMED) owned.files.push(storable(path.slice(0, PATH_SHOWN)));
    lines.set(line, owned);
  }
  return [...lines.values()].toSorted((a, b) => a.line - b.line);
}

/** Postgres holds no NUL, and no lone surrogate. */
const storable = (text: string): string => text.replaceAll("\0", "\ufffd").toWellFormed();

/**
 * The same of a change request's commits, stored for lists.
 * @throws what `readOwnership` throws
 */
export async function knownOwnership(
  deps: Deps,
  project: ProjectRow,
  { crId }: Pick<CrRow, "crId">,
  { base: baseSha, head: headSha }: Pick<Commits, "base" | "head">,
): Promise<Ownership> {
  const known = (await storedOwnership(deps.db, [crId])).get(crId);
  if (known?.baseSha === baseSha && known.headSha === headSha) return known.ownership;
  const ownership = await readOwnership(deps, repositoryOf(deps, project), { base: baseSha, head: headSha });
  const read = { baseSha, headSha, ownership };
  // if that fails, as for one that was deleted meanwhile, the next reader reads it again
  await deps.db
    .insert(changeRequestOwners)
    .values({ crId, ...read })
    .onConflictDoUpdate({ target: changeRequestOwners.crId, set: read })
    .catch((error: unknown) => deps.log.warn({ err: error, cr: crId }, "cannot store the code owners"));
  return ownership;
}

/** As they were read last, by the ids of change requests. The commits may have moved since. */
export async function storedOwnership(
  db: Db,
  crIds: readonly string[],
): Promise<Map<string, typeof changeRequestOwners.$inferSelect>> {
  if (crIds.length === 0) return new Map();
  const rows = await db
    .select()
    .from(changeRequestOwners)
    .where(inArray(changeRequestOwners.crId, [...crIds]));
  return new Map(rows.map((row) => [row.crId, row]));
}
