import { get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type ProviderOptions,
  type Sandbox,
  type SandboxAddress,
  SandboxError,
  type StartWatch,
} from "../provider.ts";
import { findSandbox } from "./find.ts";
import type { Folder } from "./folder.ts";
import { readLog } from "./log.ts";
import { isFree } from "./ports.ts";

/** For the daemon to listen, on a busy machine. After that, the caller polls its health. */
const LISTEN_MS = 15_000;
const POLL_MS = 15;
const HEALTH_MS = 1_000;
/** Many times the size of a daemon's health. */
const HEALTH_MAX_BYTES = 64 * 1024;
/** Shown of the log of a sandbox that ends during its start. */
const LAST_BYTES = 4096;

/**
 * Waits until a sandbox's daemon listens: until then, another program can take its port.
 * @returns null when another program has taken the port, so that the daemon ended
 * @throws SandboxError when the daemon ends for another reason
 */
export async function waitForPort(
  options: Pick<ProviderOptions, "installation">,
  folder: Folder,
  { sessionId, port }: { sessionId: string; port: number },
  watch: StartWatch,
  signal: AbortSignal,
): Promise<Sandbox | null> {
  for (const end = performance.now() + LISTEN_MS; ; await sleep(POLL_MS)) {
    signal.throwIfAborted();
    const sandbox = await findSandbox(options, folder, sessionId);
    if (sandbox?.state !== "running") {
      if (!isFree(port)) return null;
      throw await endedEarly(folder, sandbox, watch);
    }
    if ((await branchAt({ hostname: "127.0.0.1", port })) === sessionId) return sandbox;
    if (performance.now() > end) return isFree(port) ? sandbox : null;
  }
}

/**
 * Waits until a daemon in its own network namespace answers, or returns after `LISTEN_MS`: the caller then polls it.
 * @throws SandboxError when the daemon ends
 */
export async function waitForSocket(
  options: Pick<ProviderOptions, "installation">,
  folder: Folder,
  sessionId: string,
  watch: StartWatch,
  signal: AbortSignal,
): Promise<Sandbox> {
  for (const end = performance.now() + LISTEN_MS; ; await sleep(POLL_MS)) {
    signal.throwIfAborted();
    const sandbox = await findSandbox(options, folder, sessionId);
    if (sandbox?.state !== "running" || !sandbox.address) throw await endedEarly(folder, sandbox, watch);
    if ((await branchAt(sandbox.address)) === sessionId || performance.now() > end) return sandbox;
  }
}

async function endedEarly(folder: Folder, sandbox: Sandbox | null, watch: StartWatch): Promise<SandboxError> {
  const code = sandbox?.exitCode ?? null;
  const log = Buffer.from(await readLog(folder, LAST_BYTES)).toString();
  for (const line of log.trim().split("\n")) watch.log("svc", `svc-agent: ${line}`);
  return new SandboxError(
    `The sandbox ended during its start${code === null ? "" : `, with exit code ${code}`}. See its log.`,
  );
}

/** The branch of the daemon at an address, whose name is the session's id; null without a response. */
async function branchAt({ hostname, port, unix }: SandboxAddress): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<unknown>();
  // not `fetch`, which uses the proxy that is configured for the server
  const request = get(
    {
      ...(unix === undefined ? { host: hostname, port } : { socketPath: unix }),
      ...{ path: "/svc/health", agent: false, signal: AbortSignal.timeout(HEALTH_MS) },
    },
    (answer) => {
      let text = "";
      answer.setEncoding("utf8");
      answer.on("data", (part: string) => {
        text += part;
        if (text.length > HEALTH_MAX_BYTES) request.destroy();
      });
      answer.on("end", () => resolve(branchOf(text)));
      answer.on("close", () => resolve(null));
      answer.on("error", () => resolve(null));
    },
  );
  request.on("error", () => resolve(null));
  request.on("close", () => resolve(null));
  return promise;
}

function branchOf(health: string): unknown {
  try {
    const value: unknown = JSON.parse(health);
    return typeof value === "object" && value !== null ? Reflect.get(value, "branch") : null;
  } catch {
    return null;
  }
}
