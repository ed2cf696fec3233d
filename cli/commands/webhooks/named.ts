import type { Delivery, Webhook } from "../../../src/contract/webhook.ts";
import { type Api, path } from "../../api.ts";
import { findById } from "../../by-id.ts";

/** The newest deliveries, among which one is found by the beginning of its id. */
const SEARCHED = 200;

/** The webhook whose id begins with a text. @throws CliError `not_found` for none, or several */
export async function findWebhook(api: Api, projectId: string, name: string): Promise<Webhook> {
  const { webhooks } = await api.call<{ webhooks: Webhook[] }>({
    path: path`/projects/${projectId}/webhooks`,
  });
  return findById(webhooks, (each) => each.webhook_id, name, {
    noun: "webhook",
    hint: "List them with: svc webhooks ls",
  });
}

/** The delivery whose id begins with a text. @throws CliError `not_found` for none, or several */
export async function findDelivery(
  api: Api,
  { project_id, webhook_id }: Webhook,
  name: string,
): Promise<Delivery> {
  const { deliveries } = await api.call<{ deliveries: Delivery[] }>({
    path: `${path`/projects/${project_id}/webhooks/${webhook_id}/deliveries`}?limit=${SEARCHED}`,
  });
  return findById(deliveries, (each) => each.delivery_id, name, {
    noun: "delivery",
    hint: `List them with: svc webhooks deliveries ${webhook_id.slice(0, 8)}`,
  });
}
