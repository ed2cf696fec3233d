import type { Channel } from "../../../src/contract/channel.ts";
import { path } from "../../api.ts";
import type { Handler } from "../../spec.ts";
import type * as table from "../../table/channels.ts";
import { ago, type Column, table as tableOf } from "../../table-print.ts";

export const ls: Handler<typeof table.ls> = async (context) => {
  const { id } = await context.project();
  const api = await context.api();
  const { channels } = await api.call<{ channels: Channel[] }>({ path: path`/projects/${id}/channels` });
  await context.out.result(channels, (view) =>
    channels.length === 0 ? "" : tableOf(channels, COLUMNS, view),
  );
  if (channels.length === 0) await context.out.note("No channels yet. Next: svc channels connect slack");
};

const COLUMNS: readonly Column<Channel>[] = [
  {
    title: "ID",
    value: ({ channel_id }) => channel_id,
    shown: ({ channel_id }) => channel_id.slice(0, 8),
    paint: (_, view) => view.paint.cyan,
  },
  { title: "SERVICE", value: ({ kind }) => kind },
  { title: "WORKSPACE", value: ({ team_name }) => team_name, flexible: true },
  { title: "CHANNEL", value: ({ slack_channel }) => slack_channel ?? "all" },
  {
    title: "LAST MESSAGE",
    value: ({ last_event_at }) => last_event_at ?? "",
    shown: ({ last_event_at }, view) => (last_event_at === null ? "none" : ago(last_event_at, view.now)),
  },
];
