import type { DaemonHealth } from "../src/contract/daemon.ts";
import { workspaceCommand } from "./git/git.ts";
import type { Children } from "./process/children.ts";
import { run } from "./process/run.ts";
import { timeOfDescendants } from "./process/tree.ts";
import type { Conversation } from "./prompts/conversation.ts";
import { runningSessions } from "./runtime/abort.ts";
import type { Runtime } from "./runtime/runtime.ts";
import type { Saver } from "./saved/saver.ts";
import type { Settings } from "./settings.ts";
import type { Setup } from "./setup/setup.ts";

/** The state of the daemon that its health reports. */
export interface HealthContext {
  settings: Settings;
  children: Children;
  runtime: Pick<Runtime, "state" | "pid" | "error" | "call">;
  conversation: Pick<Conversation, "find" | "known">;
  saver: Pick<Saver, "saved" | "restored" | "problem">;
  setup: Pick<Setup, "status">;
  clone: DaemonHealth["clone"];
  /** An error of the clone or of the first prompt. */
  error: DaemonHealth["error"] | null;
  /** When a client last used the sandbox, by `performance.now()`: the clock of the day may be set. */
  usedAt: number;
}

/** How long a result is cached, so that frequent health checks cost little. */
const FRESH_MS = 1_000;
const COMMIT_MS = 5_000;

/** @returns the handler of `GET /svc/health` */
export function createHealth(context: HealthContext): () => Promise<DaemonHealth> {
  const { settings, runtime, saver } = context;
  // a runtime without work uses some time, too, which is no progress of the clone
  const worked = cached(() =>
    timeOfDescendants(process.pid, context.clone === "ok" ? null : context.runtime.pid),
  );
  const commit = cached(() => readCommit(context));
  const conversation = cached(() => context.conversation.find().catch(() => null));
  const busy = cached(async () => runtime.state === "ok" && isBusy(await runningSessions(runtime.call)));

  return async () => {
    // one snapshot: with the state "ok", a conversation of null means that there is none
    const { state, pid, error: ofRuntime } = runtime;
    const [workedMs, checkedOut, isAtWork, conversationId] = await Promise.all([
      worked(),
      context.clone === "ok" && settings.autoClone ? commit() : null,
      busy(),
      // without a runtime there is no result to cache
      // one that was opened since the last look is reported at once: its answers are read after a prompt's end
      state === "ok" ? (context.conversation.known ?? conversation()) : null,
    ]);
    if (isAtWork) context.usedAt = performance.now();
    // before there is a clone, what fails is the clone, and the runtime may be restarted meanwhile
    const error = (context.clone === "ok" ? ofRuntime : null) ?? context.error;
    return {
      daemon: "ok",
      time: new Date().toISOString(),
      runtime: state,
      uptime_s: Math.floor(process.uptime()),
      worked_ms: workedMs,
      runtime_pid: pid,
      repo: settings.repoUrl,
      branch: settings.branch,
      commit: checkedOut,
      clone: context.clone,
      busy: isAtWork,
      conversation: conversationId,
      active_at: timeOf(context.usedAt),
      saved: saver.saved,
      ...(saver.restored !== null && { restored: saver.restored }),
      ...(saver.problem !== null && { save_problem: saver.problem }),
      ...(context.setup.status !== null && { setup: context.setup.status }),
      ...(error && { error }),
    };
  };
}

/** A runtime that does not respond counts as idle: the watchdog ends it if that lasts. */
function isBusy(sessions: string[] | null): boolean {
  return sessions !== null && sessions.length > 0;
}

/** The commit that is checked out; null if git cannot read it. */
export async function readCommit({
  settings,
  children,
}: Pick<HealthContext, "settings" | "children">): Promise<string | null> {
  const command = workspaceCommand(settings, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"]);
  const ran = await run(children, command, COMMIT_MS).catch(() => null);
  const id = ran?.code === 0 ? ran.stdout.trim() : "";
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id) ? id : null;
}

/** When something happened, by the clock of the day as it is now. @param at by `performance.now()` */
export function timeOf(at: number): string {
  return new Date(Date.now() - (performance.now() - at)).toISOString();
}

/** Shares one result among the calls within `FRESH_MS`. */
export function cached<T>(read: () => Promise<T>): () => Promise<T> {
  let last: { at: number; answer: Promise<T> } | null = null;
  return () => {
    if (!last || performance.now() - last.at > FRESH_MS) last = { at: performance.now(), answer: read() };
    return last.answer;
  };
}
