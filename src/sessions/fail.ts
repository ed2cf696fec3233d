import { isDatabaseAway } from "../../db/errors.ts";
import { projectSessions } from "../../db/schema/index.ts";
import { SvcError } from "../contract/errors.ts";
import type { BootStep } from "../contract/session.ts";
import type { Deps } from "../deps.ts";
import { SandboxError } from "../sandboxes/provider.ts";
import { endSandbox } from "./end.ts";
import { endKeys } from "./keys.ts";
import { openLog } from "./log.ts";
import { tell } from "./tell.ts";
import { stillRunning, thisStart } from "./this-start.ts";
import type { SessionRow } from "./wire.ts";

/**
 * Says that a session's start has failed, at which step and why, after its sandbox was ended and what that said was kept.
 * @throws the error itself when it is the database that is away: the job is done again
 */
export async function fail(deps: Deps, session: SessionRow, error: unknown): Promise<void> {
  if (isDatabaseAway(error)) throw error;
  const [row] = await deps.db.select().from(projectSessions).where(thisStart(session));
  if (!row) return;
  const step = row.step ?? "branch";
  const message = isOwnWords(row) ? wordsOf(error) : `${AT[step]}: ${wordsOf(error)}`;
  if (!isTold(error))
    deps.log.error({ session: session.sessionId, step, err: error }, "a session could not be started");
  // what cannot be ended now, the next look at the sandboxes ends
  await endSandbox(deps, session).catch((failure: unknown) => {
    deps.log.warn(
      { session: session.sessionId, err: failure },
      "the sandbox of a failed start was not ended",
    );
  });
  await recordFailure(deps, session, message);
}

/** Writes a failure down, of a start or of a sandbox that ended by itself. */
export async function recordFailure(deps: Deps, session: SessionRow, message: string): Promise<void> {
  const log = openLog(deps, session.sessionId);
  log.write("svc", message);
  await log.flush();
  const now = deps.clock();
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(projectSessions)
      .set({ status: "failed", error: message, updatedAt: now })
      .where(session.status === "running" ? stillRunning(session) : thisStart(session))
      .returning({ sessionId: projectSessions.sessionId });
    if (!row) return;
    await endKeys(tx, session.sessionId, { state: "error", updatedAt: now });
    await tell(deps, tx, session, "changed");
  });
  deps.changes.notify(session.sessionId);
}

/** What a deployed app's daemon says of its build and its app needs no words before it. */
function isOwnWords({ purpose, step }: SessionRow): boolean {
  return purpose === "app" && step !== "image" && step !== "sandbox";
}

const AT: Readonly<Record<BootStep, string>> = {
  branch: "The session's branch could not be made",
  image: "The sandbox's image could not be built",
  sandbox: "The sandbox could not be started",
  clone: "The repository could not be cloned in the sandbox",
  runtime: "The agent runtime did not start",
};

function isTold(error: unknown): error is SvcError | SandboxError {
  return error instanceof SvcError || error instanceof SandboxError;
}

function wordsOf(error: unknown): string {
  return isTold(error) ? error.message : "something went wrong inside svc; its log says more.";
}
