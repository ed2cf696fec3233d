import { mkdir } from "node:fs/promises";
import type { DaemonEnv } from "../src/contract/daemon.ts";
import { SvcError } from "../src/contract/errors.ts";
import { listen } from "../src/splice/listen.ts";
import { abortRuns } from "./abort.ts";
import { createIdentify } from "./caller.ts";
import { createChildren } from "./children.ts";
import { cloneUntilThere } from "./clone.ts";
import { createControl, type Verbs } from "./control.ts";
import { createConversation } from "./conversation.ts";
import { createDecide, explain } from "./decide.ts";
import { sendFirstPrompt } from "./first-prompt.ts";
import { createHealth, type Facts } from "./health.ts";
import { loadLibc } from "./libc.ts";
import { createLog } from "./log.ts";
import { reapOrphans } from "./reaper.ts";
import { pullBranch } from "./refresh.ts";
import { type RuntimeContext, superviseRuntime } from "./runtime.ts";
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
/** How long after a prompt its run may not show yet. */
const EXPECTED_MS = 3_000;
/** For the answers that are under way when the daemon stops. */
const DRAIN_MS = 500;

/**
 * Runs the daemon (contract: Order of boot): listens, clones, starts the runtime, sends the first prompt.
 * @param limits of the runtime's supervision; its own unless given
 */
export function serveDaemon(settings: Settings, limits: RuntimeContext["limits"] = {}): Daemon {
  const log = createLog();
  const children = createChildren();
  const libc = loadLibc();
  const isHidden = libc?.hide() ?? false;
  const adopts = libc?.adoptOrphans() ?? false;
  if (libc && adopts) reapOrphans(libc, children.isOurs);
  if (!isHidden || !adopts)
    log.say("the C library cannot be called: orphans and the daemon's memory are not guarded");

  let secrets: DaemonEnv = settings.secrets;
  let promptedAt = Number.NEGATIVE_INFINITY;
  let isPrompted = false;
  const stopping = new AbortController();
  const runtime = superviseRuntime({
    settings,
    children,
    log,
    secrets: () => secrets,
    onReady: () => void prompt(),
    limits,
  });
  const conversation = createConversation(runtime.call);
  const facts: Facts = {
    settings,
    children,
    runtime,
    conversation,
    clone: settings.autoClone ? "cloning" : "ok",
    error: null,
    usedAt: Date.now(),
  };
  const verbs: Verbs = { health: createHealth(facts), refresh: once(refresh), abort, setSecrets };
  const gate = {
    identify: createIdentify(settings),
    control: createControl(verbs),
    runtime,
    runtimePort: settings.runtimePort,
    ownPort: () => listener.port,
    onUse({ isPrompt }: { isPrompt: boolean }) {
      facts.usedAt = Date.now();
      if (isPrompt) promptedAt = performance.now();
    },
  };
  const listener = listen({ hostname: settings.host, port: settings.port }, createDecide(gate), explain);
  log.say(`listens on ${settings.host}:${listener.port}`);
  void boot();

  return {
    port: listener.port,
    async stop() {
      stopping.abort();
      await runtime.stop();
      await listener.stop(DRAIN_MS);
    },
    kill: children.kill,
  };

  async function boot(): Promise<void> {
    if (settings.autoClone) {
      await cloneUntilThere(
        { settings, children, log },
        ({ message, permanent }) => {
          facts.clone = "failed";
          facts.error = { kind: "clone", message, permanent };
        },
        stopping.signal,
      );
      if (stopping.signal.aborted) return;
      facts.clone = "ok";
      facts.error = null;
    } else await mkdir(settings.workspace, { recursive: true }).catch(() => {});
    runtime.start();
  }

  /** Once in a sandbox's life. */
  async function prompt(): Promise<void> {
    if (isPrompted || settings.prompt === null) return;
    isPrompted = true;
    promptedAt = performance.now();
    await sendFirstPrompt(runtime.call, conversation, settings, settings.prompt).then(
      () => log.say("sent the first prompt"),
      (error: unknown) => {
        const message = error instanceof Error ? error.message : "The first prompt was not sent.";
        log.say(message);
        facts.error = { kind: "runtime", message, permanent: true };
      },
    );
  }

  async function refresh(): Promise<{ before: string | null; after: string | null }> {
    if (facts.clone !== "ok" || !settings.autoClone)
      throw new SvcError("unavailable", "The repository is not cloned yet.", {}, { "Retry-After": "1" });
    const moved = await pullBranch({ settings, children });
    log.say(`refreshed from ${moved.before} to ${moved.after}`);
    await runtime.restart();
    return moved;
  }

  async function abort(): Promise<void> {
    if (runtime.state !== "ok")
      throw new SvcError("unavailable", "The agent runtime is not ready.", {}, { "Retry-After": "1" });
    const isExpected = () => performance.now() - promptedAt < EXPECTED_MS;
    const { found, idle } = await abortRuns(runtime.call, ABORT_MS, isExpected);
    if (!idle) throw new SvcError("sandbox_unreachable", "The run was aborted, and does not end.");
    if (!found) throw new SvcError("nothing_to_abort", "No run is under way.");
  }

  async function setSecrets(wanted: DaemonEnv): Promise<boolean> {
    const isChanged = !isSame(secrets.env, wanted.env);
    secrets = wanted;
    if (isChanged) await runtime.restart();
    return isChanged;
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
