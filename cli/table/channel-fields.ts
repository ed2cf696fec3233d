import type { Channel, ChannelTest } from "../../src/contract/channel.ts";
import { fieldsOf } from "./fields.ts";

export const CHANNEL_FIELDS = fieldsOf<Channel>()([
  "channel_id",
  "project_id",
  "kind",
  "team_id",
  "team_name",
  "app_id",
  "bot_user_id",
  "slack_channel",
  "last_event_at",
  "events_url",
  "interactions_url",
  "author",
  "created_at",
]);

export const CHANNEL_TEST_FIELDS = fieldsOf<ChannelTest>()([
  "channel_id",
  "team_name",
  "bot_user_id",
  "missing_scopes",
  "posted",
  "last_event_at",
]);
