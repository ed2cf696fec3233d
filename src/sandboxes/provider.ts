import type { EgressMode } from "../contract/egress/policy.ts";
import type { CustomRuntime } from "../contract/runtimes.ts";
import type { ProviderName, Wall } from "../contract/session.ts";
import type { EgressGate } from "./egress/gate.ts";

/** A backend that runs sandboxes. All pass the same conformance suite. */
export interface Provider {
  readonly name: ProviderName;
  /**
   * Starts a sandbox and returns as soon as its daemon's address is known, without waiting for the daemon to respond. First
   * it removes what an earlier start of the session has left, so that an interrupted start can be repeated. When it throws
   * or is aborted, it removes the sandbox.
   * @throws SandboxError
   */
  start(spec: SandboxSpec, watch: StartWatch, signal: AbortSignal): Promise<Sandbox>;
  /** A session's sandbox, running or ended; null when there is none. */
  find(sessionId: string): Promise<Sandbox | null>;
  /** All sandboxes of this installation, running or ended, including the leftovers of interrupted starts. */
  list(): Promise<Sandbox[]>;
  /**
   * Ends a sandbox: its processes get SIGTERM, and SIGKILL after `graceMs`. Afterwards it has no process,
   * container, network, volume or folder. It is not an error if there is no sandbox.
   * @throws SandboxError when it cannot be ended now
   */
  stop(sessionId: string, graceMs: number): Promise<void>;
  /**
   * Saves the work of a sandbox that has ended unexpectedly; undefined for providers whose files do not outlive the sandbox.
   * It is not an error if there is nothing to save.
   * @throws SandboxError
   */
  save?(spec: Pick<SandboxSpec, "sessionId" | "environment" | "limits">): Promise<void>;
  /**
   * What isolates new sandboxes; empty: nothing.
   * @throws SandboxError when the required isolation is not available, with the reason and the remedy
   */
  walls(): Promise<readonly Wall[]>;
  /** Why sandboxes cannot have an agent, as a sentence; null if they can. Absent where the image decides. */
  runtimeProblem?(name: string): string | null;
  /** Changes whenever the programs of sandboxes do. Absent where they are those of the image. */
  programs?(): string;
  /** What runs the sandboxes, for the log. Absent: the provider's name says it. @throws SandboxError */
  describe?(): Promise<Readonly<Record<string, string>>>;
  /** What isolates a session's sandbox; null when unknown. */
  wallsOf(sessionId: string): readonly Wall[] | null;
  /** The last `maxBytes` of the output of daemon and runtime; empty when there is none. */
  logs(sessionId: string, maxBytes: number): Promise<Uint8Array>;
  /** Null: sandboxes cannot have volumes. */
  readonly volumes: Volumes | null;
  /** Closes connections and listeners. Ends sandboxes that depend on this process. */
  close(): Promise<void>;
}

/** The specification of a sandbox. */
export interface SandboxSpec {
  /** A UUID, which also identifies the sandbox. */
  sessionId: string;
  projectId: string;
  /** Counts the starts of the session's sandboxes. */
  generation: number;
  /**
   * The daemon's environment, including secrets.
   * @param apiUrl where a sandbox of this provider reaches the API, without a trailing slash or `/v1`
   */
  environment(apiUrl: string): Readonly<Record<string, string>>;
  limits: SandboxLimits;
  /** What it may connect to. The gate of the options has the hosts, which may change while it runs. */
  egress: EgressMode;
  /** The agent runtime that it needs; null: none, as an app. */
  runtime: string | null;
  /** How to build the image; null: the default image. Ignored by providers without images. */
  build: ImageBuild | null;
  /** Images of services beside it. Ignored by providers without images. Absent: none. */
  services?: readonly string[];
  /** The volume of an app, which no other sandbox may have at the same time. Absent: none. */
  volume?: VolumeMount;
}

/** A directory that outlives sandboxes. */
export interface VolumeMount {
  /** A UUID. */
  id: string;
  /** Where the sandbox has it. The variable `SVC_VOLUME` has the path, too. */
  path: string;
}

/** The volumes of a provider: `start` creates the one that it mounts. */
export interface Volumes {
  /** The size in bytes; more than `enough` is not counted. Null: unknown. */
  measure(id: string, enough: number): Promise<number | null>;
  /** Removes a volume that no sandbox has. It is not an error if it does not exist. @throws SandboxError */
  remove(id: string): Promise<void>;
}

/** The longest time that the sandbox before this one has to end, if it still has the volume: a program gets ten seconds. */
export const VOLUME_GRACE_MS = 15_000;

/** Limits of one sandbox. A provider logs those that it cannot enforce, on each start. */
export interface SandboxLimits {
  cpus: number;
  memoryBytes: number;
  diskBytes: number;
  processes: number;
}

export interface ImageBuild {
  /** Path of the Dockerfile in the context, with `/`. */
  dockerfile: string;
  /** Changes whenever anything in the context or the Dockerfile does, or an argument. */
  hash: string;
  /** Values of `ARG`. Absent: none. */
  args?: Readonly<Record<string, string>>;
  /** The last stage to build. Absent: all. */
  target?: string;
  /** An ordinary user of the image, as whom the agent runs. Absent, or if there is none: svc's own. */
  user?: string;
  /** The build's context, as a tar. */
  context(): ReadableStream<Uint8Array>;
}

/** Reports the progress of a start. */
export interface StartWatch {
  /**
   * Called at the beginning of a step: `image` for providers with images, then `sandbox`. Providers whose sandboxes use the
   * server's machine wait until it returns.
   */
  step(name: "image" | "sandbox"): void | Promise<void>;
  /** Logs one line, as is; the receiver removes control characters. */
  log(source: "svc" | "build", line: string): void;
}

/** A port, or the path of a unix socket on the server's machine. */
export type SandboxAddress =
  | { hostname: string; port: number; unix?: undefined }
  | { unix: string; hostname?: undefined; port?: undefined };

export interface Sandbox {
  sessionId: string;
  /** Null when unknown: a leftover. */
  generation: number | null;
  /** Where this server reaches the daemon; null after the end. */
  address: SandboxAddress | null;
  state: "running" | "ended";
  /** Of the sandbox's first process; 128 + n for signal n. Null while it runs, or when it is unknown. */
  exitCode: number | null;
  /** Killed because it exceeded its memory limit. */
  outOfMemory: boolean;
}

/** A sandbox could not be started or ended. The message is shown to the session's user: no paths or credentials. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  /** Whether retries cannot succeed. */
  readonly permanent: boolean;
  /** Whether the engine or the cluster does not answer: nothing is known of the sandbox, and its start is not at fault. */
  readonly away: boolean;

  constructor(message: string, { permanent = false, away = false } = {}) {
    super(message);
    this.permanent = permanent;
    this.away = away;
  }
}

/** Options of every provider. */
export interface ProviderOptions {
  /** Identifies this installation's sandboxes on the machine or cluster: `[0-9a-f]{16}`. */
  installation: string;
  dataDir: string;
  /** Where the API listens, once it does. */
  api(): { hostname: string; port: number };
  /** `SVC_SANDBOX_API_URL`: overrides the URL of the API for sandboxes. */
  apiUrl: string | null;
  egress: EgressGate;
  /** The folder with `svc-agent`, `svc-entrypoint` and `svc`, and their `-musl` builds, if there are any. */
  binaries: string;
  /** `SVC_RUNTIME_BIN`: the agent runtime's program on this machine; null: `findRuntime` finds it. */
  runtime: string | null;
  /** The agents that the operator describes. */
  customRuntimes: readonly CustomRuntime[];
}
