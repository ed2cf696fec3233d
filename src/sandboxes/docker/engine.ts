import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type Docker from "dockerode";
import { SandboxError } from "../provider.ts";

/** A Docker engine, asked with time limits. */
export interface Engine {
  /**
   * Asks the engine one thing.
   * @param what it is, as the end of "Docker did not …"
   * @throws EngineError what the engine answers instead; SandboxError when it does not answer; the signal's reason
   */
  ask<T>(what: string, question: Question<T>, limits?: { ms?: number; signal?: AbortSignal }): Promise<T>;
  /** What kind of engine it is. @throws SandboxError when it does not answer, or cannot be worked with */
  facts(): Promise<EngineFacts>;
}

type Question<T> = (docker: Docker, abortSignal: AbortSignal) => Promise<T>;

export interface EngineFacts {
  /**
   * Containers cannot be reached by their addresses from here, nor this machine by the gateway's: Docker Desktop, which
   * runs them in a virtual machine, and an engine without root.
   */
  isForwarded: boolean;
}

/** What an engine answers instead of doing what it was asked: `status` is HTTP's. */
export class EngineError extends SandboxError {
  readonly status: number;

  constructor(what: string, status: number, words: string) {
    super(`Docker did not ${what}: ${withoutPaths(words)}`);
    this.status = status;
  }
}

/** Most calls take milliseconds; a disk under load makes seconds of them. */
const CALL_MS = 60_000;
/** To say that it is there, an engine needs no disk. */
const PING_MS = 2_000;
/** It counts its containers and images when it describes itself. */
const MEET_MS = 20_000;
const WORDS_MAX = 500;

/** The versions of the Engine API that this was written for; the newest that both sides know is spoken. */
const API_NEWEST = [1, 47] as const;
const API_OLDEST = [1, 40] as const;

/** Where Docker's own programs look for it, when DOCKER_HOST says nothing. */
const SOCKETS = ["/var/run/docker.sock", join(homedir(), ".docker/run/docker.sock")];

/** Whether an engine answers at DOCKER_HOST, or at the usual socket. */
export async function dockerAnswers(): Promise<boolean> {
  if (!process.env["DOCKER_HOST"] && !SOCKETS.some((path) => existsSync(path))) return false;
  try {
    const docker = await connect({ timeout: PING_MS });
    await limited("answer", PING_MS, undefined, () => docker.ping());
    return true;
  } catch {
    return false;
  }
}

/** The engine at DOCKER_HOST, or at the usual socket; nothing is asked yet. */
export function openEngine(): Engine {
  let meeting: Promise<{ docker: Docker; facts: EngineFacts }> | null = null;

  return {
    async ask(what, question, { ms = CALL_MS, signal } = {}) {
      const { docker } = await met();
      return await limited(what, ms, signal, (abortSignal) => question(docker, abortSignal));
    },
    facts: async () => (await met()).facts,
  };

  /** Who meets the engine first does it for all; a failure is not kept. */
  function met() {
    meeting ??= meet().catch((error: unknown) => {
      meeting = null;
      throw error;
    });
    return meeting;
  }
}

async function meet(): Promise<{ docker: Docker; facts: EngineFacts }> {
  const first = await connect({ timeout: MEET_MS });
  const versions = await limited("say its version", MEET_MS, undefined, () => first.version());
  const info = await limited("describe itself", MEET_MS, undefined, () => first.info());
  const docker = await connect({ version: `v${spokenVersion(versions)}` });
  const options: readonly string[] = info.SecurityOptions ?? [];
  return {
    docker,
    facts: {
      isForwarded:
        process.platform !== "linux" ||
        info.OperatingSystem === "Docker Desktop" ||
        options.some((option) => option.includes("rootless")),
    },
  };
}

/** The client is large and rarely needed by a short command, so it is loaded when an engine is. */
async function connect(options: Docker.DockerOptions): Promise<Docker> {
  const { default: Client } = await import("dockerode");
  try {
    return new Client(options);
  } catch {
    throw new SandboxError(
      "DOCKER_HOST cannot be read: it must be a URL such as unix:///var/run/docker.sock.",
      {
        permanent: true,
      },
    );
  }
}

function spokenVersion({ ApiVersion, MinAPIVersion }: Docker.DockerVersion): string {
  const newest = numbersOf(ApiVersion);
  if (isLess(newest, API_OLDEST)) {
    throw new SandboxError(
      `This Docker speaks version ${ApiVersion} of its API, and svc needs ${API_OLDEST.join(".")} (Docker 19.03) or newer.`,
      { permanent: true },
    );
  }
  const oldest = numbersOf(MinAPIVersion);
  const spoken = isLess(newest, API_NEWEST) ? newest : isLess(API_NEWEST, oldest) ? oldest : API_NEWEST;
  return spoken.join(".");
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
  const { promise: cut, reject } = Promise.withResolvers<never>();
  const onCut = () => reject(either.reason);
  either.addEventListener("abort", onCut, { once: true });
  try {
    return await Promise.race([work(either), cut]);
  } catch (error) {
    signal?.throwIfAborted();
    throw explained(what, error, late.aborted);
  } finally {
    either.removeEventListener("abort", onCut);
  }
}

function explained(what: string, error: unknown, isLate: boolean): unknown {
  if (error instanceof SandboxError) return error;
  if (isLate) {
    return new SandboxError(`Docker did not ${what} in time. See whether the engine is well: docker info.`);
  }
  if (!(error instanceof Error)) return error;
  if ("statusCode" in error && typeof error.statusCode === "number") {
    return new EngineError(what, error.statusCode, wordsOf(error));
  }
  // whatever has no status never came to an answer: no socket, no permission, a connection that broke
  const code = "code" in error && typeof error.code === "string" ? ` (${error.code})` : "";
  return new SandboxError(
    `No Docker engine answers${code}. Start Docker, or set DOCKER_HOST to where it listens, and see that svc may use it.`,
  );
}

function wordsOf(error: Error): string {
  const json: unknown = "json" in error ? error.json : null;
  if (typeof json === "object" && json !== null && "message" in json && typeof json.message === "string") {
    return json.message;
  }
  return error.message;
}

/** An engine's words may name folders of its machine, which are nobody's business. */
function withoutPaths(words: string): string {
  return words
    .replace(/\s+/g, " ")
    .replace(/(?<![\w:/])(?:\/[\w.@+-]+){2,}\/?/g, "…")
    .slice(0, WORDS_MAX)
    .trim();
}
