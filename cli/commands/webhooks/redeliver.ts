import type { Delivery } from "../../../src/contract/webhook.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/webhooks.ts";
import { oneLine } from "../../text.ts";
import { findDelivery, findWebhook } from "./named.ts";

export const redeliver: Handler<typeof table.redeliver> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const webhook = await findWebhook(api, id, args.webhook);
  const { delivery_id } = await findDelivery(api, webhook, args.delivery);
  const queued = await api.call<Delivery>({
    method: "POST",
    path: path`/projects/${id}/webhooks/${webhook.webhook_id}/deliveries/${delivery_id}/redeliver`,
  });
  await context.out.result(queued, () => `Queued ${oneLine(queued.type)} again.\n`);
  await context.out.note(`Next: svc webhooks deliveries ${webhook.webhook_id.slice(0, 8)}`);
};
