import type { Channel, ChannelTest } from "../../src/contract/channel.ts";

const TIME = "2026-11-20T10:00:00.000Z";
export const CHANNEL_ID = "99999999-9999-4999-8999-999999999999";

const channel: Channel = {
  channel_id: CHANNEL_ID,
  project_id: "11111111-1111-4111-8111-111111111111",
  kind: "slack",
  team_id: "T0TEAM1",
  team_name: "Acme",
  app_id: "A0APP1",
  bot_user_id: "U0BOT1",
  slack_channel: null,
  last_event_at: TIME,
  events_url: "http://localhost:8008/v1/channels/slack/events",
  interactions_url: "http://localhost:8008/v1/channels/slack/interactions",
  author: null,
  created_at: TIME,
};

/** A server's responses about channels. */
export const CHANNEL_ROUTES = {
  "GET /projects/:p/channels": () => ({ channels: [channel] }),
  "POST /projects/:p/channels": () => channel,
  "DELETE /projects/:p/channels/:n": () => ({ ok: true }),
  "POST /projects/:p/channels/:n/test": (): ChannelTest => ({
    channel_id: CHANNEL_ID,
    team_name: "Acme",
    bot_user_id: "U0BOT1",
    missing_scopes: [],
    posted: false,
    last_event_at: TIME,
  }),
};
