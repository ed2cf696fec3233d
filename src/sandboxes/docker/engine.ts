import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type Docker from "dockerode";
import { unlessAborted } from "../../lib/unless-aborted.ts";
import { SandboxError } from "../provider.ts";

/** A Docker engine, called with time limits. */
export interface Engine {
  /**
   * Calls the engine.
   * @param what describes the call, as in "Docker did not <what>"
   * @throws EngineError when the engine returns an error; SandboxError when it does not respond; the signal's reason
   */
  call<T>(what: string, request: Call<T>, limits?: { ms?: number; signal?: AbortSignal }): Promise<T>;
  /** @throws SandboxError when the engine does not respond, or is not supported */
  properties(): Promise<EngineProperties>;
}

type Call<T> = (docker: Docker, abortSignal: AbortSignal) => Promise<T>;

export interface EngineProperties {
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
/** A ping uses no disk. */
const PING_MS = 2_000;
/** `info` counts containers and images. */
const CONNECT_MS = 20_000;
const MESSAGE_MAX = 500;

/** The supported versions of the Engine API; svc uses the newest that the engine also supports. */
const API_NEWEST = [1, 47] as const;
const API_OLDEST = [1, 40] as const;

/** The default sockets, without DOCKER_HOST. */
const SOCKETS = ["/var/run/docker.sock", join(homedir(), ".docker/run/docker.sock")];

/** Whether an engine answers at DOCKER_HOST, or at the default socket. */
export async function dockerAnswers(): Promise<boolean> {
  if (!process.env["DOCKER_HOST"] && !SOCKETS.some((path) => existsSync(path))) return false;
  try {
    const docker = await createClient({ timeout: PING_MS });
    await limited("answer", PING_MS, undefined, () => docker.ping());
    return true;
  } catch {
    return false;
  }
}

/** The engine at DOCKER_HOST, or at the default socket. Connects on the first call. */
export function openEngine(): Engine {
  let connecting: Promise<{ docker: Docker; properties: EngineProperties }> | null = null;

  return {
    async call(what, request, { ms = CALL_MS, signal } = {}) {
      const { docker } = await connected();
      return await limited(what, ms, signal, (abortSignal) => request(docker, abortSignal));
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
  const first = await createClient({ timeout: CONNECT_MS });
  const versions = await limited("return its version", CONNECT_MS, undefined, () => first.version());
  const info = await limited("describe itself", CONNECT_MS, undefined, () => first.info());
  const docker = await createClient({ version: `v${negotiateVersion(versions)}` });
  const options: readonly string[] = info.SecurityOptions ?? [];
  return {
    docker,
    properties: {
      isForwarded:
        process.platform !== "linux" ||
        info.OperatingSystem === "Docker Desktop" ||
        options.some((option) => option.includes("rootless")),
    },
  };
}

/** Loads the client on demand, since it is large and short commands rarely need it. */
async function createClient(options: Docker.DockerOptions): Promise<Docker> {
  const { default: Client } = await import("dockerode");
  try {
    return new Client(options);
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
  ms: number,
  signal: AbortSignal | undefined,
  work: (abortSignal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const late = AbortSignal.timeout(ms);
  const either = signal ? AbortSignal.any([late, signal]) : late;
  try {
    return await unlessAborted(work(either), either);
  } catch (error) {
    signal?.throwIfAborted();
    throw toSandboxError(what, error, late.aborted);
  }
}

function toSandboxError(what: string, error: unknown, isLate: boolean): unknown {
  if (error instanceof SandboxError) return error;
  if (isLate) {
    return new SandboxError(`Docker did not ${what} in time. Check the engine with: docker info.`);
  }
  if (!(error instanceof Error)) return error;
  if ("statusCode" in error && typeof error.statusCode === "number") {
    return new EngineError(what, error.statusCode, messageOf(error));
  }
  // an error without a status: no socket, no permission, a broken connection
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return new SandboxError(
    `Cannot connect to Docker${code}. Start Docker, or set DOCKER_HOST to its address, and check that svc has access to it.`,
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
