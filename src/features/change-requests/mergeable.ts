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
  const nameOf = (baseSha: string, headSha: string) =>
    verdictName({ projectId, baseSha, headSha, gitVersion: git.version });
  const pairs = rows.flatMap(({ crId, status, baseCommitSha: base, headCommitSha: head }) =>
    status === "open" && base !== null && head !== null
      ? [{ crId, base, head, name: nameOf(base, head) }]
      : [],
  );
  const unknown = pairs.filter(({ name }) => !verdicts.has(name));
  const stored =
    unknown.length === 0
      ? []
      : await db
          .select({
            base: mergeVerdicts.baseSha,
            head: mergeVerdicts.headSha,
            canMerge: mergeVerdicts.canMerge,
          })
          .from(mergeVerdicts)
          .where(
            and(
              eq(mergeVerdicts.projectId, projectId),
              inArray(mergeVerdicts.baseSha, [...new Set(unknown.map(({ base }) => base))]),
              inArray(mergeVerdicts.headSha, [...new Set(unknown.map(({ head }) => head))]),
              eq(mergeVerdicts.gitVersion, git.version),
            ),
          );
  const read = new Map(stored.map(({ base, head, canMerge }) => [nameOf(base, head), canMerge]));
  return new Map(
    pairs.flatMap(({ crId, name }) => {
      const canMerge = verdicts.get(name)?.canMerge ?? read.get(name);
      return canMerge === undefined ? [] : [[crId, canMerge] as const];
    }),
  );
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
