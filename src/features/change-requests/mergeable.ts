import { and, eq, inArray } from "drizzle-orm";
import { mergeVerdicts } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { CrRow } from "./row.ts";

type Row = Pick<CrRow, "crId" | "status" | "baseCommitSha" | "headCommitSha">;

/**
 * Whether the commits of open change requests merge without conflicts, as far as they have been compared: a list must not
 * wait for git.
 * @returns by their ids, without those that are not known
 */
export async function mergeableOf(
  { db, git, verdicts }: Pick<Deps, "db" | "verdicts"> & { git: Pick<Deps["git"], "version"> },
  { projectId }: Pick<ProjectRow, "projectId">,
  rows: readonly Row[],
): Promise<Map<string, boolean>> {
  const pairs = rows.flatMap(({ crId, status, baseCommitSha: base, headCommitSha: head }) =>
    status === "open" && base !== null && head !== null ? [{ crId, base, head }] : [],
  );
  const known = new Map<string, boolean>();
  for (const { crId, base, head } of pairs) {
    const verdict = verdicts.get(
      verdictName({ projectId, baseSha: base, headSha: head, gitVersion: git.version }),
    );
    if (verdict) known.set(crId, verdict.canMerge);
  }
  const unknown = pairs.filter(({ crId }) => !known.has(crId));
  if (unknown.length === 0) return known;
  const stored = await db
    .select({ base: mergeVerdicts.baseSha, head: mergeVerdicts.headSha, canMerge: mergeVerdicts.canMerge })
    .from(mergeVerdicts)
    .where(
      and(
        eq(mergeVerdicts.projectId, projectId),
        inArray(mergeVerdicts.baseSha, [...new Set(unknown.map(({ base }) => base))]),
        inArray(mergeVerdicts.headSha, [...new Set(unknown.map(({ head }) => head))]),
        eq(mergeVerdicts.gitVersion, git.version),
      ),
    );
  const byPair = new Map(stored.map(({ base, head, canMerge }) => [`${base} ${head}`, canMerge]));
  for (const { crId, base, head } of unknown) {
    const canMerge = byPair.get(`${base} ${head}`);
    if (canMerge !== undefined) known.set(crId, canMerge);
  }
  return known;
}

/** The key of a verdict in the server's cache. */
export function verdictName(key: {
  projectId: string;
  baseSha: string;
  headSha: string;
  gitVersion: string;
}): string {
  return [key.projectId, key.baseSha, key.headSha, key.gitVersion].join(" ");
}
