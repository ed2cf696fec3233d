import { homedir } from "node:os";
import type Docker from "dockerode";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { within } from "../../lib/within.ts";
import { SandboxError } from "../provider.ts";
import { type Endpoint, findEndpoint, isThere } from "./endpoint.ts";
import { createLateness, STUCK } from "./lateness.ts";

/** A Docker engine, called with time limits. */
export interface Engine {
  /**
   * Calls the engine.
   * @param what describes the call, as in "Docker did not <what>"
   * @throws EngineError when the engine returns an error; SandboxError when it does not respond; the signal's reason
   */
  call<T>(what: string, request: Call<T>, limits?: Partial<CallLimits>): Promise<T>;
  /** @throws SandboxError when the engine does not respond, or is not supported */
  properties(): Promise<EngineProperties>;
}

/** @param moved reports progress, for a call whose limits say that it does */
type Call<T> = (docker: Docker, abortSignal: AbortSignal, moved: () => void) => Promise<T>;

/** Limits of a call: an engine on a busy machine is slow, but it answers a ping meanwhile. */
interface CallLimits {
  /** Milliseconds without an answer to a ping, or without progress if the call reports it. */
  ms: number;
  longestMs: number;
  reportsProgress: boolean;
  signal: AbortSignal | undefined;
}

export interface EngineProperties {
  endpoint: Endpoint;
  /**
   * Whether the server cannot reach containers by their addresses, and containers cannot reach the server by their gateway:
   * so with Docker Desktop, which runs containers in a virtual machine, and with rootless engines.
   */
  isForwarded: boolean;
}

/** An error response of the engine, with its HTTP status. */
export class EngineError extends SandboxError {
  readonly status: number;

  constructor(what: string, status: number, message: string) {
    super(`Docker did not ${what}: ${withoutPaths(message)}`);
    this.status = status;
  }
}

/** Most calls take milliseconds; on a busy disk, seconds. */
const CALL_MS = 60_000;
const CALL_LONGEST_MS = 10 * 60_000;
/** A ping uses no disk. */
const PING_MS = 2_000;
/** Of an engine that has not completed a call for a minute. */
const LATE_PING_MS = 10_000;
/** `info` counts containers and images. */
const CONNECT_MS = 20_000;
const MESSAGE_MAX = 500;

/** The supported versions of the Engine API; svc uses the newest that the engine also supports. */
const API_NEWEST = [1, 47] as const;
const API_OLDEST = [1, 40] as const;

/** Where the engine of this process's environment is. */
export function engineEndpoint(): Endpoint {
  return findEndpoint(process.env, homedir());
}

/** Whether an engine answers there. */
export async function dockerAnswers(): Promise<boolean> {
  const endpoint = engineEndpoint();
  if (!isThere(endpoint)) return false;
  try {
    const docker = await createClient(endpoint, { timeout: PING_MS });
    await limited("answer", AbortSignal.timeout(PING_MS), undefined, () => docker.ping());
    return true;
  } catch {
    return false;
  }
}

/** The engine at `engineEndpoint`. Connects on the first call. */
export function openEngine(): Engine {
  let connecting: Promise<{ docker: Docker; properties: EngineProperties }> | null = null;

  return {
    async call(what, request, limits = {}) {
      const { docker } = await connected();
      const { ms = CALL_MS, longestMs = CALL_LONGEST_MS, reportsProgress = false, signal } = limits;
      const late = createLateness(
        { ms, longestMs: Math.max(ms, longestMs) },
        reportsProgress
          ? null
          : () => within(docker.ping(), LATE_PING_MS, () => new Error("no answer to a ping")),
      );
      try {
        return await limited(what, late.signal, signal, (abortSignal) =>
          request(docker, abortSignal, late.moved),
        );
      } finally {
        late.end();
      }
    },
    properties: async () => (await connected()).properties,
  };

  /** Connects once; the next call retries after a failure. */
  function connected() {
    connecting ??= connect().catch((error: unknown) => {
      connecting = null;
      throw error;
    });
    return connecting;
  }
}

