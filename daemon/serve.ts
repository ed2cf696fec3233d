import { mkdir } from "node:fs/promises";
import type { DaemonEnv, DaemonPrompt, DaemonPromptBody } from "../src/contract/daemon.ts";
import { SvcError } from "../src/contract/errors.ts";
import { createIdentify } from "./caller.ts";
import { createControl, type Verbs } from "./control.ts";
import { createDecide } from "./decide.ts";
import { type AgentConfig, AgentConfigError, fetchAgentConfig, NO_AGENT_CONFIG } from "./git/agent-config.ts";
import { cloneUntilThere } from "./git/clone.ts";
import { pullBranch } from "./git/refresh.ts";
import { createHealth, type Facts } from "./health.ts";
import { listenAsDaemon } from "./listen.ts";
import { createLog } from "./log.ts";
import { createChildren } from "./process/children.ts";
import { guardProcess } from "./process/guard.ts";
import { createConversation } from "./prompts/conversation.ts";
import { createPrompts } from "./prompts/prompts.ts";
import { abortRuns } from "./runtime/abort.ts";
import { type RuntimeContext, superviseRuntime } from "./runtime/runtime.ts";
import { bringBack } from "./saved/bring-back.ts";
import { createSaver, type SaverContext } from "./saved/saver.ts";
import type { Settings } from "./settings.ts";

export interface Daemon {
  port: number;
  /** Aborts what runs, ends the runtime with all that it started, and answers no more. */
  stop(): Promise<void>;
  /** Ends what the daemon has started, at once. */
  kill(): void;
}

/** For runs to be over after an abort; then the caller is told that they are not. */
const ABORT_MS = 15_000;
/** For work to be saved before the runtime, or the daemon, ends: whoever ends the sandbox waits for that. */
const SAVE_MS = 20_000;
/** For what the runtime has written as it ended. */
const LAST_SAVE_MS = 5_000;
/** How long after a prompt its run may not show yet. */
const EXPECTED_MS = 3_000;
/** Between two tries to open the conversation. */
const AGAIN_MS = 1_000;
/** What becomes of the prompt that is being answered then. */
const STOPPED = {
  state: "interrupted",
  error: "The sandbox was stopped in the middle of the answer.",
} as const;
/** For the answers that are under way when the daemon stops. */
const DRAIN_MS = 500;

/**
 * Runs the daemon (contract: Order of boot): listens, clones, starts the runtime, sends the first prompt.
 *
 * 1. Listen at once: health reports the progress, every other request gets 503 until the runtime is ready.
 * 2. Clone into a folder of the workspace, with a credential that lives for minutes, then move it into place. A
 *    failed clone is reported and retried (`boot.ts`).
 * 3. Prepare the runtime's home: the agents of the default branch, svc's skill, plugins. Start the runtime without
 *    the service key, as a user of its own, inside the provider's wrapper. So does everything that reads files the
 *    agent wrote, since a repository's settings are programs to git.
 * 4. Supervise it: a runtime that exits, hangs or takes too much memory is restarted, and the conversations that it
 *    was answering are notified.
 * 5. Every half minute save unpushed work: a commit made beside the workspace, uploaded by the daemon itself.
 * 6. At the end: abort, wait, save, SIGTERM, SIGKILL, with every descendant, which the daemon adopts as a subreaper.
 *
 * @param limits of the runtime's supervision, and of how work is saved; their own unless given
 */
