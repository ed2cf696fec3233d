import { setTimeout as sleep } from "node:timers/promises";
import type { Deps } from "../../deps.ts";
import { readSandboxConfig } from "../runs/sandbox-config.ts";
import { environmentOf } from "./environment.ts";
import { reachSession, type SessionRow } from "./row.ts";
import { openSessionSecrets } from "./secrets.ts";

/** Before each retry; the gateway that receives the work may still be starting. */
const BACKOFF_MS = [1_000, 5_000];

/**
 * Saves the work in a sandbox that exited because it could not reach this server. A failure is logged: work that cannot
 * be saved must not block the session.
 */
export async function saveOrphan(deps: Deps, session: SessionRow): Promise<void> {
  const provider = deps.sandboxes.get(session.provider);
  const { project, daemon } = (await reachSession(deps, session.sessionId)) ?? {};
  if (!provider?.save || !project || !daemon) return;
  const secrets = await openSessionSecrets(deps, session);
  const { limits } = await readSandboxConfig(deps, project);
  const keys = { serviceKey: daemon.serviceKey, token: null, models: null };
  const spec = {
    sessionId: session.sessionId,
    limits,
    environment: (apiUrl: string) =>
      environmentOf(
        {
          ...{ session, project, recap: null, recorded: null },
          ...{ runtime: null, customRuntimes: [], setup: null },
        },
        keys,
        secrets,
        apiUrl,
        null,
      ),
  };
  for (let tries = 0; ; tries++) {
    try {
      return await provider.save(spec);
    } catch (error) {
      const backoff = BACKOFF_MS[tries];
      deps.log.warn({ session: session.sessionId, err: error }, "cannot save the work of an exited sandbox");
      if (backoff === undefined) return;
      await sleep(backoff);
    }
  }
}