async function connect(): Promise<{ docker: Docker; properties: EngineProperties }> {
  const endpoint = engineEndpoint();
  const first = await createClient(endpoint, { timeout: CONNECT_MS });
  const ask = <T>(what: string, work: () => Promise<T>) =>
    limited(what, AbortSignal.timeout(CONNECT_MS), undefined, work);
  const versions = await ask("return its version", () => first.version());
  const info = await ask("describe itself", () => first.info());
  const docker = await createClient(endpoint, { version: `v${negotiateVersion(versions)}` });
  const options: readonly string[] = info.SecurityOptions ?? [];
  return {
    docker,
    properties: {
      endpoint,
      isForwarded:
        process.platform !== "linux" ||
        info.OperatingSystem === "Docker Desktop" ||
        options.some((option) => option.includes("rootless")),
    },
  };
}

/** Loads the client on demand, since it is large and short commands rarely need it. */
async function createClient({ socket }: Endpoint, options: Docker.DockerOptions): Promise<Docker> {
  const { default: Client } = await import("dockerode");
  try {
    // without a path it reads DOCKER_HOST and the variables of TLS
    return new Client({ ...options, ...(socket !== null && { socketPath: socket }) });
  } catch {
    throw new SandboxError(
      "DOCKER_HOST is not valid: it must be a URL such as unix:///var/run/docker.sock.",
      {
        permanent: true,
      },
    );
  }
}

function negotiateVersion({ ApiVersion, MinAPIVersion }: Docker.DockerVersion): string {
  const newest = numbersOf(ApiVersion);
  if (isLess(newest, API_OLDEST)) {
    throw new SandboxError(
      `Docker's API has version ${ApiVersion}, but svc needs ${API_OLDEST.join(".")} (Docker 19.03) or newer.`,
      { permanent: true },
    );
  }
  const oldest = numbersOf(MinAPIVersion);
  const common = isLess(newest, API_NEWEST) ? newest : isLess(API_NEWEST, oldest) ? oldest : API_NEWEST;
  return common.join(".");
}

function numbersOf(version: string | undefined): readonly [number, number] {
  const [, major, minor] = /^(\d+)\.(\d+)$/.exec(version ?? "") ?? [];
  return [Number(major ?? 0), Number(minor ?? 0)];
}

function isLess(a: readonly [number, number], b: readonly [number, number]): boolean {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

async function limited<T>(
  what: string,
  late: AbortSignal,
  signal: AbortSignal | undefined,
  work: (abortSignal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const either = signal ? AbortSignal.any([late, signal]) : late;
  try {
    return await unlessAborted(work(either), either);
  } catch (error) {
    signal?.throwIfAborted();
    throw toSandboxError(what, error, late);
  }
}

function toSandboxError(what: string, error: unknown, late: AbortSignal): unknown {
  if (error instanceof SandboxError) return error;
  if (late.aborted) {
    return new SandboxError(`Docker did not ${what} in time. Check the engine with: docker info.`, {
      away: late.reason !== STUCK,
    });
  }
  if (!(error instanceof Error)) return error;
  if ("statusCode" in error && typeof error.statusCode === "number") {
    return new EngineError(what, error.statusCode, messageOf(error));
  }
  // an error without a status: no socket, no permission, a broken connection
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return new SandboxError(
    `Cannot connect to Docker${code && ` (${code})`}. Start Docker, or set DOCKER_HOST to its address, and check that svc has access to it.`,
    { away: code !== "EACCES" && code !== "EPERM" },
  );
}

function messageOf(error: Error): string {
  const json: unknown = "json" in error ? error.json : null;
  if (typeof json === "object" && json !== null && "message" in json && typeof json.message === "string") {
    return json.message;
  }
  return error.message;
}

/** Removes the paths of the engine's machine from its messages. */
function withoutPaths(message: string): string {
  return message
    .replace(/\s+/g, " ")
    .replace(/(?<![\w:/])(?:\/[\w.@+-]+){2,}\/?/g, "…")
    .slice(0, MESSAGE_MAX)
    .trim();
}
