import type { Logger } from "pino";
import type { Provider } from "./provider.ts";
import type { Sandboxes } from "./sandboxes.ts";

/** Logs what isolates the server's sandboxes, and which providers cannot isolate them. */
export async function logIsolation(sandboxes: Sandboxes, log: Logger): Promise<void> {
  // the check starts processes, so it is skipped without a log
  if (!log.isLevelEnabled("warn")) return;
  await Promise.all(sandboxes.all().map((provider) => logIsolationOf(provider, log)));
}

async function logIsolationOf(provider: Provider, log: Logger): Promise<void> {
  const about: Record<string, string> = { provider: provider.name };
  try {
    Object.assign(about, await provider.describe?.());
    const walls = await provider.walls();
    if (walls.length > 0) log.info({ ...about, walls }, "sandboxes are isolated");
    else
      log.warn(
        { ...about, walls },
        "SVC_SANDBOX_ISOLATION=none: sandboxes are not isolated, and agents can do everything that the user that runs svc can",
      );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warn(about, `sessions cannot start: ${reason}`);
  }
}
