import { field, textField } from "../../src/contract/json.ts";
import type { RuntimeAnswer, RuntimeCall } from "./call.ts";

/** What its program prints when it listens. It answers some time later. */
export const LISTENING = "opencode server listening";

/** A connection made too early is taken and never answered, so each try has a limit of its own. */
const TRY_MS = 1_500;
const PAUSE_MS = 50;

export type Readiness =
  | { kind: "ready" /** Empty when it does not say. */; version: string }
  | { kind: "config"; message: string }
  | { kind: "late" };

/**
 * Waits until the runtime answers: `/global/health` with healthy JSON (it has a page for every unknown path), then
 * `/config`, which also makes it read its configuration.
 * @param isOver asked between tries
 */
export async function untilReady(call: RuntimeCall, isOver: () => boolean): Promise<Readiness> {
  while (!isOver()) {
    const health = await healthOf(call, TRY_MS);
    if (health !== null) {
      const config = await call("GET", "/config", TRY_MS).catch(() => null);
      if (config?.status === 200 && config.isJson)
        return { kind: "ready", version: textField(health, "version") };
      if (config?.status === 400) return { kind: "config", message: configMessage(config) };
    }
    await Bun.sleep(PAUSE_MS);
  }
  return { kind: "late" };
}

/** Whether the runtime answers at all. */
export async function isHealthy(call: RuntimeCall, ms = TRY_MS): Promise<boolean> {
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
