import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { sessionExecs, users } from "../../../../db/schema/index.ts";
import { DAEMON_PORT, execPath } from "../../../contract/daemon.ts";
import { SvcError } from "../../../contract/errors.ts";
import type { ExecBody, StartedExec } from "../../../contract/exec.ts";
import { NAME_MAX } from "../../../contract/limits.ts";
import type { Deps } from "../../../deps.ts";
import { audit } from "../../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../../identity/auth/caller.ts";
import { sendExec } from "../../../sandboxes/daemon.ts";
import { noteActivity } from "../activity.ts";
import { findSession } from "../read.ts";
import { requireDaemon } from "../require-daemon.ts";
import { toExec } from "./wire.ts";

/** The size of a terminal whose client names none. */
const SIZE = { cols: 80, rows: 24 } as const;

/**
 * Starts a command in a session's sandbox, for the caller to attach to. It is recorded before it runs.
 * @throws not_found, not_running, sandbox_unreachable, unavailable, too_many_commands
 */
export async function startExec(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  name: string,
  { command = [], tty = false, cols = SIZE.cols, rows = SIZE.rows }: ExecBody,
): Promise<StartedExec> {
  const { session } = await findSession(deps, project, name);
  const { sessionId } = session;
  const daemon = await requireDaemon(deps, session, "to run a command in");
  const execId = randomUUID();
  const row = { execId, sessionId, userId: caller.userId, command, tty, createdAt: deps.clock() };
  await deps.db.transaction(async (tx) => {
    await tx.insert(sessionExecs).values(row);
    await audit(tx, caller, {
      action: "session.command_started",
      target: session.name ?? sessionId,
      targetId: sessionId,
      project,
      // its arguments may be secret, also in one text with it: they are in the list of the session's commands
      details: { exec_id: execId, program: programOf(command), tty },
    });
  });
  const terminal = tty ? { cols, rows } : null;
  const answer = await sendExec(daemon, {
    ...{ exec_id: execId, user_id: caller.userId, command, terminal },
  });
  if (answer !== "started") {
    // without an answer it may run: the record stays
    if (answer !== "silent") await deps.db.delete(sessionExecs).where(eq(sessionExecs.execId, execId));
    throw failureOf(answer, sessionId);
  }
  noteActivity(deps, sessionId);
  const [user] = await deps.db
    .select({ name: users.name })
    .from(users)
    .where(eq(users.userId, caller.userId));
  const path = `/v1/p/${sessionId}/${DAEMON_PORT}${execPath(execId)}`;
  return { ...toExec({ ...row, userName: user?.name ?? "" }), path };
}

/** The first word of a command, of which the audit log has no more. */
function programOf([first = ""]: readonly string[]): string {
  return first.trim().split(/\s/, 1)[0]?.slice(0, NAME_MAX) || "shell";
}

function failureOf(answer: "busy" | "full" | "refused" | "silent", sessionId: string): SvcError {
  switch (answer) {
    case "busy":
      return new SvcError(
        "unavailable",
        `The repository of session ${sessionId} is not cloned yet. Try again in a moment.`,
        {},
        { "Retry-After": "1" },
      );
    case "full":
      return new SvcError(
        "too_many_commands",
        `Too many commands run in the sandbox of session ${sessionId}. End one of them first.`,
      );
    case "refused":
      return new SvcError(
        "sandbox_unreachable",
        `The sandbox of session ${sessionId} is of a version of svc without commands. Restart it: svc sessions restart ${sessionId}`,
      );
    case "silent":
      return new SvcError(
        "sandbox_unreachable",
        `The sandbox of session ${sessionId} does not answer. See its log with: svc sessions logs ${sessionId}`,
      );
  }
}
