import { type Static, Type } from "@sinclair/typebox";
import { author } from "./author.ts";
import { nullable, oneOf } from "./schema.ts";

/** The chat services that a project can be connected to. */
export const CHANNEL_KINDS = ["slack"] as const;

/** Workspaces and channels connected to one project. */
export const CHANNELS_MAX = 20;

/** The bot token scopes that svc uses. */
export const SLACK_SCOPES = [
  "app_mentions:read",
  "channels:history",
  "chat:write",
  "groups:history",
  "im:history",
  "users:read",
  "users:read.email",
] as const;

const uuid = Type.String({ format: "uuid" });
const time = Type.String({ format: "date-time" });
const kind = oneOf(CHANNEL_KINDS);

/** A connected workspace as it crosses the wire: without its secrets. */
export const channel = Type.Object({
  channel_id: uuid,
  project_id: uuid,
  kind,
  team_id: Type.String({ description: "The Slack workspace" }),
  team_name: Type.String(),
  app_id: Type.String({ description: "The Slack app" }),
  bot_user_id: Type.String(),
  slack_channel: nullable(
    Type.String({ description: "The only channel of the workspace that is connected; null: all of them" }),
  ),
  last_event_at: nullable(
    Type.String({ format: "date-time", description: "The last message or click that svc accepted" }),
  ),
  events_url: Type.String({ description: "The Request URL of the app's page Event Subscriptions" }),
  interactions_url: Type.String({
    description: "The Request URL of the app's page Interactivity & Shortcuts",
  }),
  author: nullable(author),
  created_at: time,
});
export type Channel = Static<typeof channel>;

/** Body of `POST /v1/projects/:id/channels`. */
export const connectChannelBody = Type.Object({
  kind,
  bot_token: Type.String({
    pattern: "^xoxb-[A-Za-z0-9-]{10,400}$",
    description: "The Bot User OAuth Token of the app, which begins with xoxb-",
  }),
  signing_secret: Type.String({
    pattern: "^[0-9a-f]{32,64}$",
    description: "The Signing Secret of the app, on its page Basic Information",
  }),
  slack_channel: Type.Optional(
    Type.String({
      pattern: "^[CG][A-Z0-9]{2,30}$",
      description: "The id of a channel: only messages in it are for this project",
    }),
  ),
});
export type ConnectChannelBody = Static<typeof connectChannelBody>;

/** Answer of `POST …/channels/:cid/test`. */
export const channelTest = Type.Object({
  channel_id: uuid,
  team_name: Type.String(),
  bot_user_id: Type.String(),
  missing_scopes: Type.Array(Type.String(), { description: "Scopes that the app needs and does not have" }),
  posted: Type.Boolean({ description: "Whether a message was posted to the connected channel" }),
  last_event_at: nullable(time),
});
export type ChannelTest = Static<typeof channelTest>;

/** A body from Slack, in bytes: an event has a message of up to 40,000 characters, an interaction a message with blocks. */
export const SLACK_BODY_MAX_BYTES = 512 * 1024;

/** Answer to Slack: it reads only the status, and the challenge. */
export const slackAccepted = Type.Object({
  ok: Type.Literal(true),
  challenge: Type.Optional(Type.String({ description: "That of a url_verification" })),
});
export type SlackAccepted = Static<typeof slackAccepted>;
