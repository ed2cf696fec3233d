import { and, eq, sql } from "drizzle-orm";
import { changeRequestEvents } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { publish } from "../../events/publish.ts";
import type { Git, Repository } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { changeOf } from "./row.ts";

/** A head that a push made, and the number of its change request. */
interface Pushed {
  crId: string;
  cr: number;
  number: number;
}

/**
 * Finds out from the repository whether the push that made a head was a force push, or else how many commits it added, and
 * stores that with its event. A push from a commit that the repository no longer has is left as it is.
 */
export async function describePush(
  deps: Pick<Deps, "db"> & { git: Pick<Git, "ensureCommits" | "countAdded"> },
  project: ProjectRow,
  repo: Repository,
  { crId, cr, number }: Pushed,
): Promise<void> {
  const { crId: of, event, data } = changeRequestEvents;
  const isPush = and(eq(of, crId), eq(event, "pushed"), sql`${data}->>'head' = ${String(number)}`);
  const [push] = await deps.db.select({ data }).from(changeRequestEvents).where(isPush);
  const { from, to } = push?.data ?? {};
  if (from === undefined || to === undefined) return;
  if (!(await deps.git.ensureCommits(repo, [from, to]))) return;
  const commits = await deps.git.countAdded(repo, from, to);
  const described =
    commits === null
      ? { event: "head_ref_force_pushed" as const }
      : { data: sql`${data} || ${JSON.stringify({ commits })}::jsonb` };
  await deps.db.transaction(async (tx) => {
    await tx.update(changeRequestEvents).set(described).where(isPush);
    await publish(tx, project.projectId, changeOf({ crId, number: cr }));
  });
}
