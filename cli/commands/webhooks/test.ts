import type { Delivery } from "../../../src/contract/webhook.ts";
import { path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/webhooks.ts";
import { oneLine } from "../../text.ts";
import { findWebhook } from "./named.ts";

/** The answer of the receiver is polled this often, and so many times: twice the time of an attempt. */
const POLL_MS = 500;
const POLLS = 60;

export const test: Handler<typeof table.test> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { webhook_id } = await findWebhook(api, id, args.webhook);
  const { delivery_id } = await api.call<Delivery>({
    method: "POST",
    path: path`/projects/${id}/webhooks/${webhook_id}/test`,
  });
  const read = () =>
    api.call<Delivery & { payload?: unknown }>({
      path: path`/projects/${id}/webhooks/${webhook_id}/deliveries/${delivery_id}`,
    });
  let last = await read();
  for (let polls = 0; polls < POLLS && !isAttempted(last); polls++) {
    await Bun.sleep(POLL_MS);
    last = await read();
  }
  const { payload: _, ...delivery } = last;
  if (delivery.status === "delivered")
    return await context.out.result(
      delivery,
      () => `Delivered in ${delivery.duration_ms} ms: the receiver answered ${delivery.status_code}.\n`,
    );
  throw new CliError(
    "webhook_failed",
    `The test was not delivered: ${oneLine(delivery.error ?? "it has not been sent yet.")}`,
    { hint: `svc webhooks deliveries ${webhook_id.slice(0, 8)}` },
  );
};

/** Whether the first attempt has ended. */
function isAttempted({ status, next_attempt_at }: Delivery): boolean {
  return status !== "pending" || next_attempt_at !== null;
}
