import type { DaemonNotRead, DaemonWorkspace } from "../../../contract/daemon.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { Deps } from "../../../deps.ts";
import type { ProjectRow } from "../../../identity/auth/caller.ts";
import { readWorkspace } from "../../../sandboxes/workspace.ts";
import { findSession } from "../read.ts";
import { requireDaemon } from "../require-daemon.ts";

/** A path of the workspace in a query. */
export interface PathQuery {
  path?: string;
  path_base64?: string;
}

/** What the daemon reads for svc: the value of its first line, and the bytes that follow. */
export interface WorkspaceRead {
  line: unknown;
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * Reads the workspace in a session's sandbox.
 * @param shown the path, for messages
 * @throws not_found, not_running, sandbox_unreachable, unavailable
 */
export async function readFromSandbox(
  deps: Deps,
  project: ProjectRow,
  name: string,
  { wanted, shown, signal }: { wanted: DaemonWorkspace; shown: string; signal: AbortSignal },
): Promise<WorkspaceRead> {
  const { session } = await findSession(deps, project, name);
  const daemon = await requireDaemon(deps, session, "with files");
  const answer = await readWorkspace(daemon, wanted, signal);
  const { sessionId } = session;
  switch (answer.kind) {
    case "read":
      return answer;
    case "refused":
      throw refusedAs(answer.error, shown, sessionId);
    case "unavailable":
      throw new SvcError(
        "unavailable",
        `The workspace of session ${sessionId} cannot be read now: its repository is not cloned yet, or too many read it. Try again in a moment.`,
        {},
        { "Retry-After": "1" },
      );
    case "unknown":
      throw new SvcError(
        "sandbox_unreachable",
        `The sandbox of session ${sessionId} is of a version of svc that does not show its files. Restart it: svc sessions restart ${sessionId}`,
      );
    case "silent":
      throw unreadable(sessionId);
  }
}

/** The sandbox does not answer, or answers with something else. */
export function unreadable(sessionId: string): SvcError {
  return new SvcError(
    "sandbox_unreachable",
    `The sandbox of session ${sessionId} does not show its files. See its log with: svc sessions logs ${sessionId}`,
  );
}

function refusedAs(error: DaemonNotRead["error"], shown: string, sessionId: string): SvcError {
  switch (error) {
    case "not_found":
      return new SvcError("not_found", `The workspace has no "${shown}", or a symbolic link leads to it.`);
    case "not_a_folder":
      return new SvcError("not_found", `"${shown}" is not a folder. Symbolic links are not followed.`);
    case "not_a_file":
      return new SvcError(
        "not_found",
        `"${shown}" is not a file, and svc opens nothing else. Symbolic links are not followed.`,
      );
    case "unreadable":
      return new SvcError("not_found", `"${shown}" cannot be read by the agent's user.`);
    case "failed":
      return new SvcError(
        "sandbox_unreachable",
        `git could not compare the workspace of session ${sessionId} with its base. Look at it with: svc sessions exec ${sessionId} -- git status`,
      );
  }
}
