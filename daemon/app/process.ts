import { setTimeout as pause } from "node:timers/promises";
import type { RuntimeState } from "../../src/contract/daemon.ts";
import { asAgent, type Child } from "../process/children.ts";
import { forEachLine } from "../process/lines.ts";
import {
  type Exit,
  type Program,
  Supervisor,
  type SupervisorLimits,
  terminate,
} from "../process/supervisor.ts";
import { type AppContext, AppError, appEnvironment, portOf, rootOf } from "./context.ts";
import { checkHealth } from "./health-check.ts";

/** The app's run command: one supervised process. */
export interface AppProcess {
  readonly state: RuntimeState;
  readonly pid: number | null;
  /** The app's current problem, as a sentence for a person. */
  readonly problem: string | null;
  /** Keeps the app running until it is stopped. @throws AppError if the app does not become healthy */
  keepRunning(): Promise<void>;
  /** Ends the app and its descendants. */
  stop(): Promise<void>;
}

export interface AppLimits extends SupervisorLimits {
  /** From the first start until the app is healthy, including restarts. */
  startMs: number;
  /** Starts until the app must be healthy: it may depend on a database that starts slowly. */
  starts: number;
  /** The interval of checks before the app is healthy. */
  startCheckMs: number;
  /** The interval of checks after that. */
  checkMs: number;
  /** Checks in a row without a response, after which the app counts as hung. */
  checkFailures: number;
  /** The timeout of a check: a page may be slow. */
  checkTimeoutMs: number;
}

const LIMITS: AppLimits = {
  startMs: 120_000,
  starts: 3,
  firstPauseMs: 500,
  longestPauseMs: 30_000,
  stableMs: 60_000,
  startCheckMs: 100,
  checkMs: 15_000,
  checkFailures: 3,
  checkTimeoutMs: 5_000,
  // for requests under way
  termMs: 10_000,
};

export function superviseApp(context: AppContext, changed: Partial<AppLimits> = {}): AppProcess {
  const limits = { ...LIMITS, ...changed };
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  const program = new AppProgram(context, limits, reject);
  const supervisor = new Supervisor(program, context.children, limits);
  return {
    get state() {
      return supervisor.status;
    },
    get pid() {
      return supervisor.pid;
    },
    get problem() {
      return program.problem;
    },
    keepRunning: () => Promise.race([supervisor.start(), givenUp]),
    stop: () => supervisor.stop(),
  };
}

class AppProgram implements Program {
  problem: string | null = null;
  readonly #context: AppContext;
  readonly #limits: AppLimits;
  readonly #giveUp: (error: AppError) => void;
  /** `startMs` after the first start. */
  #deadline: number | null = null;
  #crashes = 0;
  #wasHealthy = false;

  constructor(context: AppContext, limits: AppLimits, giveUp: (error: AppError) => void) {
    this.#context = context;
    this.#limits = limits;
    this.#giveUp = giveUp;
  }

  async start(): Promise<Child> {
    const { settings, app, children } = this.#context;
    this.#deadline ??= performance.now() + this.#limits.startMs;
    return children.start({
      ...asAgent(settings, ["sh", "-c", app.run?.command ?? ""]),
      environment: appEnvironment(this.#context, "app"),
      directory: rootOf(this.#context),
      isRuntime: true,
    });
  }

  async monitor(child: Child, onReady: () => void, signal: AbortSignal): Promise<Exit | null> {
    const { log } = this.#context;
    forEachLine(child.stdout, log.app);
    forEachLine(child.stderr, log.app);
    const fault = await this.#untilHealthy(signal);
    if (signal.aborted) return null;
    if (fault !== null) return { kind: "crashed", reason: fault };
    this.#wasHealthy = true;
    this.problem = null;
    onReady();
    log.info("the app is healthy");
    const hang = await this.#untilHung(signal);
    return hang === null ? null : { kind: "crashed", reason: hang };
  }

  /** The app completes requests under way, so it counts as ready until it has ended. */
  drain(child: Child): Promise<void> {
    return terminate(child, this.#context.children, this.#limits.termMs);
  }

  onExit(exit: Exclude<Exit, { kind: "replaced" }>, pauseMs: number): boolean {
    const { log } = this.#context;
    this.#crashes++;
    this.problem = exit.kind === "crashed" ? `The app ${exit.reason}.` : exit.error.message;
    log.info(this.problem);
    const isLate = this.#crashes >= this.#limits.starts || this.#isPastDeadline();
    if (!this.#wasHealthy && isLate) {
      this.#giveUp(new AppError("app", this.problem));
      return false;
    }
    log.info(`the app restarts in ${pauseMs / 1000} s`);
    return true;
  }

  #isPastDeadline(): boolean {
    return performance.now() > (this.#deadline ?? 0);
  }

  /** @returns null if the app is healthy or the signal has aborted; otherwise why it is not healthy in time */
  async #untilHealthy(signal: AbortSignal): Promise<string | null> {
    const { startCheckMs, startMs } = this.#limits;
    for (;;) {
      const health = await this.#check();
      if (signal.aborted || health.ok) return null;
      this.problem = `The app ${health.why}.`;
      // after the first success there is no deadline
      if (!this.#wasHealthy && this.#isPastDeadline())
        return `${health.why}, ${Math.round(startMs / 1000)} seconds after its start: it must ${this.#duty()}`;
      await sleep(startCheckMs, signal);
    }
  }

  #duty(): string {
    const path = this.#context.app.healthPath;
    return path === null
      ? "listen on $PORT"
      : `listen on $PORT, and return a status from 200 to 299 for ${path}`;
  }

  /**
   * Without a health path, any status counts as a response: a restart would not fix an app that returns errors.
   * @returns as above
   */
  async #untilHung(signal: AbortSignal): Promise<string | null> {
    const { checkMs, checkFailures } = this.#limits;
    let failures = 0;
    for (;;) {
      await sleep(checkMs, signal);
      if (signal.aborted) return null;
      const health = await this.#check();
      if (signal.aborted) return null;
      const isFailure = !health.ok && (health.isSilent || this.#context.app.healthPath !== null);
      this.problem = isFailure ? `The app ${health.why}.` : null;
      if (!isFailure) failures = 0;
      else if (++failures >= checkFailures)
        return health.isSilent ? `hangs: it ${health.why}` : `is not healthy: it ${health.why}`;
    }
  }

  #check(): ReturnType<typeof checkHealth> {
    const { checkTimeoutMs: timeoutMs } = this.#limits;
    return checkHealth({ port: portOf(this.#context), path: this.#context.app.healthPath, timeoutMs });
  }
}

async function sleep(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => {});
}
