import type { Delivery, Webhook } from "../../../src/contract/webhook.ts";
import { type Api, path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import { oneLine } from "../../text.ts";

/** The newest deliveries, among which one is found by the beginning of its id. */
const SEARCHED = 200;

/** The webhook whose id begins with a text. @throws CliError `not_found` for none, or several */
export async function findWebhook(api: Api, projectId: string, name: string): Promise<Webhook> {
  const { webhooks } = await api.call<{ webhooks: Webhook[] }>({
    path: path`/projects/${projectId}/webhooks`,
  });
  const found = webhooks.filter(({ webhook_id }) => isNamed(webhook_id, name));
  return only(found, "webhook", name, "List them with: svc webhooks ls");
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
  const found = deliveries.filter(({ delivery_id }) => isNamed(delivery_id, name));
  return only(found, "delivery", name, `List them with: svc webhooks deliveries ${webhook_id.slice(0, 8)}`);
}

function isNamed(id: string, name: string): boolean {
  return name !== "" && id.startsWith(name.toLowerCase());
}

function only<T>(found: readonly T[], noun: string, name: string, hint: string): T {
  const [first, second] = found;
  if (first !== undefined && second === undefined) return first;
  const shown = oneLine(name.slice(0, 80));
  const why = first === undefined ? `There is no ${noun} "${shown}".` : `Several ids begin with "${shown}".`;
  throw new CliError("not_found", why, { hint });
}