export function serveDaemon(
  settings: Settings,
  limits: RuntimeContext["limits"] & SaverContext["limits"] = {},
): Daemon {
  const log = createLog();
  const children = createChildren();
  guardProcess(children, log);

  let secrets: DaemonEnv = settings.secrets;
  let agentConfig = NO_AGENT_CONFIG;
  /** How many are ending what runs at the moment: what is given meanwhile would be ended with it. */
  let endings = 0;
  /** When somebody has prompted or aborted the runtime itself, and when anybody has prompted it. */
  let othersAt = Number.NEGATIVE_INFINITY;
  let promptedAt = Number.NEGATIVE_INFINITY;
  let isBegun = false;
  const stopping = new AbortController();
  const saver = createSaver({ settings, children, log, secrets: () => secrets, limits });
  const runtime = superviseRuntime({
    settings,
    children,
    log,
    secrets: () => secrets,
    agentConfig: () => agentConfig,
    onReady: () => void begin(),
    beforeEnd: () => saveWork(),
    limits,
  });
  const conversation = createConversation(runtime.call);
  const prompts = createPrompts({
    settings,
    runtime,
    conversation,
    isHeld: () => endings > 0 || performance.now() - othersAt < EXPECTED_MS,
    onGiven() {
      promptedAt = performance.now();
    },
  });
  const facts: Facts = {
    settings,
    children,
    runtime,
    conversation,
    saver,
    clone: settings.autoClone ? "cloning" : "ok",
    error: null,
    usedAt: Date.now(),
  };
  const verbs: Verbs = { health: createHealth(facts), refresh: once(refresh), abort, setSecrets, prompt };
  const gate = {
    identify: createIdentify(settings),
    control: createControl(verbs),
    runtime,
    runtimePort: settings.runtimePort,
    ownPort: () => listener.port,
    onUse({ isPrompt, isAbort }: { isPrompt: boolean; isAbort: boolean }) {
      facts.usedAt = Date.now();
      if (isPrompt) othersAt = promptedAt = performance.now();
      if (isAbort) {
        othersAt = performance.now();
        prompts.noteAbort();
      }
    },
  };
  const listener = listenAsDaemon(settings, createDecide(gate));
  log.say(`listens on ${settings.host}:${listener.port}`);
  void boot();

  return {
    port: listener.port,
    async stop() {
      stopping.abort();
      saver.stop();
      endings++;
      prompts.cutOff(STOPPED);
      await runtime.stop();
      // also without a runtime, and what it has written as it ended
      await saveWork(LAST_SAVE_MS);
      await listener.stop(DRAIN_MS);
    },
    kill: children.kill,
  };

  async function boot(): Promise<void> {
    if (settings.autoClone) {
      const config = await cloneUntilThere(
        { settings, children, log },
        ({ message, permanent }) => {
          facts.clone = "failed";
          facts.error = { kind: "clone", message, permanent };
        },
        stopping.signal,
      );
      if (config === null) return;
      takeAgentConfig(config);
      if (settings.restore !== null)
        await bringBack({ settings, children, log, saver }, settings.restore, stopping.signal);
      if (stopping.signal.aborted) return;
      facts.clone = "ok";
      facts.error = null;
      saver.start();
    } else await mkdir(settings.workspace, { recursive: true }).catch(() => {});
    runtime.start();
  }

  function takeAgentConfig(config: AgentConfig): void {
    agentConfig = config;
    if (config.commit !== null) log.say(`the project's agents are those of ${config.commit}`);
  }

  /** Once in a sandbox's life, as soon as the runtime takes it. */
  async function begin(): Promise<void> {
    if (isBegun || !settings.opensConversation) return;
    isBegun = true;
    for (; !stopping.signal.aborted; await Bun.sleep(AGAIN_MS)) {
      const outcome = await firstPrompt().catch(() => null);
      if (outcome === null) continue;
      if (outcome.state !== "failed") return;
      const message = `The first prompt was not sent: ${outcome.error}`;
      log.say(message);
      facts.error = { kind: "runtime", message, permanent: true };
      return;
    }
  }

  async function firstPrompt(): Promise<Pick<DaemonPrompt, "state" | "error">> {
    await conversation.open();
    if (settings.prompt === null) return { state: "running", error: null };
    const given = await prompts.give({ id: settings.sessionId, text: settings.prompt }, false);
    if (given.state !== "failed") log.say("sent the first prompt");
    return given;
  }

  async function prompt({ prompt_id: id, text, wait }: DaemonPromptBody): Promise<DaemonPrompt> {
    facts.usedAt = Date.now();
    return await prompts.give({ id, text }, wait ?? false);
  }

  async function saveWork(ms = SAVE_MS): Promise<void> {
    if (facts.clone === "ok" && settings.autoClone) await saver.save(ms);
  }

  async function refresh(): Promise<{ before: string | null; after: string | null }> {
    if (facts.clone !== "ok" || !settings.autoClone)
      throw new SvcError("unavailable", "The repository is not cloned yet.", {}, { "Retry-After": "1" });
    await saveWork();
    const config = await fetchAgentConfig(settings).catch((error: unknown) => {
      if (error instanceof AgentConfigError) throw new SvcError("repo_unreachable", error.message);
      throw error;
    });
    const moved = await pullBranch({ settings, children });
    takeAgentConfig(config);
    log.say(`refreshed from ${moved.before} to ${moved.after}`);
    await restart();
    return moved;
  }

  async function abort(): Promise<void> {
    if (runtime.state !== "ok")
      throw new SvcError("unavailable", "The agent runtime is not ready.", {}, { "Retry-After": "1" });
    prompts.noteAbort();
    const isExpected = () => performance.now() - promptedAt < EXPECTED_MS;
    const { found, idle } = await ending(() => abortRuns(runtime.call, ABORT_MS, isExpected));
    if (!idle) throw new SvcError("sandbox_unreachable", "The run was aborted, and does not end.");
    if (!found) throw new SvcError("nothing_to_abort", "No run is under way.");
  }

  async function setSecrets(wanted: DaemonEnv): Promise<boolean> {
    const isChanged = !isSame(secrets.env, wanted.env);
    secrets = wanted;
    if (isChanged) await restart();
    return isChanged;
  }

  async function restart(): Promise<void> {
    await ending(async () => {
      prompts.cutOff();
      await runtime.restart();
    });
  }

  async function ending<T>(work: () => Promise<T>): Promise<T> {
    endings++;
    try {
      return await work();
    } finally {
      endings--;
    }
  }
}

/** One at a time: whoever comes meanwhile is refused. */
function once<T>(work: () => Promise<T>): () => Promise<T> {
  let isRunning = false;
  return async () => {
    if (isRunning) throw new SvcError("refresh_in_progress", "A refresh is under way.");
    isRunning = true;
    try {
      return await work();
    } finally {
      isRunning = false;
    }
  };
}

function isSame(one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}
