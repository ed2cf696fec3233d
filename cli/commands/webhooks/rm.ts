import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/webhooks.ts";
import { findWebhook } from "./named.ts";

export const rm: Handler<typeof table.rm> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { webhook_id } = await findWebhook(api, id, args.webhook);
  await api.call({ method: "DELETE", path: path`/projects/${id}/webhooks/${webhook_id}` });
  const done = { webhook_id, removed: true };
  await context.out.result(done, () => `Removed webhook ${webhook_id.slice(0, 8)}.\n`);
};
