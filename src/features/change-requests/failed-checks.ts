import type { CommitStatus } from "../../contract/commit-status.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { endOfLog } from "../checks/own/log.ts";
import { checksOf } from "../checks/own/rows.ts";
import { outputOf } from "../checks/runs/output.ts";
import { combinedStatusOf, hasFailed } from "../checks/statuses.ts";
import type { CrRow } from "./row.ts";

export type FailedCheck = Pick<CommitStatus, "context" | "description" | "target_url"> & {
  /** The last lines of its log; null: svc did not run it. */
  log: string | null;
  /** Summary, text and annotations of a check run; null: it is not a check run. */
  output: string | null;
};

/** Failed checks that are read. */
const CHECKS_MAX = 20;

/**
 * The failed checks of a change request's last commit, with the ends of the logs that svc has, and what check runs say.
 * @param limits lines of each log and annotations of each run, and characters of each
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
    all.slice(0, CHECKS_MAX).map(async ({ context, description, target_url, check_run_id: run }) => {
      const row = run === null ? own.get(context) : undefined;
      const log = row ? await tailOf(deps, row, limits) : null;
      const output = run === null ? null : await outputOf(deps.db, project, run, limits);
      return { context, description, target_url, log, output };
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
