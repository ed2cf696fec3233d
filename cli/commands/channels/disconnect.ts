import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/channels.ts";
import { oneLine } from "../../text.ts";
import { findChannel, placeOf } from "./named.ts";

export const disconnect: Handler<typeof table.disconnect> = async (context, { args }) => {
  const { id } = await context.project();
  const api = await context.api();
  const found = await findChannel(api, id, args.channel);
  await api.call({ method: "DELETE", path: path`/projects/${id}/channels/${found.channel_id}` });
  const done = { channel_id: found.channel_id, disconnected: true };
  await context.out.result(done, () => `Disconnected ${oneLine(placeOf(found))}.\n`);
};
