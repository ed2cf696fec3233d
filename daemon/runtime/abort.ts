import { field } from "../../src/contract/json.ts";
import type { RuntimeCall } from "./call.ts";

/** A run becomes visible some time after its prompt is accepted, and an abort before that has no effect. */
const IDLE_MS = 1_500;
const CHECK_MS = 100;
const CALL_MS = 1_000;

/**
 * Aborts all runs, repeatedly, until none has been visible for `IDLE_MS`.
 * @param isExpected whether a prompt was accepted recently whose run may not be visible yet
 * @returns whether a run was found, and whether all runs ended within `ms`
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

/** Ids of the runtime's sessions with a run under way; null if the runtime does not respond. */
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
