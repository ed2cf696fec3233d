import type { Deps } from "../deps.ts";
import { placesOf, queueOf } from "../jobs/places.ts";
import { dropOwnClaims } from "./claim.ts";
import { createConverger } from "./converge.ts";
import { stopIdle } from "./idle.ts";
import { keepPrompts } from "./prompts/keep.ts";
import { pushSecrets } from "./push-secrets.ts";
import { reconcile } from "./reconcile.ts";
import { takeOver } from "./take-over.ts";

/** A sandbox that died is noticed after this long at most, beside the time that its provider takes to tell. */
const ROUND_MS = 5_000;

/**
 * Does the work of this server's sessions until it is stopped: their jobs, and a look at all of them every few seconds.
 * @returns ends it, and waits for the round under way
 */
export async function keepSessions(deps: Deps): Promise<() => Promise<void>> {
  await dropOwnClaims(deps);
  const converge = createConverger(deps);
  const prompts = keepPrompts(deps);
  for (const place of placesOf(deps)) {
    await deps.jobs.work(queueOf("sessions", place), converge);
    await deps.jobs.work(queueOf("secrets", place), (id) => pushSecrets(deps, id));
    await deps.jobs.work(queueOf("prompts", place), async (id) => prompts.look(id));
  }
  const stopping = new AbortController();
  const rounds = loop(deps, prompts.round, stopping.signal);
  return async () => {
    stopping.abort();
    await rounds;
    await prompts.stop();
  };
}

async function loop(deps: Deps, lookAtPrompts: () => Promise<void>, signal: AbortSignal): Promise<void> {
  // on the embedded database there are no others, or those from before a data folder was made anew
  const looks =
    deps.databaseKind === "embedded"
      ? [reconcile, stopIdle, lookAtPrompts]
      : [reconcile, stopIdle, takeOver, lookAtPrompts];
  for (let due = [takeOver, reconcile, stopIdle, lookAtPrompts]; !signal.aborted; due = looks) {
    for (const look of due) {
      await look(deps).catch((error: unknown) => {
        if (!signal.aborted) deps.log.warn({ err: error }, "a look at the sessions failed");
      });
    }
    await deps.changes.wait("sessions", ROUND_MS, signal);
  }
}
