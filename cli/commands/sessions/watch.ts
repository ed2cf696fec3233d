import type { LogLine, Session } from "../../../src/contract/session.ts";
import { follow } from "../../../src/conversation/follow.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../failure.ts";
import { count, oneLine } from "../../text.ts";
import { transportOf } from "../../transport.ts";
import { makeProgress, type Progress } from "./progress.ts";
import type { Found } from "./reference.ts";
import { shortId, statusText } from "./show-session.ts";

/** Seconds that are waited for a session unless --timeout says otherwise: a first image can take that long to build. */
const WAIT_SECONDS = 1800;
/** Lines of the log that are shown with a failure. */
const TAIL = 20;

/** The boot steps in words (contract/session.ts). */
const STEPS: Readonly<Record<string, string>> = {
  branch: "cutting the session's branch",
  image: "building the sandbox's image",
  sandbox: "starting the sandbox",
  clone: "cloning the repository",
  runtime: "starting the agent",
};

/**
 * Waits until a session is what it was told to be, and shows what goes on meanwhile. One that has failed has no sandbox
 * either: for `stopped` it will do. Ctrl-C ends the waiting and not the session.
 * @throws CliError `session_failed` with the error and the end of the log, `session_stopped`, `session_deleted`,
 *   `timeout`.
 */
export async function watch(
  context: Context,
  found: Found,
  begun: Session,
  goal: "running" | "stopped",
): Promise<Session> {
  const progress = makeProgress(context);
  const stop = new AbortController();
  const seconds = context.globals.timeout ?? WAIT_SECONDS;
  const timer = setTimeout(() => stop.abort("late"), seconds * 1000);
  const interrupt = () => stop.abort("interrupted");
  process.once("SIGINT", interrupt);
  let last: Session | null = begun;
  try {
    last = await untilSettled(found, begun, goal, progress, stop.signal);
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", interrupt);
    await progress.end(endingOf(last, goal));
  }
  if (last?.status === goal || (last?.status === "failed" && goal === "stopped")) return last;
  if (last === null || isSettled(last, goal)) throw await ended(found, begun, last, progress);
  if (stop.signal.reason === "late") throw late(begun, last, goal, seconds);
  await context.out.note(`The session goes on. ${lookIn(begun)}`);
  process.kill(process.pid, "SIGINT");
  return new Promise(() => {});
}

/** The session as it was when it settled, or was heard of last; null once it is deleted. */
async function untilSettled(
  { api, path }: Found,
  begun: Session,
  goal: string,
  progress: Progress,
  signal: AbortSignal,
): Promise<Session | null> {
  let session = begun;
  let isLost = false;
  show(session, goal, progress);
  if (isSettled(session, goal)) return session;
  for await (const heard of follow(transportOf(api), path, signal)) {
    if (heard.type === "deleted") return null;
    if (heard.type === "lost") {
      if (!isLost) progress.notice(`${heard.reason} Trying again…`);
      isLost = true;
      continue;
    }
    isLost = false;
    if (heard.type === "log") {
      // A stream begins with the end of the log, and what it says of earlier starts is no news.
      if (heard.line.at === null || heard.line.at >= begun.updated_at) progress.line(heard.line);
    } else if (heard.type === "session") {
      session = heard.session;
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

/** Whether nothing more is to be waited for. */
const isSettled = ({ status }: Session, goal: string): boolean =>
  status === goal || status === "failed" || (goal === "running" && status === "stopped");

/** A session that failed still names its step; one that runs or is stopped has none. */
function show({ status, step }: Session, goal: string, progress: Progress): void {
  if (goal === "stopped") progress.step("stop", "saving the work and ending the sandbox");
  else if (step !== null) progress.step(step, Object.hasOwn(STEPS, step) ? STEPS[step] : undefined);
  else if (status === "provisioning") progress.step("", "waiting for its turn");
}

function late(begun: Session, last: Session, goal: string, seconds: number): CliError {
  return new CliError(
    "timeout",
    `After ${count(seconds, "second")} the session ${shortId(begun)} is not ${goal} yet, but ${oneLine(statusText(last))}.`,
    { session_id: begun.session_id, hint: `It goes on. ${lookIn(begun)}` },
  );
}

async function ended(
  found: Found,
  begun: Session,
  last: Session | null,
  progress: Progress,
): Promise<CliError> {
  const id = shortId(begun);
  const { session_id } = begun;
  if (last === null) {
    return new CliError("session_deleted", `The session ${id} was deleted meanwhile.`, { session_id });
  }
  if (last.status !== "failed") {
    const by = last.stop_reason === null ? "" : ` (${oneLine(last.stop_reason)})`;
    return new CliError("session_stopped", `The session ${id} was stopped meanwhile${by}.`, {
      session_id,
      hint: `To start it again: svc sessions restart ${id}`,
    });
  }
  return new CliError("session_failed", failureText(last), {
    session_id,
    log: progress.keepsLines ? undefined : await tailOf(found),
    hint: `The whole log: svc sessions logs ${id}\n      To try again: svc sessions restart ${id}`,
  });
}

/** Why a session failed, and at which step. */
export function failureText(session: Session): string {
  const at = session.step === null ? "" : ` at the step ${oneLine(session.step)}`;
  return `The session ${shortId(session)} failed${at}: ${oneLine(session.error ?? "no reason is known")}`;
}

/** The end of a session's log; empty where it cannot be had, since it only explains. */
export async function tailOf({ api, path }: Found): Promise<LogLine[]> {
  const call = { path: `${path}/logs`, query: { tail: TAIL } };
  const { lines } = await api.call<{ lines: LogLine[] }>(call).catch(() => ({ lines: [] }));
  return Array.isArray(lines) ? lines.slice(-TAIL) : [];
}

const lookIn = (session: Session): string => `To look in: svc sessions info ${shortId(session)}`;
