import type { ProviderName, Wall } from "../contract/session.ts";

/** Somewhere that sandboxes can run. All of them keep the promises of one conformance suite. */
export interface Provider {
  readonly name: ProviderName;
  /**
   * Starts a sandbox and returns as soon as its daemon's address is known; whether the daemon answers is asked
   * elsewhere. What an earlier start of the same session left, whoever began it, is ended first, so a start that was cut
   * off anywhere is repeated by calling this again. When it throws or is aborted, nothing of the sandbox is left.
   * @throws SandboxError
   */
  start(spec: SandboxSpec, watch: StartWatch, signal: AbortSignal): Promise<Sandbox>;
  /** What there is of a session's sandbox, running or ended; null when there is nothing. */
  find(sessionId: string): Promise<Sandbox | null>;
  /** Every sandbox of this installation, running or ended, and whatever a start that was cut off has left. */
  list(): Promise<Sandbox[]>;
  /**
   * Ends a sandbox: its processes are asked to end (SIGTERM), and killed after `graceMs`. Afterwards nothing of it is
   * left: no process, container, network, volume, folder. Nothing to end is no error.
   * @throws SandboxError when it cannot be ended now
   */
  stop(sessionId: string, graceMs: number): Promise<void>;
  /**
   * Saves the work of a sandbox that has ended by itself, where its files outlive it; absent where they do not. Nothing to
   * save is no error.
   * @throws SandboxError
   */
  save?(spec: Pick<SandboxSpec, "sessionId" | "environment" | "limits">): Promise<void>;
  /**
   * What isolates the sandboxes that it starts; empty: nothing does.
   * @throws SandboxError when the isolation that is required cannot be had now, with the reason and what to do
   */
  walls(): Promise<readonly Wall[]>;
  /** What isolates the sandbox of a session, as it was seen last; null: that is not known here. */
  wallsOf(sessionId: string): readonly Wall[] | null;
  /** The end of what daemon and runtime have written, of at most `maxBytes`; empty when nothing is known. */
  logs(sessionId: string, maxBytes: number): Promise<Uint8Array>;
  /** Lets go of connections and listeners. Sandboxes that live with this process alone are ended. */
  close(): Promise<void>;
}

/** What a sandbox is made of. */
export interface SandboxSpec {
  /** A UUID; the sandbox has no other name. */
  sessionId: string;
  projectId: string;
  /** Counts the starts of the session's sandboxes. */
  generation: number;
  /**
   * Everything that the daemon gets, secrets included.
   * @param apiUrl where a sandbox of this provider reaches the API, without a trailing slash or `/v1`
   */
  environment(apiUrl: string): Readonly<Record<string, string>>;
  limits: SandboxLimits;
  /** Whether the agent runtime is to run in it: an app needs none. */
  hasRuntime: boolean;
  /** How to build the image; null where the project says nothing: the default image. Ignored without images. */
  build: ImageBuild | null;
}

/** Bounds of one sandbox; a provider that cannot hold one says so in the log, each time. */
export interface SandboxLimits {
  cpus: number;
  memoryBytes: number;
  diskBytes: number;
  processes: number;
}

export interface ImageBuild {
  /** Path of the Dockerfile in the context, with `/`. */
  dockerfile: string;
  /** Changes whenever anything in the context or the Dockerfile does. */
  hash: string;
  /** The build's context, as a tar. */
  context(): ReadableStream<Uint8Array>;
}

/** Told while a sandbox starts. */
export interface StartWatch {
  /** The step that begins: `image` where there is one to build or to look for, then `sandbox`. */
  step(name: "image" | "sandbox"): void;
  /** One line of what goes on, as it was written; control characters are taken out by whoever keeps it. */
  log(source: "svc" | "build", line: string): void;
}

/** A port, or the path of a unix socket on the server's machine. */
export type SandboxAddress =
  | { hostname: string; port: number; unix?: undefined }
  | { unix: string; hostname?: undefined; port?: undefined };

export interface Sandbox {
  sessionId: string;
  /** Null when what was found does not say it: a leftover. */
  generation: number | null;
  /** Where the daemon listens, as this server reaches it; null of one that has ended. */
  address: SandboxAddress | null;
  state: "running" | "ended";
  /** Of the sandbox's first process, once it has ended and if it is known; 128 + n for a signal n. */
  exitCode: number | null;
  /** Killed because it wanted more memory than its limit. */
  outOfMemory: boolean;
}

/** A sandbox could not be started or ended. The message is for the session's user: it names no path, no credential. */
export class SandboxError extends Error {
  override readonly name = "SandboxError";
  /** Whether another try may help. */
  readonly permanent: boolean;

  constructor(message: string, { permanent = false }: { permanent?: boolean } = {}) {
    super(message);
    this.permanent = permanent;
  }
}

/** What every provider is made with. */
export interface ProviderOptions {
  /** Tells this installation's sandboxes from others' on the same machine or cluster: `[0-9a-f]{16}`. */
  installation: string;
  dataDir: string;
  /** Where the API listens, once it does. */
  api(): { hostname: string; port: number };
  /** `SVC_SANDBOX_API_URL`: overrides where sandboxes look for the API. */
  apiUrl: string | null;
  /** The folder with `svc-agent`, `svc-entrypoint` and `svc`, and their `-musl` builds where there are any. */
  binaries: string;
  /** `SVC_RUNTIME_BIN`: the agent runtime's program on this machine; null: looked for. */
  runtime: string | null;
}
