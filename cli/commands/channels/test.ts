import type { ChannelTest } from "../../../src/contract/channel.ts";
import { path } from "../../api.ts";
import { CliError } from "../../failure.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/channels.ts";
import { oneLine } from "../../text.ts";
import { findChannel } from "./named.ts";

export const test: Handler<typeof table.test> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { channel_id } = await findChannel(api, id, args.channel);
  const result = await api.call<ChannelTest>({
    method: "POST",
    path: path`/projects/${id}/channels/${channel_id}/test`,
  });
  const { missing_scopes: missing } = result;
  if (missing.length > 0)
    throw new CliError("channel_failed", `The Slack app lacks ${oneLine(missing.join(", "))}.`, {
      hint: "Add these Bot Token Scopes on the app's page OAuth & Permissions, and reinstall the app.",
    });
  await context.out.result(result, () => said(result));
  if (result.last_event_at === null)
    await context.out.note(
      "svc has accepted no message yet. Mention the bot in Slack; if nothing happens, check the app's page Event Subscriptions.",
    );
};

function said({ team_name, posted }: ChannelTest): string {
  const more = posted ? " A message was posted to the channel." : "";
  return `Slack accepts the token for ${oneLine(team_name)}.${more}\n`;
}
