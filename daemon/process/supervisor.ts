import { setTimeout as sleep } from "node:timers/promises";
import type { DaemonHealth, RuntimeState } from "../../src/contract/daemon.ts";
import { type Child, type Children, signalGroup } from "./children.ts";
import { aborted } from "./latch.ts";
import { endDescendants } from "./tree.ts";

/** Why a process has ended, or must be ended. */
export type Exit =
  /** The next process starts at once. */
  | { kind: "replaced" }
  /** The next process starts after a pause. The reason completes a sentence: `ended with exit status 1`. */
  | { kind: "crashed"; reason: string }
  /** The next process starts on request only. */
  | { kind: "failed"; error: NonNullable<DaemonHealth["error"]> };

/** A program of which a `Supervisor` keeps one process running. */
export interface Program {
  /** Starts a process, or returns why it cannot. */
  start(): Promise<Child | Exit>;
  /**
   * Monitors a process, and calls `onReady` once it serves requests.
   * @param signal aborts when the process has ended, or when a restart or stop is requested
   * @returns why the process must be ended; null once the signal has aborted
   */
  monitor(child: Child, onReady: () => void, signal: AbortSignal): Promise<Exit | null>;
  /** Runs before a process is ended on request. Until it returns, a process that was ready counts as ready. */
  drain(child: Child, wasReady: boolean): Promise<void>;
  /** Reports that a process crashed or failed. @returns whether to start the next one after `pauseMs` */
  onExit(exit: Exclude<Exit, { kind: "replaced" }>, pauseMs: number): boolean;
}

export interface SupervisorLimits {
  /** The pause before a restart doubles with each crash, from the first to the longest. */
  firstPauseMs: number;
  longestPauseMs: number;
  /** A process that ran this long resets the pause. */
  stableMs: number;
  /** The time that a process has to end after SIGTERM. */
  termMs: number;
}

interface Run {
  child: Child;
  /** Settles when the process and all its descendants have ended. */
  over: Promise<void>;
  /** The end of the process on request; null unless requested. */
  stopped: Promise<void> | null;
}

export type SupervisorState =
  | { kind: "starting"; run: Run | null }
  | { kind: "running"; run: Run }
  /** A restart or stop is requested, and the process still serves requests. */
  | { kind: "draining"; run: Run }
  | { kind: "stopping"; run: Run }
  /** The process has crashed or is unhealthy; it and its descendants are being ended. */
  | { kind: "exiting"; run: Run; exit: Exit }
  | { kind: "backing-off" | "failed" | "stopped" };

const STATUS: Record<SupervisorState["kind"], RuntimeState> = {
  starting: "starting",
  running: "ok",
  draining: "ok",
  stopping: "starting",
  exiting: "down",
  "backing-off": "down",
  failed: "failed",
  stopped: "down",
};

/** Keeps one process of a program running: restarts it with backoff, and ends it with all its descendants. */
export class Supervisor {
  readonly #program: Program;
  readonly #children: Children;
  readonly #limits: SupervisorLimits;
  #state: SupervisorState = { kind: "starting", run: null };
  /** Aborts when a restart or stop is requested. Each start has its own. */
  #request = new AbortController();
  #isStopped = false;
  #loop: Promise<void> | null = null;

  constructor(program: Program, children: Children, limits: SupervisorLimits) {
    this.#program = program;
    this.#children = children;
    this.#limits = limits;
  }

  get state(): SupervisorState {
    return this.#state;
  }

