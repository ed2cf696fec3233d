import { field, textField } from "../../src/contract/json.ts";
import type { RuntimeAnswer, RuntimeCall } from "./call.ts";

/** In the line that opencode prints when it listens: `opencode server listening on …`. It responds some time later. */
export const LISTENING = " server listening";

/** The timeout of each attempt: a connection that is made too early never gets a response. */
const ATTEMPT_MS = 1_500;
const PAUSE_MS = 50;

export type Readiness =
  | { kind: "ready" /** Empty if unknown. */; version: string }
  | { kind: "config"; message: string }
  | { kind: "late" /** The end of a sentence. */; why: string };

/**
 * Polls the runtime until `/global/health` returns healthy JSON (for unknown paths it returns a page), and then
 * `/config`, which makes the runtime read its configuration.
 * @param late why to stop polling, null to go on; called between attempts
 */
export async function untilReady(call: RuntimeCall, late: () => string | null): Promise<Readiness> {
  for (;;) {
    const why = late();
    if (why !== null) return { kind: "late", why };
    const health = await healthOf(call, ATTEMPT_MS);
    if (health !== null) {
      const config = await call("GET", "/config", ATTEMPT_MS).catch(() => null);
      if (config?.status === 200 && config.isJson)
        return { kind: "ready", version: textField(health, "version") };
      if (config?.status === 400) return { kind: "config", message: configMessage(config) };
    }
    await Bun.sleep(PAUSE_MS);
  }
}

/** Whether the runtime responds to a health check. */
export async function isHealthy(call: RuntimeCall, ms = ATTEMPT_MS): Promise<boolean> {
  return (await healthOf(call, ms)) !== null;
}

async function healthOf(call: RuntimeCall, ms: number): Promise<object | null> {
  const answer = await call("GET", "/global/health", ms).catch(() => null);
  const { status, isJson, body } = answer ?? { status: 0, isJson: false, body: null };
  if (status !== 200 || !isJson || typeof body !== "object" || body === null) return null;
  return Reflect.get(body, "healthy") === true ? body : null;
}

const WORDS_MAX = 300;

function configMessage({ body }: RuntimeAnswer): string {
  const name = textField(body, "name");
  const data = field(body, "data");
  const words = [name, textField(data, "path"), textField(data, "message")]
    .filter((word) => word !== "")
    .join(": ");
  return words.replace(/\p{Cc}+/gu, " ").slice(0, WORDS_MAX);
}
