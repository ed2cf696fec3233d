import type { LogLine, Session } from "../../../src/contract/session.ts";
import { follow } from "../../../src/conversation/follow.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { count, oneLine } from "../../text.ts";
import { transportOf } from "../../transport.ts";
import { makeProgress, type Progress } from "./progress.ts";
import type { Found } from "./reference.ts";
import { setupProblem, shortId, statusText } from "./show-session.ts";

/** The default of --timeout: the first build of an image can take that long. */
const WAIT_SECONDS = 1800;
/** Lines of the log shown with a failure. */
const TAIL = 20;

/** Descriptions of the boot steps (contract/session.ts). */
const STEPS: Readonly<Record<string, string>> = {
  branch: "creating the session's branch",
  image: "building the sandbox's image",
  waiting: "waiting for a slot of the server",
  sandbox: "starting the sandbox",
  clone: "cloning the repository",
  setup: "running the setup command",
  runtime: "starting the agent",
};

/**
 * Waits until a session has the status `goal`, and shows the progress. A failed session has no sandbox either, so it counts
 * as stopped. Ctrl-C ends the wait, not the session.
 * @throws CliError `session_failed` with the error and the end of the log, `session_stopped`, `session_deleted`,
 *   `timeout`.
 */
export async function watch(
  context: Context,
  found: Found,
  started: Session,
  goal: "running" | "stopped",
): Promise<Session> {
  const progress = makeProgress(context);
  const stop = new AbortController();
  const seconds = context.globals.timeout ?? WAIT_SECONDS;
  const timer = setTimeout(() => stop.abort("late"), seconds * 1000);
  const interrupt = () => stop.abort("interrupted");
  process.once("SIGINT", interrupt);
  let last: Session | null = started;
  try {
    last = await untilSettled(found, started, goal, progress, stop.signal);
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", interrupt);
    await progress.end(endingOf(last, goal));
  }
  if (last?.status === goal || (last?.status === "failed" && goal === "stopped")) {
    const problem = goal === "running" ? setupProblem(last) : null;
    if (problem !== null) await context.out.note(problem);
    return last;
  }
  if (last === null || isSettled(last, goal)) throw await ended(found, started, last, progress);
  if (stop.signal.reason === "late") throw late(started, last, goal, seconds);
  await context.out.note(`The session continues. ${checkHint(started)}`);
  process.kill(process.pid, "SIGINT");
  return new Promise(() => {});
}

/** The session when it settled, or its last known state; null if it was deleted. */
async function untilSettled(
  { api, path }: Found,
  started: Session,
  goal: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<Session | null> {
  let session = started;
  let isLost = false;
  show(session, goal, progress);
  if (isSettled(session, goal)) return session;
  for await (const event of follow(transportOf(api), path, signal)) {
    if (event.type === "deleted") return null;
    if (event.type === "lost") {
      if (!isLost) progress.notice(`${event.reason} Reconnecting…`);
      isLost = true;
      continue;
    }
    isLost = false;
    if (event.type === "log") {
      // A stream starts with the end of the log: skip the lines of earlier starts.
      if (event.line.at === null || event.line.at >= started.updated_at) progress.line(event.line);
    } else if (event.type === "session") {
      session = event.session;
      show(session, goal, progress);
      if (isSettled(session, goal)) return session;
    }
  }
  return session;
}

function endingOf(last: Session | null, goal: string): "worked" | "failed" | "left" {
  if (last === null || !isSettled(last, goal)) return "left";
  return goal === "running" && last.status === "failed" ? "failed" : "worked";
}

/** Whether the wait is over. */
const isSettled = ({ status }: Session, goal: string): boolean =>
  status === goal || status === "failed" || (goal === "running" && status === "stopped");

/** A failed session still has its step; a running or stopped one has none. */
function show({ status, step, blocked_on: blocked }: Session, goal: string, progress: Progress): void {
  if (goal === "stopped") progress.step("stop", "saving the work and removing the sandbox");
  else if (step !== null)
    progress.step(step, blocked?.message ?? (Object.hasOwn(STEPS, step) ? STEPS[step] : ""));
  else if (status === "provisioning") progress.step("", blocked?.message ?? "waiting for a free slot");
}

function late(started: Session, last: Session, goal: string, seconds: number): CliError {
  return new CliError(
    "timeout",
    `The session ${shortId(started)} is not ${goal} after ${count(seconds, "second")}, but ${oneLine(statusText(last))}.`,
    { session_id: started.session_id, hint: `It continues. ${checkHint(started)}` },
  );
}

async function ended(
  found: Found,
  started: Session,
  last: Session | null,
  progress: Progress,
): Promise<CliError> {
  const id = shortId(started);
  const { session_id } = started;
  if (last === null) {
    return new CliError("session_deleted", `The session ${id} was deleted.`, { session_id });
  }
  if (last.status !== "failed") {
    const by = last.stop_reason === null ? "" : ` (${oneLine(last.stop_reason)})`;
    return new CliError("session_stopped", `The session ${id} was stopped${by}.`, {
      session_id,
      hint: `To restart it: svc sessions restart ${id}`,
    });
  }
  return new CliError("session_failed", failureText(last), {
    session_id,
    log: progress.keepsLines ? undefined : await tailOf(found),
    hint: `The whole log: svc sessions logs ${id}\n      To retry: svc sessions restart ${id}`,
  });
}

/** The reason and the step of a failure. */
export function failureText(session: Session): string {
  const at = session.step === null ? "" : ` at the step ${oneLine(session.step)}`;
  return `The session ${shortId(session)} failed${at}: ${oneLine(session.error ?? "no reason is known")}`;
}

/** The end of a session's log; empty if it cannot be read, because it is optional. */
export async function tailOf({ api, path }: Found): Promise<LogLine[]> {
  const call = { path: `${path}/logs`, query: { tail: TAIL } };
  const { lines } = await api.call<{ lines: LogLine[] }>(call).catch(() => ({ lines: [] }));
  return Array.isArray(lines) ? lines.slice(-TAIL) : [];
}

const checkHint = (session: Session): string => `To check it: svc sessions info ${shortId(session)}`;
