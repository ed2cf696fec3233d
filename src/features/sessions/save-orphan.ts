import { setTimeout as sleep } from "node:timers/promises";
import type { Deps } from "../../deps.ts";
import { readSandboxConfig } from "../runs/sandbox-config.ts";
import { openSecrets } from "../secrets/open.ts";
import { environmentOf } from "./environment.ts";
import { reachSession, type SessionRow } from "./row.ts";

/** Before each further try; the gateway that takes the work may be starting, too. */
const BACKOFF_MS = [1_000, 5_000];

/**
 * Saves what a sandbox still has that has ended because this server was away. A failure is logged: the session is not to
 * wait for ever for work that cannot be saved.
 */
export async function saveOrphan(deps: Deps, session: SessionRow): Promise<void> {
  const provider = deps.sandboxes.get(session.provider);
  const { project, daemon } = (await reachSession(deps, session.sessionId)) ?? {};
  if (!provider?.save || !project || !daemon) return;
  const { secretAudience, secretNames } = session;
  const secrets = await openSecrets(deps, project.projectId, secretAudience, secretNames);
  const { limits } = await readSandboxConfig(deps, project);
  const keys = { serviceKey: daemon.serviceKey, token: null };
  const spec = {
    sessionId: session.sessionId,
    limits,
    environment: (apiUrl: string) => environmentOf(deps, { session, project }, keys, secrets, apiUrl, null),
  };
  for (let tries = 0; ; tries++) {
    try {
      return await provider.save(spec);
    } catch (error) {
      const backoff = BACKOFF_MS[tries];
      deps.log.warn({ session: session.sessionId, err: error }, "the work of an ended sandbox was not saved");
      if (backoff === undefined) return;
      await sleep(backoff);
    }
  }
}
