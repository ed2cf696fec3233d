import { randomBytes } from "node:crypto";
import type { AgentChoice, DaemonEnv, DaemonHealth, RuntimeState } from "../../src/contract/daemon.ts";
import type { AgentConfig } from "../git/agent-config.ts";
import type { Log } from "../log.ts";
import type { Children } from "../process/children.ts";
import type { Latch } from "../process/latch.ts";
import type { StartLimits } from "../process/stuck.ts";
import { Supervisor, type SupervisorLimits } from "../process/supervisor.ts";
import type { Settings } from "../settings.ts";
import { authorizationOf } from "./authorization.ts";
import { callRuntime, type RuntimeCall } from "./call.ts";
import { crashError, RuntimeProgram } from "./program.ts";
import type { WatchdogLimits } from "./watchdog.ts";

/** The agent runtime: one supervised process. */
export interface Runtime {
  readonly state: RuntimeState;
  readonly pid: number | null;
  readonly error: DaemonHealth["error"] | null;
  /** The `Authorization` header that the runtime accepts. */
  readonly authorization: string;
  readonly call: RuntimeCall;
  /** Starts the process, once. The workspace must exist; its clone may be under way. */
  start(): void;
  /** Aborts all runs and restarts the process. Settles when the old one has ended. */
  restart(): Promise<void>;
  /** Aborts all runs, and ends the process and its descendants. It does not start again. */
  stop(): Promise<void>;
}

export interface RuntimeContext {
  settings: Settings;
  children: Children;
  log: Log;
  /** The current secrets, read at each start. */
  secrets(): DaemonEnv;
  /** The project's current agents, skills and tools, read at each start. */
  agentConfig(): AgentConfig;
  /** What the agent works with, read at each start. */
  choice(): AgentChoice;
  /** Opens when the workspace is complete. Until then, the runtime reads nothing of it. */
  workspace: Latch;
  /** Called each time the runtime responds, before anybody can use it. It does not reject. */
  beforeReady?(): Promise<void>;
  /** Called each time the runtime is ready. */
  onReady(): void;
  /** Called before a process is ended on request, once its runs have ended. */
  beforeEnd?(): Promise<void>;
  limits?: Partial<RuntimeLimits>;
}

export interface RuntimeLimits extends SupervisorLimits, WatchdogLimits {
  /** From the start of a process until it responds; installing plugins without a network takes a minute and a half. */
  start: StartLimits;
  /** For runs to end after an abort. */
  abortMs: number;
}

const LIMITS: RuntimeLimits = {
  firstPauseMs: 500,
  longestPauseMs: 30_000,
  stableMs: 60_000,
  start: { stillMs: 180_000, longestMs: 600_000 },
  checkMs: 15_000,
  checkTimeoutMs: 10_000,
  checkFailures: 4,
  memoryRestartMs: 10 * 60_000,
  abortMs: 3_000,
  termMs: 5_000,
};

export function superviseRuntime(context: RuntimeContext): Runtime {
  const limits = { ...LIMITS, ...context.limits };
  const password = randomBytes(24).toString("hex");
  const authorization = authorizationOf(password);
  const call = callRuntime(context.settings.runtimePort, authorization);
  const program = new RuntimeProgram({ ...context, limits, password, call });
  const supervisor = new Supervisor(program, context.children, limits);
  return {
    get state() {
      return supervisor.status;
    },
    get pid() {
      return supervisor.pid;
    },
    get error() {
      const { state } = supervisor;
      if (state.kind === "exiting" && state.exit.kind === "crashed") return crashError(state.exit.reason);
      return program.error;
    },
    authorization,
    call,
    start: () => void supervisor.start(),
    restart: () => supervisor.restart(),
    stop: () => supervisor.stop(),
  };
}
