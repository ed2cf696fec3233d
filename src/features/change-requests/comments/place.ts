import { sql } from "drizzle-orm";
import { changeRequestComments } from "../../../../db/schema/index.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import type { Repository } from "../../../git/git.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { repositoryOf } from "../../projects/repository.ts";
import { refresh } from "../refresh.ts";
import type { CrRow } from "../row.ts";
import type { CommentRow } from "./row.ts";

/** How long a read looks for lines. The others are looked for by the next read. */
const PLACING_MS = 5_000;

interface Tips {
  base: string;
  head: string;
}

/** Comments with their lines at the head now, or where they were last if the repository does not respond. */
export async function placeNow<T extends CommentRow>(
  deps: Deps,
  project: ProjectRow,
  cr: CrRow,
  comments: readonly T[],
): Promise<readonly T[]> {
  if (!comments.some(({ line }) => line !== null)) return comments;
  const [row = cr] = (await refresh(deps, project, [cr])).rows;
  return await placeAt(deps, project, storedTips(row), comments);
}

/** The commits that are stored of a change request. */
export function storedTips({ baseCommitSha, headCommitSha }: CrRow): Tips | null {
  return baseCommitSha && headCommitSha ? { base: baseCommitSha, head: headCommitSha } : null;
}

/**
 * Comments with their lines in the diff of `tips`. Each is followed from the commit that it was written on, so that it
 * does not matter which commits were read in between, and comes back with its line.
 */
export async function placeAt<T extends CommentRow>(
  deps: Deps,
  project: ProjectRow,
  tips: Tips | null,
  comments: readonly T[],
): Promise<readonly T[]> {
  if (tips === null) return comments;
  try {
    const placed = await findPlaces(deps, project, tips, comments);
    if (placed.size === 0) return comments;
    await store(deps, placed);
    return comments.map((row) => ({ ...row, ...placed.get(row.commentId) }));
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    deps.log.debug(
      { project: project.projectId, code: error.code },
      "cannot follow the lines of comments yet",
    );
    return comments;
  }
}

type Place = Pick<CommentRow, "placedCommitSha" | "placedPath" | "placedLine" | "placedStartLine">;

/** The places of the comments that were not looked for in these commits yet. */
async function findPlaces(
  deps: Deps,
  project: ProjectRow,
  tips: Tips,
  comments: readonly CommentRow[],
): Promise<Map<string, Place>> {
  const repo = repositoryOf(deps, project);
  const places = new Map<string, Place>();
  const until = deps.monotonic() + PLACING_MS;
  const bases = new Map<string, string | null>();
  const sought: { row: CommentRow; from: string; to: string }[] = [];
  for (const row of comments) {
    if (row.line === null || row.headCommitSha === null) continue;
    const to = row.side === "old" ? await baseOf(tips.head) : tips.head;
    const from =
      row.anchorCommitSha ?? (row.side === "old" ? await baseOf(row.headCommitSha) : row.headCommitSha);
    if (from && to && (row.placedCommitSha ?? from) !== to) sought.push({ row, from, to });
  }
  const files = Map.groupBy(sought, ({ row, from, to }) => `${from} ${to} ${row.path}`);
  for (const [first, ...more] of files.values()) {
    if (!first || deps.monotonic() > until) break;
    const rows = [first, ...more].map(({ row }) => row);
    for (const [id, place] of await followAll(deps, repo, first, rows)) places.set(id, place);
  }
  return places;

  /** The commit of the old side of a head's diff. */
  async function baseOf(head: string): Promise<string | null> {
    if (!bases.has(head)) {
      const known = await deps.git.ensureCommits(repo, [tips.base, head]);
      bases.set(head, known ? (await deps.git.relate(repo, tips.base, head)).mergeBase : null);
    }
    return bases.get(head) ?? null;
  }
}

/** The places of comments on one file. If one of the commits is gone, so are the lines. */
async function followAll(
  deps: Deps,
  repo: Repository,
  { from, to }: { from: string; to: string },
  rows: readonly CommentRow[],
): Promise<[id: string, place: Place][]> {
  const lines = rows.flatMap(linesOf);
  const path = Buffer.from(rows[0]?.path ?? "");
  const followed = (await deps.git.ensureCommits(repo, [from, to]))
    ? await deps.git.followLines(repo, { from, to, path, lines })
    : null;
  const now = new Map(lines.map((line, at) => [line, followed?.lines[at] ?? null]));
  const placedPath = followed ? textOf(followed.path) : null;
  return rows.map((row) => {
    const left = linesOf(row).flatMap((line) => now.get(line) ?? []);
    const [placedStartLine = null, placedLine = null] =
      left.length > 0 ? [Math.min(...left), Math.max(...left)] : [];
    const isOne = placedStartLine === placedLine;
    return [
      row.commentId,
      { placedCommitSha: to, placedPath, placedLine, placedStartLine: isOne ? null : placedStartLine },
    ];
  });
}

/** The lines that a comment is on. */
function linesOf({ startLine, line }: CommentRow): number[] {
  if (line === null) return [];
  const first = startLine ?? line;
  return Array.from({ length: line - first + 1 }, (_, at) => first + at);
}

/** A name that is not UTF-8 cannot be stored: the comment keeps its own. */
function textOf(path: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(path);
  } catch {
    return null;
  }
}

async function store(deps: Deps, places: ReadonlyMap<string, Place>): Promise<void> {
  const rows = JSON.stringify([...places].map(([id, place]) => ({ id, ...place })));
  await deps.db
    .update(changeRequestComments)
    .set({
      placedCommitSha: sql`places."placedCommitSha"`,
      placedPath: sql`places."placedPath"`,
      placedLine: sql`places."placedLine"`,
      placedStartLine: sql`places."placedStartLine"`,
    })
    .from(
      sql`json_to_recordset(${rows}::json) as places(id uuid, "placedCommitSha" text, "placedPath" text, "placedLine" int, "placedStartLine" int)`,
    )
    .where(sql`${changeRequestComments.commentId} = places.id`);
}
