import { and, asc, desc, eq, inArray } from "drizzle-orm";
import { changeRequests, projectSessions } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { UUID } from "../../contract/id.ts";
import { DIFF_MAX_FILES } from "../../contract/limits.ts";
import type { OneTry, Tries } from "../../contract/tries.ts";
import type { Deps } from "../../deps.ts";
import type { Branches } from "../../git/git.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { requireCommits } from "../change-requests/preview.ts";
import { reportedOf } from "../checks/statuses.ts";
import { summaryOf } from "../checks/summary.ts";
import { emptyTreeLike } from "../projects/diff.ts";
import { LISTING_MS } from "../projects/fetch.ts";
import { knownProtection } from "../projects/protection.ts";
import { repositoryOf } from "../projects/repository.ts";
import { sessionsWithSandbox } from "../sessions/read.ts";
import type { SessionRow } from "../sessions/row.ts";
import { allToWire, type FoundSession } from "../sessions/wire.ts";

/** The sessions that try the same task, each with its change and its checks. @throws not_found, validation_failed */
export async function readTries(deps: Deps, project: ProjectRow, name: string): Promise<Tries> {
  const listing = deps.git.listBranches(repositoryOf(deps, project), LISTING_MS).catch(() => null);
  const found = await findTries(deps, project, name);
  const branches = await listing;
  const sessions = await allToWire(deps, found);
  const changes = await Promise.all(found.map(({ session }) => changeOf(deps, project, session, branches)));
  const heads = changes.map((change) => change?.head_sha ?? null);
  const [reported, rule, requests] = await Promise.all([
    reportedOf(deps.db, project.projectId, heads),
    knownProtection(deps, project, branches),
    requestsOf(deps, project, found),
  ]);
  return {
    tries_id: name.toLowerCase(),
    tries: sessions.map((session, index) => ({
      session,
      change: changes[index] ?? null,
      checks: summaryOf(
        reported.filter(({ sha }) => sha === heads[index]),
        rule,
      ),
      change_request: requests.get(session.branch_name) ?? null,
    })),
  };
}

/** @throws not_found, validation_failed */
export async function findTries(deps: Deps, project: ProjectRow, name: string): Promise<FoundSession[]> {
  if (!UUID.test(name)) throw new SvcError("validation_failed", "The id of the tries must be a UUID.");
  const found = await sessionsWithSandbox(deps)
    .where(
      and(eq(projectSessions.projectId, project.projectId), eq(projectSessions.triesId, name.toLowerCase())),
    )
    .orderBy(asc(projectSessions.createdAt), asc(projectSessions.sessionId));
  if (found.length > 0) return found;
  throw new SvcError(
    "not_found",
    `${project.name} has no tries ${name}. Start some with: svc sessions new --tries 3 --prompt "…"`,
  );
}

/** What a session has pushed; null if that cannot be read. */
async function changeOf(
  deps: Deps,
  project: ProjectRow,
  { branchName, baseRef }: SessionRow,
  branches: Branches | null,
): Promise<OneTry["change"]> {
  const [base, head] = [branches?.tips.get(baseRef), branches?.tips.get(branchName)];
  if (base === undefined || head === undefined) return null;
  const repo = repositoryOf(deps, project);
  try {
    await requireCommits(deps, repo, [base, head]);
    const { mergeBase } = await deps.git.relate(repo, base, head);
    const { files } = await deps.git.diff(repo, {
      from: mergeBase ?? emptyTreeLike(head),
      to: head,
      attributes: base,
      ignoreWhitespace: false,
      maxFiles: DIFF_MAX_FILES,
      onPatch: () => false,
    });
    return {
      head_sha: head,
      files_changed: files.length,
      additions: files.reduce((sum, file) => sum + file.additions, 0),
      deletions: files.reduce((sum, file) => sum + file.deletions, 0),
    };
  } catch (error) {
    if (error instanceof SvcError) return null;
    throw error;
  }
}

/** The newest change request of each branch. */
async function requestsOf(
  { db }: Pick<Deps, "db">,
  { projectId }: ProjectRow,
  found: readonly FoundSession[],
): Promise<Map<string, NonNullable<OneTry["change_request"]>>> {
  const { number, status, headRef } = changeRequests;
  const branches = found.map(({ session }) => session.branchName);
  const rows = await db
    .selectDistinctOn([headRef], { number, status, headRef })
    .from(changeRequests)
    .where(and(eq(changeRequests.projectId, projectId), inArray(headRef, branches)))
    .orderBy(headRef, desc(number));
  return new Map(rows.map((row) => [row.headRef, { number: row.number, status: row.status }]));
}
