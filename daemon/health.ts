import type { DaemonHealth } from "../src/contract/daemon.ts";
import { gitEnvironment } from "./git/git.ts";
import { asAgent, type Children } from "./process/children.ts";
import { run } from "./process/run.ts";
import type { Conversation } from "./prompts/conversation.ts";
import { runningSessions } from "./runtime/abort.ts";
import type { Runtime } from "./runtime/runtime.ts";
import type { Saver } from "./saved/saver.ts";
import type { Settings } from "./settings.ts";

/** What the daemon knows of itself, for its health. */
export interface Facts {
  settings: Settings;
  children: Children;
  runtime: Pick<Runtime, "state" | "pid" | "error" | "call">;
  conversation: Pick<Conversation, "find">;
  saver: Pick<Saver, "saved" | "restored" | "problem">;
  clone: DaemonHealth["clone"];
  /** What is wrong beside the runtime's own error: with the clone, or with the first prompt. */
  error: DaemonHealth["error"] | null;
  /** Milliseconds since 1970, when somebody last asked something of the sandbox. */
  usedAt: number;
}

/** An answer counts for so long: whoever asks often is not to keep the sandbox awake. */
const FRESH_MS = 1_000;
const COMMIT_MS = 5_000;

/** @returns what answers `GET /svc/health` */
export function createHealth(facts: Facts): () => Promise<DaemonHealth> {
  const { settings, runtime, saver } = facts;
  const commit = remembered(() => readCommit(facts));
  const conversation = remembered(() => facts.conversation.find().catch(() => null));
  const busy = remembered(async () => runtime.state === "ok" && isBusy(await runningSessions(runtime.call)));

  return async () => {
    // one snapshot: with the state "ok", a conversation of null means that there is none
    const { state, pid, error: ofRuntime } = runtime;
    const [checkedOut, isAtWork, conversationId] = await Promise.all([
      facts.clone === "ok" && settings.autoClone ? commit() : null,
      busy(),
      // that there was none to ask is nothing to remember
      state === "ok" ? conversation() : null,
    ]);
    if (isAtWork) facts.usedAt = Date.now();
    const error = (facts.clone === "failed" ? facts.error : null) ?? ofRuntime ?? facts.error;
    return {
      daemon: "ok",
      time: new Date().toISOString(),
      runtime: state,
      uptime_s: Math.floor(process.uptime()),
      runtime_pid: pid,
      repo: settings.repoUrl,
      branch: settings.branch,
      commit: checkedOut,
      clone: facts.clone,
      busy: isAtWork,
      conversation: conversationId,
      active_at: new Date(facts.usedAt).toISOString(),
      saved: saver.saved,
      ...(saver.restored !== null && { restored: saver.restored }),
      ...(saver.problem !== null && { save_problem: saver.problem }),
      ...(error && { error }),
    };
  };
}

/** One that does not say counts as idle: it is ended when it stays so. */
function isBusy(sessions: string[] | null): boolean {
  return sessions !== null && sessions.length > 0;
}

/** What is checked out; null when git cannot say. */
export async function readCommit({
  settings,
  children,
}: Pick<Facts, "settings" | "children">): Promise<string | null> {
  const command = {
    ...asAgent(settings, ["git", "rev-parse", "--verify", "--quiet", "HEAD^{commit}"]),
    environment: gitEnvironment(settings, null),
    directory: settings.workspace,
  };
  const ran = await run(children, command, COMMIT_MS).catch(() => null);
  const id = ran?.code === 0 ? ran.stdout.trim() : "";
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id) ? id : null;
}

/** Asks at most once at a time, and not again for a moment. */
function remembered<T>(ask: () => Promise<T>): () => Promise<T> {
  let last: { at: number; answer: Promise<T> } | null = null;
  return () => {
    if (!last || performance.now() - last.at > FRESH_MS) last = { at: performance.now(), answer: ask() };
    return last.answer;
  };
}
