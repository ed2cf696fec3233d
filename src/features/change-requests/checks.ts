import type { Check, CheckList } from "../../contract/check.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { rerunCheck } from "../checks/own/requeue.ts";
import { checksOf, toWire } from "../checks/own/rows.ts";
import { findChangeRequest } from "./row.ts";

/** The checks that svc runs on the last commit of a change request, by name. @throws not_found */
export async function listCrChecks(
  deps: Pick<Deps, "db">,
  project: ProjectRow,
  name: string,
): Promise<CheckList> {
  const { headCommitSha: sha } = await findChangeRequest(deps.db, project, name);
  return { checks: sha === null ? [] : (await checksOf(deps.db, project, sha)).map(toWire) };
}

/**
 * Runs a check of an open change request's last commit again, or for the first time.
 * @throws not_found, not_open, branch_missing
 */
export async function rerunCrCheck(
  deps: Deps,
  project: ProjectRow,
  name: string,
  check: string,
): Promise<Check> {
  const { projectId } = project;
  const { status, number, headRef, headCommitSha: sha } = await findChangeRequest(deps.db, project, name);
  if (status !== "open")
    throw new SvcError(
      "not_open",
      `Change request #${number} is ${status}, so its checks are not run again.`,
    );
  if (sha === null)
    throw new SvcError("branch_missing", `The last commit of change request #${number} is not known.`);
  return toWire(await rerunCheck(deps, project, { projectId, sha, headRef }, check));
}
