import { randomBytes } from "node:crypto";
import type { DaemonEnv, DaemonHealth, RuntimeState } from "../../src/contract/daemon.ts";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import type { AgentConfig } from "../git/agent-config.ts";
import type { Log } from "../log.ts";
import { type Children, signalGroup } from "../process/children.ts";
import { eachLine } from "../process/lines.ts";
import { run } from "../process/run.ts";
import { endDescendants } from "../process/tree.ts";
import type { Settings } from "../settings.ts";
import { abortRuns, runningSessions } from "./abort.ts";
import { callRuntime, type RuntimeCall } from "./call.ts";
import { furnish } from "./furnish.ts";
import { markInterrupted } from "./interrupted.ts";
import {
  authorizationOf,
  clearLocksCommand,
  launchCommand,
  NotInstalledError,
  whyNotStarted,
} from "./launch.ts";
import { type LookLimits, lookAfter } from "./look-after.ts";
import { LISTENING, untilReady } from "./ready.ts";

/** The agent runtime: one process, started again whenever it ends. */
export interface Runtime {
  readonly state: RuntimeState;
  readonly pid: number | null;
  readonly error: DaemonHealth["error"] | null;
  /** What opens it; the password is its process's. */
  readonly authorization: string;
  readonly call: RuntimeCall;
  /** Starts it, once the workspace is there. */
  start(): void;
  /** Ends what runs and starts it again. Settles when the old one is gone. */
  restart(): Promise<void>;
  /** Ends it for good: runs are aborted, then it is asked to end, then killed, with all that it started. */
  stop(): Promise<void>;
}

export interface RuntimeContext {
  settings: Settings;
  children: Children;
  log: Log;
  /** The secrets as they are at the time of a start. */
  secrets(): DaemonEnv;
  /** The project's agents, skills and tools, as they are at the time of a start. */
  agentConfig(): AgentConfig;
  /** Told each time it is ready. */
  onReady(): void;
  /** Waited for before a process that runs is ended on purpose, once its runs are over. */
  beforeEnd?(): Promise<void>;
  limits?: Partial<Limits>;
}

export interface Limits extends LookLimits {
  /** Pauses before it is started again: the first, doubled each time up to the longest. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** One that ran as long as this was no part of a crash loop. */
  soundMs: number;
  /** From its start until it answers; installing plugins without a network takes it a minute and a half. */
  readyMs: number;
  /** For runs to end after an abort; and for the process after SIGTERM. */
  abortMs: number;
  termMs: number;
}

const LIMITS: Limits = {
  firstPauseMs: 500,
  longestPauseMs: 30_000,
  soundMs: 60_000,
  readyMs: 180_000,
  lookMs: 15_000,
  lookAnswerMs: 10_000,
  looks: 4,
  bloatedMs: 10 * 60_000,
  abortMs: 3_000,
  termMs: 5_000,
};
/** Removing a few lock folders. */
const CLEAR_MS = 10_000;

type Child = ReturnType<Children["start"]>;

/** Why one process's life was over. */
type End =
  | { kind: "wanted" }
  | { kind: "ended"; how: string }
  | { kind: "failed"; error: NonNullable<DaemonHealth["error"]> };

