import { type SQL, sql } from "drizzle-orm";
import {
  accountMembers,
  changeRequestApprovals,
  changeRequests,
  commitStatuses,
  mergeVerdicts,
} from "../../../../db/schema/index.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";

/*
 * Conditions on what is stored beside the rows, for the head that svc has seen last. They say in SQL what `approved.ts`,
 * `checks/summary.ts` and `mergeable.ts` say of the rows of a page.
 */

const { crId, accountId, createdBy, status, headCommitSha, baseCommitSha } = changeRequests;

/** @param value of `review:` */
export function hasReview(value: string, { requiredApprovals, selfApproval }: ProjectRow): SQL {
  const { state, userId, headCommitSha: approved } = changeRequestApprovals;
  const given = (condition: SQL) => sql`(select count(*) from ${changeRequestApprovals}
    join ${accountMembers} on ${accountMembers.userId} = ${userId} and ${accountMembers.accountId} = ${accountId}
    where ${changeRequestApprovals.crId} = ${crId} and ${condition})`;
  const requests = given(sql`${state} = 'changes_requested'`);
  const counting = given(
    sql`${state} = 'approved' and ${approved} = ${headCommitSha} and (${selfApproval}::boolean or ${userId} <> ${createdBy})`,
  );
  switch (value) {
    case "approved":
      return sql`(${requests} = 0 and ${counting} >= ${Math.max(requiredApprovals, 1)})`;
    case "changes_requested":
      return sql`(${requests} > 0)`;
    case "required":
      return sql`(${counting} < ${requiredApprovals})`;
    default:
      return sql`(${given(sql`true`)} = 0)`;
  }
}

/** @param value of `checks:` */
export function hasChecks(value: string, { projectId, requiredChecks }: ProjectRow): SQL {
  const { state, context } = commitStatuses;
  const reported = (condition: SQL) => sql`exists (select from ${commitStatuses}
    where ${commitStatuses.projectId} = ${projectId} and ${commitStatuses.sha} = ${headCommitSha} and ${condition})`;
  const failed = reported(sql`${state} in ('failure', 'error')`);
  const awaited = requiredChecks.map((name) => sql`not ${reported(sql`${context} = ${name}`)}`);
  const pending = sql`(${sql.join([reported(sql`${state} = 'pending'`), ...awaited], sql` or `)})`;
  switch (value) {
    case "failure":
      return failed;
    case "pending":
      return sql`(not ${failed} and ${pending})`;
    case "success":
      return sql`(not ${failed} and not ${pending} and ${reported(sql`true`)})`;
    default:
      return sql`(not ${pending} and not ${reported(sql`true`)})`;
  }
}

/** @param value of `mergeable:` */
export function merges(value: string, gitVersion: string): SQL {
  const verdict = sql`(select ${mergeVerdicts.canMerge} from ${mergeVerdicts}
    where ${mergeVerdicts.projectId} = ${changeRequests.projectId} and ${mergeVerdicts.baseSha} = ${baseCommitSha}
      and ${mergeVerdicts.headSha} = ${headCommitSha} and ${mergeVerdicts.gitVersion} = ${gitVersion})`;
  const wanted = { clean: sql`${verdict}`, conflicts: sql`not ${verdict}` }[value] ?? sql`${verdict} is null`;
  return sql`(${status} = 'open' and ${wanted})`;
}
