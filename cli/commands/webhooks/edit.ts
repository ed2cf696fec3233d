import type { WebhookWithSecret } from "../../../src/contract/webhook.ts";
import { path } from "../../api.ts";
import { usage } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/webhooks.ts";
import { oneLine } from "../../text.ts";
import { readEvents, readUrl } from "./add.ts";
import { findWebhook } from "./named.ts";

export const edit: Handler<typeof table.edit> = async (context, { args, flags }) => {
  if (flags.enable && flags.disable) throw usage("--enable and --disable exclude each other.");
  const change = {
    ...(flags.url !== undefined && { url: await readUrl(context, flags.url, "--url") }),
    ...(flags.events !== undefined && { events: readEvents(flags.events) }),
    ...(flags.format !== undefined && { format: flags.format }),
    ...((flags.enable || flags.disable) && { enabled: flags.enable }),
    ...(flags["rotate-secret"] && { rotate_secret: true }),
  };
  if (Object.keys(change).length === 0)
    throw usage(
      "Nothing to change.",
      "Flags: --url, --events, --format, --enable, --disable, --rotate-secret",
    );
  const { id } = await context.project();
  const api = await context.api();
  const { webhook_id } = await findWebhook(api, id, args.webhook);
  const changed = await api.call<WebhookWithSecret>({
    method: "PATCH",
    path: path`/projects/${id}/webhooks/${webhook_id}`,
    body: change,
  });
  const state = changed.enabled ? "enabled" : "disabled";
  const secret = changed.secret === undefined ? "" : `Secret, shown only now: ${oneLine(changed.secret)}\n`;
  await context.out.result(
    changed,
    () => `Changed webhook ${webhook_id.slice(0, 8)}; it is ${state}.\n${secret}`,
  );
};
