import { and, eq } from "drizzle-orm";
import { checks, runs } from "../../../../db/schema/index.ts";
import type { CheckLog, CheckLogLine } from "../../../contract/check.ts";
import { SvcError } from "../../../contract/errors.ts";
import { UUID } from "../../../contract/id.ts";
import { isAlive, type LogLine } from "../../../contract/session.ts";
import type { Deps } from "../../../deps.ts";
import { shorten } from "../../../http/text.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { endOf, readLog } from "../../runs/log.ts";
import { readOutput } from "../../runs/output.ts";
import { type CheckRow, toWire } from "./rows.ts";

/**
 * The end of the log of a check's last attempt: svc's own lines, and the output of the command so far.
 * @throws not_found
 */
export async function readCheckLog(
  deps: Deps,
  { projectId }: ProjectRow,
  checkId: string,
  tail: number,
): Promise<CheckLog> {
  const [check] = UUID.test(checkId)
    ? await deps.db
        .select()
        .from(checks)
        .where(and(eq(checks.projectId, projectId), eq(checks.checkId, checkId)))
    : [];
  if (!check)
    throw new SvcError(
      "not_found",
      `Check ${shorten(checkId)} not found in this project. List those of a change request with: svc cr checks <number>`,
    );
  return { check: toWire(check), ...(await endOfLog(deps, check, tail)) };
}

/** The last lines of a check's log. */
export async function endOfLog(
  deps: Deps,
  { runId }: Pick<CheckRow, "runId">,
  tail: number,
): Promise<Omit<CheckLog, "check">> {
  if (runId === null) return { lines: [], truncated: false };
  const [run] = await deps.db.select().from(runs).where(eq(runs.runId, runId));
  const kept = (await readLog(deps, runId, tail + 1)).map(({ line }) => line);
  // the output is kept just before its sandbox is removed
  const isKept = kept.some(({ source }) => source === "sandbox");
  const output = run && !isKept && isAlive(run) ? await readOutput(deps, run) : [];
  return endOf([...kept, ...output].map(toCheckLine), tail);
}

/** The daemon prefixes each line with its source. */
function toCheckLine({ at, source, text }: LogLine): CheckLogLine {
  const [, prefix, rest = text] = (source === "sandbox" && /^(agent|check) (.*)$/.exec(text)) || [];
  return { at, source: prefix === "check" ? "check" : "svc", text: rest };
}