  get status(): RuntimeState {
    return STATUS[this.#state.kind];
  }

  get pid(): number | null {
    return this.#run?.child.pid ?? null;
  }

  /** Settles when the program is stopped. */
  start(): Promise<void> {
    this.#loop ??= this.#keepRunning();
    return this.#loop;
  }

  /** Replaces the process. Settles when the old one has ended. */
  async restart(): Promise<void> {
    this.#request.abort();
    const run = this.#run;
    if (!run) return;
    const isAlive = this.#state.kind === "starting" || this.#state.kind === "running";
    if (isAlive) run.stopped = this.#stop(run);
    await run.stopped;
    await run.over;
  }

  /** Ends the process for good. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.restart();
    await this.#loop?.catch(() => {});
    this.#state = { kind: "stopped" };
  }

  get #run(): Run | null {
    return "run" in this.#state ? this.#state.run : null;
  }

  async #keepRunning(): Promise<void> {
    const { firstPauseMs, longestPauseMs, stableMs } = this.#limits;
    let pauseMs = firstPauseMs;
    while (!this.#isStopped) {
      this.#request = new AbortController();
      const { signal } = this.#request;
      const startedAt = performance.now();
      const exit = await this.#runOnce(signal);
      if (this.#isStopped) return;
      if (exit.kind === "replaced" || performance.now() - startedAt > stableMs) pauseMs = firstPauseMs;
      if (exit.kind === "replaced") continue;
      if (this.#program.onExit(exit, pauseMs)) {
        this.#state = { kind: "backing-off" };
        await sleep(pauseMs, undefined, { signal }).catch(() => {});
        pauseMs = Math.min(pauseMs * 2, longestPauseMs);
      } else {
        this.#state = { kind: "failed" };
        await aborted(signal);
      }
    }
  }

  /** Runs one process from its start to its end. */
  async #runOnce(request: AbortSignal): Promise<Exit> {
    this.#state = { kind: "starting", run: null };
    const child = await this.#program.start();
    if ("kind" in child) return child;
    const { promise: over, resolve } = Promise.withResolvers<void>();
    const run: Run = { child, over, stopped: null };
    this.#state = { kind: request.aborted ? "stopping" : "starting", run };
    if (request.aborted) run.stopped = terminate(child, this.#children, this.#limits.termMs);
    const exit = await this.#exitOf(run, request);
    if (!request.aborted) {
      this.#state = exit.kind === "replaced" ? { kind: "stopping", run } : { kind: "exiting", run, exit };
      if (!hasEnded(child)) await terminate(child, this.#children, this.#limits.termMs);
    }
    await run.stopped;
    await endDescendants(process.pid, this.#children.helpers);
    resolve();
    return exit;
  }

  async #exitOf(run: Run, request: AbortSignal): Promise<Exit> {
    const { child } = run;
    const ended = new AbortController();
    const signal = AbortSignal.any([ended.signal, request]);
    const exited = child.exited.then((): Exit => {
      ended.abort();
      return request.aborted ? { kind: "replaced" } : { kind: "crashed", reason: reasonOf(child) };
    });
    if (request.aborted) return await exited;
    const onReady = () => {
      this.#state = { kind: "running", run };
    };
    const monitored = this.#program.monitor(child, onReady, signal).then((exit) => exit ?? exited);
    const exit = await Promise.race([exited, monitored]);
    return request.aborted ? await exited : exit;
  }

  async #stop(run: Run): Promise<void> {
    const wasReady = this.#state.kind === "running";
    this.#state = { kind: wasReady ? "draining" : "stopping", run };
    await this.#program.drain(run.child, wasReady);
    this.#state = { kind: "stopping", run };
    if (!hasEnded(run.child)) await terminate(run.child, this.#children, this.#limits.termMs);
  }
}

/**
 * Ends a process and all its descendants: SIGTERM, and SIGKILL after `termMs`. A shell or bubblewrap exits at once on SIGTERM,
 * while the program that it started still handles it.
 */
export async function terminate(child: Child, children: Children, termMs: number): Promise<void> {
  await endDescendants(process.pid, children.helpers, termMs);
  // where the system has no /proc, the process group
  signalGroup(child.pid, "SIGTERM");
  const timer = setTimeout(() => signalGroup(child.pid, "SIGKILL"), termMs);
  await child.exited;
  clearTimeout(timer);
  signalGroup(child.pid, "SIGKILL");
}

function hasEnded({ exitCode, signalCode }: Child): boolean {
  return exitCode !== null || signalCode !== null;
}

function reasonOf({ exitCode, signalCode }: Child): string {
  return signalCode ? `was ended by ${signalCode}` : `ended with exit status ${exitCode}`;
}
