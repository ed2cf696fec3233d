import {
  type AgentChoice,
  DAEMON_PORT,
  DAEMON_PROMPT_STATES,
  type DaemonEnv,
  type DaemonExec,
  type DaemonHealth,
  type DaemonPrompt,
  type DaemonPromptBody,
  type RuntimeChoices,
} from "../contract/daemon.ts";
import { field } from "../contract/json.ts";
import type { ListeningPort } from "../contract/ports.ts";
import { isSetupStatus } from "../contract/setup.ts";
import { signedPath, signUserContext, USER_CONTEXT_LIFE_S } from "../contract/user-context.ts";
import { readChoices } from "./choices.ts";
import { readPorts } from "./ports.ts";
import type { SandboxAddress } from "./provider.ts";

/** A sandbox's daemon, and the key that authenticates requests to it. */
export interface Daemon {
  address: SandboxAddress;
  serviceKey: string;
  sessionId: string;
}

/** The sandbox is on this machine or in this cluster. */
const HEALTH_MS = 3_000;
/** The daemon waits for a restart of the runtime. */
const ENV_MS = 30_000;
/** The daemon reads some files of /proc. */
const PORTS_MS = 5_000;
/** The daemon starts a process. */
const EXEC_MS = 15_000;
/** The agent may have to restart. */
const CHOICE_MS = 3 * 60_000;
/** A page waits for it. */
const CHOICES_MS = 10_000;
/** Some hundred models and agents. */
const CHOICES_MAX_BYTES = 512 * 1024;
/** The daemon retries for 15 seconds. */
const ABORT_MS = 20_000;
/** A cold runtime is slow to accept a prompt; the daemon waits 15 seconds for the result. */
const PROMPT_MS = 60_000;
/** The runtime answers from its memory. */
const RUNTIME_MS = 10_000;
/** Limits, since sandboxes are not trusted. */
const RESPONSE_MAX_BYTES = 64 * 1024;
/** Several times a prompt with its attachments. */
const RUNTIME_MAX_BYTES = 16 * 1024 * 1024;

/** The daemon's health; null without a valid response. */
export async function fetchHealth(daemon: Daemon, ms = HEALTH_MS): Promise<DaemonHealth | null> {
  try {
    const response = await request(daemon, "/svc/health", {
      signal: AbortSignal.timeout(ms),
      redirect: "manual",
    });
    const health: unknown = JSON.parse(await readText(response));
    return response.status === 200 && isHealth(health) ? health : null;
  } catch {
    return null;
  }
}

/** The output of a deployment's build, as a tar. @throws when the daemon does not return it */
export async function readOutput(daemon: Daemon, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const response = await request(daemon, "/svc/output", {
    headers: { "X-Svc-User-Context": contextOf(daemon, "GET", "/svc/output") },
    signal,
    redirect: "manual",
    keepalive: false,
  });
  if (response.status !== 200 || !response.body) throw new Error(`a daemon's output: ${response.status}`);
  return response.body;
}

/** Replaces the sandbox's secrets. @returns whether the daemon accepted them */
export async function sendEnv(daemon: Daemon, env: DaemonEnv): Promise<boolean> {
  const { status } = await post(daemon, "/svc/env", env, AbortSignal.timeout(ENV_MS));
  return status >= 200 && status < 300;
}

/**
 * Changes what the agent works with from the next prompt on.
 * @returns whether the daemon accepted it, or is of a version of svc that never will
 */
export async function sendChoice(daemon: Daemon, choice: AgentChoice): Promise<boolean> {
  const { status } = await post(daemon, "/svc/choice", choice, AbortSignal.timeout(CHOICE_MS));
  return status !== 0 && status < 500;
}

/** What the runtime offers to choose from; null without a valid response. */
export async function fetchChoices(daemon: Daemon): Promise<RuntimeChoices | null> {
  const limit = AbortSignal.timeout(CHOICES_MS);
  const { status, answer } = await post(daemon, "/svc/choices", {}, limit, CHOICES_MAX_BYTES);
  return status === 200 ? readChoices(field(answer, "choices")) : null;
}

/** Where programs of a sandbox listen; null without a valid response. */
export async function fetchPorts(daemon: Daemon): Promise<ListeningPort[] | null> {
  const { status, answer } = await post(daemon, "/svc/ports", {}, AbortSignal.timeout(PORTS_MS));
  return status === 200 ? readPorts(field(answer, "ports")) : null;
}

/**
 * Starts a command of a person.
 * @returns `busy`: not yet; `full`: too many run; `refused`: never; `silent`: no response, so it may have started
 */
export async function sendExec(
  daemon: Daemon,
  command: DaemonExec,
): Promise<"started" | "busy" | "full" | "refused" | "silent"> {
  const { status } = await post(daemon, "/svc/exec", command, AbortSignal.timeout(EXEC_MS));
  if (status === 200) return "started";
  if (status === 503) return "busy";
  if (status === 429) return "full";
  return status >= 400 && status < 500 ? "refused" : "silent";
}

/** Aborts the agent's run. @returns `none`: nothing was running */
export async function sendAbort(daemon: Daemon): Promise<"aborted" | "none" | "failed"> {
  const { status } = await post(daemon, "/svc/abort", {}, AbortSignal.timeout(ABORT_MS));
  if (status === 200) return "aborted";
  return status === 409 ? "none" : "failed";
}

