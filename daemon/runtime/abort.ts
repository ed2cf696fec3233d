import { field } from "../../src/contract/json.ts";
import type { RuntimeCall } from "./call.ts";

/** A run shows only some time after its prompt was taken, and an abort before that is lost: so long nothing may show. */
const IDLE_MS = 1_500;
const CHECK_MS = 100;
const CALL_MS = 1_000;

/**
 * Aborts every run, again and again until none has shown for a while.
 * @param isExpected whether a prompt was taken a moment ago whose run may not show yet
 * @returns whether there was one; and whether all are over within `ms`
 */
export async function abortRuns(
  call: RuntimeCall,
  ms: number,
  isExpected: () => boolean = () => false,
): Promise<{ found: boolean; idle: boolean }> {
  const end = performance.now() + ms;
  let found = false;
  let idleSince = performance.now();
  while (performance.now() < end) {
    const runs = await runningSessions(call);
    if (runs === null || runs.length > 0) idleSince = performance.now();
    if (runs?.length === 0) {
      if (!found && !isExpected()) return { found, idle: true };
      if (performance.now() - idleSince >= IDLE_MS) return { found, idle: true };
    }
    for (const id of runs ?? []) {
      found = true;
      await call("POST", `/session/${id}/abort`, CALL_MS).catch(() => null);
    }
    await Bun.sleep(CHECK_MS);
  }
  return { found, idle: false };
}

/** Ids of the sessions that work; null when the runtime does not say. */
export async function runningSessions(call: RuntimeCall): Promise<string[] | null> {
  const answer = await call("GET", "/session/status", CALL_MS).catch(() => null);
  if (answer?.status !== 200 || typeof answer.body !== "object" || answer.body === null) return null;
  return Object.entries(answer.body)
    .filter(([id, status]) => /^ses[A-Za-z0-9_-]{0,128}$/.test(id) && !isIdle(status))
    .map(([id]) => id);
}

function isIdle(status: unknown): boolean {
  return field(status, "type") === "idle";
}
