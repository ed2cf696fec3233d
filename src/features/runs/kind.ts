import type { Db } from "../../../db/client.ts";
import type { DaemonHealth } from "../../contract/daemon.ts";
import type { ProjectEvent } from "../../contract/event.ts";
import type { BootStep, LogLine } from "../../contract/session.ts";
import type { DaemonSetupStatus } from "../../contract/setup.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { Daemon } from "../../sandboxes/daemon.ts";
import type { VolumeMount } from "../../sandboxes/provider.ts";
import type { ModelAccess } from "../models/key.ts";
import type { RunRow } from "./row.ts";
import type { SandboxConfig } from "./sandbox-config.ts";

/** One start of a run's sandbox. */
export interface Start {
  run: RunRow;
  project: ProjectRow;
}

/** Records that a step begins, in the run's log and row. @throws when the run has another goal or start by now */
export type EnterStep = (step: BootStep, text: string) => Promise<void>;

/** The credentials of one start of a sandbox. */
export interface SandboxKeys {
  /** `SVC_TOKEN`: only the daemon uses it. */
  serviceKey: string;
  /** A token that the kind grants its sandboxes besides; null: none. */
  token: string | null;
  /** Access to the model gateway; null: none. */
  models: ModelAccess | null;
}

/** The sandbox of one start, and the callbacks for when it is ready. */
export interface StartPlan {
  /** The agent runtime of the sandbox; null: it has none. */
  runtime: string | null;
  /** A directory that outlives the sandbox; absent: none. */
  volume?: VolumeMount;
  /** @param apiUrl where the sandbox reaches the API, without `/v1` */
  environment(keys: SandboxKeys, apiUrl: string): Record<string, string>;
  /** While a setup command is due or runs, repeatedly. It must not reject. */
  onSetup?(daemon: Daemon, setup: DaemonSetupStatus, signal: AbortSignal): Promise<void>;
  /** The sandbox is ready; the run is not `running` yet. @throws SandboxError, which fails the start */
  onReady?(daemon: Daemon, signal: AbortSignal): Promise<void>;
  /**
   * In the transaction that makes the run `running`.
   * @param health the daemon's, now that it is ready
   */
  onRecorded?(tx: Db, now: Date, health: DaemonHealth): Promise<void>;
  /** After that transaction. */
  onRunning?(): Promise<void>;
}

/** Of a stage of a start: a busy machine makes it slow, which is no fault. In milliseconds. */
export interface StageLimit {
  /** Without any work in the sandbox. */
  stillMs: number;
  longestMs: number;
}

/**
 * The differences between kinds of runs: sessions, deployments of apps and checks. `serve.ts` lists the kinds. Everything
 * else in the life of a sandbox is the same for all, and in this folder.
 */
export interface RunKind {
  /** `runs.kind`. */
  name: string;
  limits: {
    /** To clone the repository and to run the build. */
    clone: StageLimit;
    /** From then on until the daemon reports that it is ready. */
    ready: StageLimit;
  };
  /** Whether its sandboxes have the services of the manifest. */
  hasServices: boolean;
  /** Sentences of its log and errors. */
  text: {
    starting: string;
    running: string;
    stopped: string;
    /** The stage is not over, as the beginning of a sentence. */
    cloneLate: string;
    readyLate: string;
    /** @param reason why a step failed, as a sentence */
    failed(step: BootStep, reason: string): string;
    /** @param reason why its server is considered gone, as the second half of a sentence */
    lost(runId: string, reason: string): string;
  };
  /** Runs before the sandbox starts. It may be called again for the same start, after a crash. */
  prepare?(deps: Deps, start: Start, enter: EnterStep): Promise<void>;
  /** Called when no sandbox of an earlier start exists any more, and its work is saved. */
  plan(deps: Deps, start: Start, config: SandboxConfig): Promise<StartPlan>;
  /** Grants the sandbox of a start its keys, and revokes those of earlier ones, in the transaction that makes its keys. */
  grant?(deps: Deps, tx: Db, run: RunRow): Promise<Omit<SandboxKeys, "serviceKey">>;
  /** The sandbox of a run has ended: in the transaction that records it. */
  onEnded?(tx: Db, runId: string, state: "stopped" | "error", now: Date): Promise<void>;
  /** Saves the work in a sandbox that exited while it could not reach its server. */
  saveOrphan?(deps: Deps, run: RunRow): Promise<void>;
  /** Lines of the sandbox's output that are kept when it ends; by default enough to see why. */
  keptLines?: number;
  /** Whether a line of the sandbox's output is in the run's log already. */
  isLogged?(run: Pick<RunRow, "status">, line: LogLine): boolean;
  /** Publishes a change of the row, as the last statement of the transaction that makes it. */
  publish(
    deps: Pick<Deps, "jobs" | "config" | "sandboxes">,
    tx: Db,
    run: RunRow,
    action: ProjectEvent["action"],
  ): Promise<void>;
}

export type RunKinds = ReadonlyMap<string, RunKind>;

export function kindOf(kinds: RunKinds, { kind, runId }: Pick<RunRow, "kind" | "runId">): RunKind {
  const found = kinds.get(kind);
  if (!found) throw new Error(`run ${runId} has an unknown kind: ${kind}`);
  return found;
}

const FAILED: Partial<Record<BootStep, string>> = {
  image: "The sandbox's image could not be built",
  waiting: "The sandbox could not be started",
  sandbox: "The sandbox could not be started",
};

/** `failed` of a run without an agent: the daemon's errors of the clone and of the program need no prefix. */
export function stepFailure(step: BootStep, reason: string): string {
  return FAILED[step] === undefined ? reason : `${FAILED[step]}: ${reason}`;
}