export function superviseRuntime(context: RuntimeContext): Runtime {
  const { settings, children, log } = context;
  const limits = { ...LIMITS, ...context.limits };
  const password = randomBytes(24).toString("hex");
  const authorization = authorizationOf(password);
  const call = callRuntime(settings.runtimePort, authorization);
  let state: RuntimeState = "starting";
  let error: DaemonHealth["error"] | null = null;
  let child: Child | null = null;
  /** The loop that keeps it running. */
  let loop: Promise<void> | null = null;
  let stopping = false;
  /** The process that is ended on purpose: whoever wants the same meanwhile waits for the same. */
  let ending: { child: Child; over: Promise<void> } | null = null;
  /** Counts what is wanted: a process that was begun for less is not let live. */
  let wanted = 0;
  /** Puts back what the runtime's start changes in the clone. */
  let restore = async () => {};
  /** When the last process was started, milliseconds since 1970; null before the first. */
  let lastStart: number | null = null;
  /** Conversations whose runs were aborted for a restart. */
  const aborted = new Set<string>();
  let wake: () => void = () => {};

  return {
    get state() {
      return state;
    },
    get pid() {
      return child?.pid ?? null;
    },
    get error() {
      return error;
    },
    authorization,
    call,
    start() {
      loop ??= keepRunning();
    },
    async restart() {
      wanted++;
      wake();
      await endChild();
    },
    async stop() {
      stopping = true;
      wanted++;
      wake();
      await endChild();
      await loop;
    },
  };

  async function keepRunning(): Promise<void> {
    let pause = limits.firstPauseMs;
    while (!stopping) {
      const begun = performance.now();
      const end = await live();
      if (stopping) break;
      if (performance.now() - begun > limits.soundMs || end.kind === "wanted") pause = limits.firstPauseMs;
      if (end.kind === "wanted") continue;
      if (end.kind === "failed") {
        state = "failed";
        error = end.error;
        log.say(end.error.message);
        await pauseFor(null);
        continue;
      }
      state = "down";
      const message = `The agent runtime ${end.how}. It is started again in ${pause / 1000} s.`;
      error = { kind: "runtime", message, permanent: false };
      log.say(message);
      await pauseFor(pause);
      pause = Math.min(pause * 2, limits.longestPauseMs);
    }
    state = "down";
  }

  /** @param ms null: until it is wanted again */
  async function pauseFor(ms: number | null): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    wake = resolve;
    const timer = ms === null ? undefined : setTimeout(resolve, ms);
    if (stopping) resolve();
    await promise;
    clearTimeout(timer);
    wake = () => {};
  }

  /** One process, from its start to its end. */
  async function live(): Promise<End> {
    state = "starting";
    const mine = wanted;
    const started = await begin();
    if (!("pid" in started)) return started;
    if (mine !== wanted) {
      await endProcess(started.pid, started.exited);
      return { kind: "wanted" };
    }
    child = started;
    const previous = lastStart;
    lastStart = Date.now();
    log.say(`the runtime was started as process ${started.pid}`);
    const { promise: listening, resolve: onListening } = Promise.withResolvers<void>();
    eachLine(started.stdout, (line) => {
      log.runtime(line);
      if (line.includes(LISTENING)) onListening();
    });
    eachLine(started.stderr, log.runtime);
    const { pid, exited } = started;
    let isGone = false;
    const isEnding = () => ending?.child === started;
    const gone = exited.then((): End => {
      isGone = true;
      if (isEnding()) return { kind: "wanted" };
      const { signalCode, exitCode } = started;
      return {
        kind: "ended",
        how: signalCode ? `was ended by ${signalCode}` : `ended with exit status ${exitCode}`,
      };
    });
    const isOver = () => isGone || isEnding();
    const end = await Promise.race([gone, watch(pid, previous, listening, isOver)]);
    state = isEnding() || end.kind === "wanted" ? "starting" : "down";
    if (end.kind === "ended")
      error = { kind: "runtime", message: `The agent runtime ${end.how}.`, permanent: false };
    if (!isGone) await endProcess(pid, exited);
    await endDescendants(process.pid, children.helpers);
    child = null;
    return end;
  }

  async function begin(): Promise<Child | End> {
    try {
      restore = await furnish(context, context.agentConfig());
      const command = await launchCommand(settings, context.secrets(), password);
      await run(children, clearLocksCommand(settings), CLEAR_MS);
      return children.start(command);
    } catch (thrown) {
      if (!(thrown instanceof NotInstalledError))
        return { kind: "ended", how: `could not be started: ${whyNotStarted(thrown)}` };
      return { kind: "failed", error: { kind: "runtime", message: thrown.message, permanent: true } };
    }
  }

  /**
   * Watches one process; settles only with what is wrong with it.
   * @param previous when the one before it was started
   */
  async function watch(
    pid: number,
    previous: number | null,
    listening: Promise<void>,
    isOver: () => boolean,
  ): Promise<End> {
    const deadline = performance.now() + limits.readyMs;
    await Promise.race([listening, Bun.sleep(limits.readyMs)]);
    const readiness = await untilReady(call, () => isOver() || performance.now() > deadline);
    if (isOver()) return await forever();
    if (readiness.kind === "late")
      return { kind: "ended", how: `did not get ready within ${limits.readyMs / 1000} s, and was ended` };
    if (readiness.kind === "config") {
      const message = `The agent runtime cannot use its configuration: ${readiness.message}. Mend it in the repository, and refresh the session.`;
      return { kind: "failed", error: { kind: "config", message, permanent: true } };
    }
    await restore();
    if (previous !== null) await tellInterrupted(previous);
    if (isOver()) return await forever();
    state = "ok";
    error = null;
    log.say("the runtime is ready");
    if (readiness.version !== RUNTIME_VERSION)
      log.say(
        `it is opencode ${readiness.version}, and svc is built for ${RUNTIME_VERSION}: some things may fail`,
      );
    context.onReady();
    const port = settings.runtimePort;
    const verdict = await lookAfter({ call, log, limits, port }, pid, isOver);
    return verdict ?? (await forever());
  }

  async function tellInterrupted(since: number): Promise<void> {
    const marked = await markInterrupted(call, since, aborted);
    aborted.clear();
    if (marked > 0)
      log.say(`${marked} ${marked === 1 ? "answer was" : "answers were"} cut off by the restart`);
  }

  async function endChild(): Promise<void> {
    if (!child) return;
    if (ending?.child !== child) ending = { child, over: end(child) };
    await ending.over;
  }

  async function end(target: Child): Promise<void> {
    if (state === "ok") {
      for (const id of (await runningSessions(call)) ?? []) aborted.add(id);
      await abortRuns(call, limits.abortMs);
    }
    await context.beforeEnd?.();
    state = "starting";
    await endProcess(target.pid, target.exited);
    while (child === target) await Bun.sleep(10);
  }

  async function endProcess(pid: number, exited: Promise<number>): Promise<void> {
    signalGroup(pid, "SIGTERM");
    const timer = setTimeout(() => signalGroup(pid, "SIGKILL"), limits.termMs);
    await exited;
    clearTimeout(timer);
    // what stayed in its group
    signalGroup(pid, "SIGKILL");
  }
}

function forever(): Promise<never> {
  return new Promise(() => {});
}
