import type { DaemonEnv, DaemonHealth } from "../contract/daemon.ts";
import { signUserContext, USER_CONTEXT_LIFE_S } from "../contract/user-context.ts";

/** A sandbox's daemon, as the platform talks to it. */
export interface Daemon {
  hostname: string;
  port: number;
  serviceKey: string;
  sessionId: string;
}

/** It answers at once or is not there: the sandbox is on this machine or in this cluster. */
const HEALTH_MS = 3_000;
/** The runtime is stopped and started again, which is waited for. */
const ENV_MS = 30_000;
/** A sandbox is not to be trusted with the server's memory. */
const ANSWER_MAX_BYTES = 64 * 1024;

/** What the daemon says of itself; null when it does not answer as one. */
export async function askHealth(daemon: Daemon): Promise<DaemonHealth | null> {
  try {
    const response = await fetch(urlOf(daemon, "/svc/health"), {
      signal: AbortSignal.timeout(HEALTH_MS),
      redirect: "manual",
    });
    const health: unknown = JSON.parse(await readText(response));
    return response.status === 200 && isHealth(health) ? health : null;
  } catch {
    return null;
  }
}

/** Gives the sandbox another set of secrets. @returns whether the daemon took it */
export async function sendEnv(daemon: Daemon, env: DaemonEnv): Promise<boolean> {
  try {
    const response = await fetch(urlOf(daemon, "/svc/env"), {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Svc-User-Context": contextOf(daemon) },
      body: JSON.stringify(env),
      signal: AbortSignal.timeout(ENV_MS),
      redirect: "manual",
    });
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function urlOf({ hostname, port }: Daemon, path: string): string {
  return `http://${hostname.includes(":") ? `[${hostname}]` : hostname}:${port}${path}`;
}

function contextOf({ serviceKey, sessionId }: Daemon): string {
  const now = Math.floor(Date.now() / 1000);
  return signUserContext(serviceKey, {
    user_id: "platform",
    session_id: sessionId,
    role: "platform",
    scopes: [],
    iat: now,
    exp: now + USER_CONTEXT_LIFE_S,
  });
}

async function readText(response: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > ANSWER_MAX_BYTES) throw new Error("a daemon's answer is too long");
    parts.push(part);
  }
  return Buffer.concat(parts).toString();
}

/** What is used of it is checked: whoever answers there may be anything. */
function isHealth(value: unknown): value is DaemonHealth {
  const field = (name: string, of: unknown = value): unknown => Reflect.get(Object(of), name);
  const error = field("error");
  return (
    field("daemon") === "ok" &&
    typeof field("runtime") === "string" &&
    typeof field("clone") === "string" &&
    typeof field("busy") === "boolean" &&
    !Number.isNaN(Date.parse(String(field("active_at")))) &&
    (error === undefined ||
      (typeof field("message", error) === "string" && typeof field("kind", error) === "string"))
  );
}
