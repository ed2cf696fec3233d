import type { Deps } from "../../deps.ts";
import { runPeriodically } from "../../jobs/periodic.ts";
import { newJobIn, placesOf, queueOf } from "../../jobs/places.ts";
import { pushChoice } from "./choices/push.ts";
import { createConversationWorker } from "./conversation/worker.ts";
import { createIdleRounds } from "./idle.ts";
import { createPromptWorker } from "./prompts/worker.ts";
import { pushSecrets } from "./push-secrets.ts";

/**
 * Delivers prompts and secrets to this server's sessions, stores their conversations, and stops idle ones.
 * @returns stops the worker, and waits for the round in progress
 */
export async function startSessionWorker(deps: Deps): Promise<() => Promise<void>> {
  const prompts = createPromptWorker(deps);
  const conversations = createConversationWorker(deps);
  for (const place of placesOf(deps)) {
    await deps.jobs.work(queueOf("secrets", place), (id) => pushSecrets(deps, id));
    await deps.jobs.work(queueOf("choices", place), (id) => pushChoice(deps, id));
    await deps.jobs.work(queueOf("prompts", place), async (id) => {
      // it runs, or has a new prompt
      conversations.check(id);
      prompts.check(id);
    });
  }
  const endRounds = runPeriodically(deps, {
    subject: "sessions",
    wakers: placesOf(deps).flatMap((place) =>
      (["runs", "prompts"] as const).map((work) => newJobIn(queueOf(work, place))),
    ),
    work: [createIdleRounds(deps), prompts.round, conversations.round],
  });
  return async () => {
    await endRounds();
    await Promise.all([prompts.stop(), conversations.stop()]);
  };
}