/**
 * A daemon's response to a prompt. `busy`: not now; `refused`: never; `absent`: not connected, so the prompt was not
 * received; `silent`: no response, so it may have been received.
 */
export type PromptAnswer =
  | { kind: "given"; prompt: DaemonPrompt }
  | { kind: "busy" }
  | { kind: "refused" }
  | { kind: "absent" }
  | { kind: "silent" };

/** Sends a prompt to a sandbox, or polls its state: the daemon passes it to the runtime only once. */
export async function sendPrompt(
  daemon: Daemon,
  body: DaemonPromptBody,
  signal: AbortSignal,
): Promise<PromptAnswer> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROMPT_MS)]);
  const { status, isAbsent, answer } = await post(daemon, "/svc/prompt", body, limit);
  const prompt: unknown = field(answer, "prompt");
  if (status === 200 && isPrompt(prompt)) return { kind: "given", prompt };
  if (status === 409) return { kind: "busy" };
  if (isAbsent) return { kind: "absent" };
  return { kind: status >= 400 && status < 500 ? "refused" : "silent" };
}

/**
 * Sends a request to the agent runtime, with the role `platform`.
 * @param path with its query
 * @returns the JSON of the answer; undefined without a 2xx answer of up to 16 MiB
 */
export async function callRuntime(
  daemon: Daemon,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
): Promise<unknown> {
  try {
    const response = await request(daemon, path, {
      method,
      headers: {
        "X-Svc-User-Context": contextOf(daemon, method, path),
        ...(body !== undefined && { "Content-Type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(RUNTIME_MS),
      redirect: "manual",
      keepalive: false,
    });
    const text = await readText(response, RUNTIME_MAX_BYTES);
    return response.ok ? JSON.parse(text || "null") : undefined;
  } catch {
    return undefined;
  }
}

/** The agent runtime's stream of events, with the role `platform`. @throws when it cannot be opened */
export async function streamRuntimeEvents(
  daemon: Daemon,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const response = await request(daemon, "/event", {
    headers: { "X-Svc-User-Context": contextOf(daemon, "GET", "/event") },
    signal,
    redirect: "manual",
    keepalive: false,
  });
  if (response.status === 200 && response.body) return response.body;
  await response.body?.cancel();
  throw new Error(`a daemon's events: ${response.status}`);
}

/** Sends a request with the role `platform`. The status is 0 without a response, or with one that is not JSON. */
async function post(
  daemon: Daemon,
  path: string,
  body: unknown,
  signal: AbortSignal,
  maxBytes?: number,
): Promise<{ status: number; isAbsent: boolean; answer: unknown }> {
  try {
    const response = await request(daemon, path, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Svc-User-Context": contextOf(daemon, "POST", path) },
      body: JSON.stringify(body),
      signal,
      redirect: "manual",
      // a reused connection may belong to a daemon that has ended
      keepalive: false,
    });
    return {
      status: response.status,
      isAbsent: false,
      answer: JSON.parse(await readText(response, maxBytes)),
    };
  } catch (error) {
    const isAbsent = NOT_CONNECTED.has(String(field(error, "code")));
    return { status: 0, isAbsent, answer: null };
  }
}

/** Nothing listens, the socket does not exist, or its backlog is full (unix(7)). */
const NOT_CONNECTED: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOENT", "EAGAIN"]);

/** Sends a request to a daemon. */
export function request({ address }: Daemon, path: string, init: BunFetchRequestInit): Promise<Response> {
  const { hostname, port, unix } = address;
  if (unix !== undefined) return fetch(`http://localhost:${DAEMON_PORT}${path}`, { ...init, unix });
  return fetch(`http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}${path}`, init);
}

/** The value of `X-Svc-User-Context` for the role `platform`. */
export function contextOf({ serviceKey, sessionId }: Daemon, method: string, path: string): string {
  const now = Math.floor(Date.now() / 1000);
  return signUserContext(serviceKey, {
    user_id: "platform",
    session_id: sessionId,
    role: "platform",
    scopes: [],
    iat: now,
    exp: now + USER_CONTEXT_LIFE_S,
    method,
    path: signedPath(path),
  });
}

async function readText(response: Response, max = RESPONSE_MAX_BYTES): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > max) throw new Error("a daemon's response is too long");
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** Checks the fields in use: sandboxes are not trusted. */
function isHealth(value: unknown): value is DaemonHealth {
  const error = field(value, "error");
  const restored = field(value, "restored");
  const setup = field(value, "setup");
  return (
    field(value, "daemon") === "ok" &&
    typeof field(value, "runtime") === "string" &&
    typeof field(value, "clone") === "string" &&
    typeof field(value, "busy") === "boolean" &&
    !Number.isNaN(Date.parse(String(field(value, "active_at")))) &&
    (restored === undefined || typeof restored === "string") &&
    (setup === undefined || isSetupStatus(setup)) &&
    (error === undefined ||
      (typeof field(error, "message") === "string" && typeof field(error, "kind") === "string"))
  );
}

function isPrompt(value: unknown): value is DaemonPrompt {
  const error = field(value, "error");
  return (
    DAEMON_PROMPT_STATES.some((state) => state === field(value, "state")) &&
    (error === null || typeof error === "string")
  );
}
