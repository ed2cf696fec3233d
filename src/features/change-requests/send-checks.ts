import type { SentToSession } from "../../contract/comment.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { type FailedCheck, failedChecks, lineOf } from "./failed-checks.ts";
import { promptSession, requireUnmerged } from "./prompt-session.ts";
import { DATA, nameOf, quoteAll, whenDone } from "./prompt-text.ts";
import { type CrRow, findChangeRequest } from "./row.ts";

/** The end of a log: the summary of a test run, and its last failures. */
const LOG = { lines: 200, characters: 16_000 } as const;

/**
 * Sends the failed checks of an open change request to the agent that works on it, with their output and the ends of their logs.
 * @param only the names of those to send; undefined: all that failed
 * @throws not_open, no_failed_checks, not_found, and what `promptSession` throws
 */
export async function sendChecks(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  only: readonly string[] | undefined,
): Promise<SentToSession> {
  const row = await findChangeRequest(deps.db, project, name);
  requireUnmerged(row);
  const { failed } = await failedChecks(deps, project, row, LOG);
  const sent = failed.filter(({ context }) => only === undefined || only.includes(context));
  if (sent.length === 0)
    throw new SvcError(
      "no_failed_checks",
      `Change request #${row.number} has no failed ${only === undefined ? "checks" : "check of this name"} on its last commit. See them with: svc cr checks ${row.number}`,
    );
  return await promptSession(deps, caller, project, row, (isNew) => textOf(row, sent, isNew));
}

function textOf(row: CrRow, failed: readonly FailedCheck[], isNew: boolean): string {
  const { quoted, left } = quoteAll(failed.map(textOfCheck), "\n\n");
  const rest = left > 0 ? `\n\n${left} more did not fit: svc cr checks ${row.number}` : "";
  const checks = failed.length === 1 ? "A check" : `${failed.length} checks`;
  return `${checks} of ${nameOf(row)} failed on its last commit. Find the cause and fix it; do not weaken the checks.

${DATA} These are the failed checks, each with its output, or the end of its log if svc has it.

${quoted}${rest}

${whenDone(row, isNew)} svc runs its checks again on the new commit.`;
}

function textOfCheck(check: FailedCheck): string {
  return [lineOf(check), check.output, check.log].filter((text) => text).join("\n\n");
}
