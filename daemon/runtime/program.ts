import type { DaemonHealth } from "../../src/contract/daemon.ts";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import type { Child } from "../process/children.ts";
import { forEachLine } from "../process/lines.ts";
import { run } from "../process/run.ts";
import { untilStuck } from "../process/stuck.ts";
import type { Exit, Program } from "../process/supervisor.ts";
import { abortRuns, runningSessions } from "./abort.ts";
import type { RuntimeCall } from "./call.ts";
import { markInterrupted } from "./interrupted.ts";
import { clearLocksCommand, launchCommand, startFailure } from "./launch.ts";
import { NotInstalledError } from "./not-installed.ts";
import { prepareHome, prepareWorkspace } from "./prepare-home.ts";
import { LISTENING, untilReady } from "./ready.ts";
import type { RuntimeContext, RuntimeLimits } from "./runtime.ts";
import { watch } from "./watchdog.ts";

type RuntimeError = NonNullable<DaemonHealth["error"]>;

interface ProgramContext extends RuntimeContext {
  limits: RuntimeLimits;
  password: string;
  call: RuntimeCall;
}

/** Removing a few lock folders. */
const CLEAR_MS = 10_000;

/** The agent runtime's program, as the supervisor runs it. */
export class RuntimeProgram implements Program {
  /** The last error; null once the runtime is ready. */
  error: RuntimeError | null = null;
  readonly #context: ProgramContext;
  /** Restores the files in the clone that a start of the runtime changes. */
  #restoreFiles = async () => {};
  /** When the last process was started, in milliseconds since 1970; null before the first. */
  #startedAt: number | null = null;
  /** Sessions whose runs were aborted for a restart. */
  readonly #aborted = new Set<string>();

  constructor(context: ProgramContext) {
    this.#context = context;
  }

  async start(): Promise<Child | Exit> {
    const { settings, children, password, secrets, choice } = this.#context;
    try {
      await prepareHome(this.#context);
      const command = await launchCommand({ ...settings, ...choice() }, secrets(), password);
      await run(children, clearLocksCommand(settings), CLEAR_MS);
      return children.start(command);
    } catch (thrown) {
      if (!(thrown instanceof NotInstalledError)) return notStarted(thrown);
      return { kind: "failed", error: { kind: "runtime", message: thrown.message, permanent: true } };
    }
  }

  async monitor(child: Child, onReady: () => void, signal: AbortSignal): Promise<Exit | null> {
    const { settings, log, call, limits } = this.#context;
    const previousStart = this.#startedAt;
    this.#startedAt = Date.now();
    log.info(`started the runtime as process ${child.pid}`);
    const listening = this.#readOutput(child);
    const problem = await this.#prepareWorkspace(signal);
    if (problem !== null || signal.aborted) return problem;
    const readiness = await this.#untilReady(child, listening, signal);
    if (signal.aborted) return null;
    if (readiness.kind === "late")
      return {
        kind: "crashed",
        reason: `was ended before it was ready, since ${readiness.why}`,
      };
    if (readiness.kind === "config") {
      const message = `The agent runtime cannot use its configuration: ${readiness.message}. Fix it in the repository, and refresh the session.`;
      return { kind: "failed", error: { kind: "config", message, permanent: true } };
    }
    await this.#restoreFiles();
    if (previousStart !== null) await this.#markInterrupted(previousStart);
    await this.#context.beforeReady?.();
    if (signal.aborted) return null;
    onReady();
    this.error = null;
    log.info("the runtime is ready");
    if (settings.runtime === "opencode" && readiness.version !== RUNTIME_VERSION)
      log.info(
        `the runtime is opencode ${readiness.version}, but svc supports ${RUNTIME_VERSION}: some features may fail`,
      );
    this.#context.onReady();
    return await watch({ call, log, limits, port: settings.runtimePort }, child.pid, signal);
  }

  async drain(_: Child, wasReady: boolean): Promise<void> {
    const { call, limits, beforeEnd } = this.#context;
    if (wasReady) {
      for (const id of (await runningSessions(call)) ?? []) this.#aborted.add(id);
      await abortRuns(call, limits.abortMs);
    }
    await beforeEnd?.();
  }

  onExit(exit: Exclude<Exit, { kind: "replaced" }>, pauseMs: number): boolean {
    const isCrash = exit.kind === "crashed";
    this.error = isCrash ? crashError(exit.reason, pauseMs) : exit.error;
    this.#context.log.info(this.error.message);
    return isCrash;
  }

  /** @returns resolves when the process says that it listens */
  #readOutput(child: Child): Promise<void> {
    const { log } = this.#context;
    const { promise: listening, resolve } = Promise.withResolvers<void>();
    forEachLine(child.stdout, (line) => {
      log.runtime(line);
      if (line.includes(LISTENING)) resolve();
    });
    forEachLine(child.stderr, log.runtime);
    return listening;
  }

  /** Waits for the workspace, and prepares it. The process loads its program meanwhile. @returns why that failed */
  async #prepareWorkspace(signal: AbortSignal): Promise<Exit | null> {
    const { workspace, agentConfig } = this.#context;
    await workspace.wait(signal);
    if (signal.aborted) return null;
    try {
      this.#restoreFiles = await prepareWorkspace(this.#context, agentConfig());
      return null;
    } catch (thrown) {
      return notStarted(thrown);
    }
  }

  async #untilReady(
    child: Child,
    listening: Promise<void>,
    signal: AbortSignal,
  ): ReturnType<typeof untilReady> {
    const { call, limits } = this.#context;
    const over = new AbortController();
    let late: string | null = null;
    const stuck = untilStuck(child.pid, limits.start, AbortSignal.any([signal, over.signal]));
    void stuck.then((why) => {
      late = why;
    });
    try {
      await Promise.race([listening, stuck]);
      return await untilReady(call, () => (signal.aborted ? "it was ended" : late));
    } finally {
      over.abort();
    }
  }

  async #markInterrupted(since: number): Promise<void> {
    const { call, log } = this.#context;
    const marked = await markInterrupted(call, since, this.#aborted);
    this.#aborted.clear();
    if (marked > 0)
      log.info(`${marked} ${marked === 1 ? "answer was" : "answers were"} cut off by the restart`);
  }
}

function notStarted(thrown: unknown): Exit {
  return { kind: "crashed", reason: `could not be started: ${startFailure(thrown)}` };
}

/** @param pauseMs until the restart; absent while the process is being ended */
export function crashError(reason: string, pauseMs?: number): RuntimeError {
  const restart = pauseMs === undefined ? "" : ` It restarts in ${pauseMs / 1000} s.`;
  return { kind: "runtime", message: `The agent runtime ${reason}.${restart}`, permanent: false };
}
