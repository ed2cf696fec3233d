import type { CommitStatus } from "../../contract/commit-status.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { endOfLog } from "../checks/own/log.ts";
import { checksOf } from "../checks/own/rows.ts";
import { combinedStatusOf, hasFailed } from "../checks/statuses.ts";
import type { CrRow } from "./row.ts";

export type FailedCheck = Pick<CommitStatus, "context" | "description" | "target_url"> & {
  /** The last lines of its log; null: svc did not run it. */
  log: string | null;
};

/** Failed checks that are read. */
const CHECKS_MAX = 20;

/**
 * The failed checks of a change request's last commit, with the ends of the logs that svc has.
 * @param limits lines and characters of each log
 */
export async function failedChecks(
  deps: Deps,
  project: ProjectRow,
  { headCommitSha: sha }: Pick<CrRow, "headCommitSha">,
  limits: { lines: number; characters: number },
): Promise<{ failed: FailedCheck[]; total: number }> {
  if (sha === null) return { failed: [], total: 0 };
  const { statuses } = await combinedStatusOf(deps, project, sha);
  const all = statuses.filter(({ state }) => hasFailed(state));
  if (all.length === 0) return { failed: [], total: 0 };
  const own = new Map((await checksOf(deps.db, project, sha)).map((row) => [row.name, row]));
  const failed = await Promise.all(
    all.slice(0, CHECKS_MAX).map(async ({ context, description, target_url }) => {
      const row = own.get(context);
      const log = row ? await tailOf(deps, row, limits) : null;
      return { context, description, target_url, log };
    }),
  );
  return { failed, total: all.length };
}

async function tailOf(
  deps: Deps,
  row: Parameters<typeof endOfLog>[1],
  { lines: count, characters }: { lines: number; characters: number },
): Promise<string> {
  // svc's own lines come after those of the command, and are few
  const { lines } = await endOfLog(deps, row, count + OWN_LINES);
  const printed = lines.filter(({ source }) => source === "check");
  const shown = (printed.length > 0 ? printed : lines).slice(-count);
  return shown
    .map(({ text }) => text)
    .join("\n")
    .slice(-characters)
    .toWellFormed();
}

const OWN_LINES = 100;

/** A failed check in one line, without its log. */
export function lineOf({ context, description, target_url }: FailedCheck): string {
  return [context, description, target_url].filter((text) => text !== null).join(" · ");
}
