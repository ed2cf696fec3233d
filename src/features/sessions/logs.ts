import { isAlive, type LogLine } from "../../contract/session.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { endOf, readLog } from "../runs/log.ts";
import { readOutput } from "../runs/output.ts";
import { findSession } from "./read.ts";

/**
 * The end of a session's log: svc's own lines, and the output of the live sandbox, or the end of that of the last one.
 * @throws not_found, validation_failed
 */
export async function readLogs(
  deps: Deps,
  project: ProjectRow,
  sessionId: string,
  tail: number,
): Promise<{ lines: LogLine[]; truncated: boolean }> {
  const { session } = await findSession(deps, project, sessionId);
  const kept = (await readLog(deps, session.sessionId, tail + 1)).map(({ line }) => line);
  const output = isAlive(session) ? await readOutput(deps, session) : [];
  return endOf([...kept, ...output], tail);
}
