import type { Db } from "../../../db/client.ts";
import type { WebhookEvent } from "../../contract/webhook-event.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { recordWebhookEvent } from "../webhooks/record.ts";
import { type Presenting, presentStored } from "./present.ts";
import type { CrRow } from "./row.ts";

type Event = Extract<WebhookEvent, `cr.${string}`>;

/**
 * Records an event of a change request for webhooks, in the transaction of what it reports and before `publish`.
 * @param row as it is after the change
 * @param more what the event is about besides
 */
export async function recordCrEvent(
  deps: Presenting,
  tx: Db,
  project: ProjectRow,
  event: { type: Event; at: Date },
  row: Omit<CrRow, "hasIntents">,
  more: Record<string, unknown> = {},
): Promise<void> {
  await recordWebhookEvent(tx, project.projectId, event, async () => ({
    change_request: await presentStored(deps, tx, project, row),
    ...more,
  }));
}
