import type { Channel } from "../../../src/contract/channel.ts";
import { path } from "../../api.ts";
import type { Context } from "../../context.ts";
import { usage } from "../../failure.ts";
import { readText } from "../../input.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/channels.ts";
import { oneLine } from "../../text.ts";
import { placeOf } from "./named.ts";

export const connect: Handler<typeof table.connect> = async (context, { args, flags }) => {
  const { id } = await context.project();
  const api = await context.api();
  const { token, signingSecret } = await readSecrets(context);
  const made = await api.call<Channel>({
    method: "POST",
    path: path`/projects/${id}/channels`,
    body: {
      kind: args.service,
      bot_token: token,
      signing_secret: signingSecret,
      ...(flags.channel !== undefined && { slack_channel: flags.channel }),
    },
  });
  const short = made.channel_id.slice(0, 8);
  await context.out.result(made, () => `Connected ${oneLine(placeOf(made))} as ${short}.\n`);
  await context.out.note(
    `Set these URLs in your Slack app:\n  Event Subscriptions: ${oneLine(made.events_url)}\n  Interactivity: ${oneLine(made.interactions_url)}\nNext: svc channels test ${short}`,
  );
};

/** Both secrets, which never are arguments: those would be in the shell's history. */
async function readSecrets(context: Context): Promise<{ token: string; signingSecret: string }> {
  if (context.system.stdin.isTTY && context.canAsk()) {
    const { secret } = await import("../../prompt.ts");
    const token = (await secret("Bot User OAuth Token, xoxb-… (the input is hidden)")).trim();
    const signingSecret = (await secret("Signing Secret (the input is hidden)")).trim();
    return { token, signingSecret };
  }
  const lines = (await readText(context, "-", "channels connect")).split(/\r?\n/).map((line) => line.trim());
  const [token, signingSecret, ...more] = lines.filter((line) => line !== "");
  if (token === undefined || signingSecret === undefined || more.length > 0)
    throw usage(
      "Standard input must have two lines: the Bot User OAuth Token (xoxb-…), then the Signing Secret.",
    );
  return { token, signingSecret };
}
