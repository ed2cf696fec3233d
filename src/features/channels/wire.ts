import type { Channel } from "../../contract/channel.ts";
import type { Deps } from "../../deps.ts";
import { authorOf, namesOf } from "../../identity/auth/actor.ts";
import { publicUrl } from "../../identity/auth/public-url.ts";
import { type ChannelRow, lastEventAt } from "./rows.ts";

/** Connections as they cross the wire: without their secrets. */
export async function allToWire(
  deps: Pick<Deps, "db" | "config" | "api">,
  rows: readonly ChannelRow[],
): Promise<Channel[]> {
  const urls = `${publicUrl(deps)}/v1/channels/slack`;
  const names = await namesOf(
    deps.db,
    rows.map(({ createdBy }) => createdBy),
  );
  return await Promise.all(
    rows.map(async (row) => ({
      channel_id: row.channelId,
      project_id: row.projectId,
      kind: row.kind,
      team_id: row.teamId,
      team_name: row.teamName,
      app_id: row.appId,
      bot_user_id: row.botUserId,
      slack_channel: row.room || null,
      last_event_at: (await lastEventAt(deps.db, row.channelId))?.toISOString() ?? null,
      events_url: `${urls}/events`,
      interactions_url: `${urls}/interactions`,
      author: row.createdBy === null ? null : authorOf(names, row.createdBy, null),
      created_at: row.createdAt.toISOString(),
    })),
  );
}
