import { type ChannelTest, SLACK_SCOPES } from "../../contract/channel.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { identify } from "./connect.ts";
import { findChannel, lastEventAt, openSecrets } from "./rows.ts";
import { SlackError, slackOf } from "./slack/client.ts";
import { escapeLine } from "./slack/mrkdwn.ts";

/** Characters of a project's name. */
const NAME_MAX = 200;

/**
 * Tries a connection: whether Slack accepts the token, which scopes are missing, and, if one channel is connected, whether
 * the bot can post to it.
 * @throws not_found, validation_failed, slack_unreachable
 */
export async function testChannel(deps: Deps, project: ProjectRow, channelId: string): Promise<ChannelTest> {
  const channel = await findChannel(deps.db, project, channelId);
  const secrets = openSecrets(deps, channel);
  if (!secrets)
    throw new SvcError(
      "validation_failed",
      "The secrets of this channel cannot be decrypted. Disconnect it, and connect it again.",
    );
  const { teamName, botUserId, scopes } = await identify(deps, secrets.botToken);
  if (channel.room !== "") {
    const text = `A test: this channel is connected to the project ${escapeLine(project.name, NAME_MAX)}.`;
    await slackOf(deps, secrets.botToken)
      .post({ room: channel.room, text })
      .catch((error: unknown) => {
        throw error instanceof SlackError ? cannotPost(channel.room, error) : error;
      });
  }
  return {
    channel_id: channelId,
    team_name: teamName,
    bot_user_id: botUserId,
    missing_scopes: SLACK_SCOPES.filter((scope) => !scopes.includes(scope)),
    posted: channel.room !== "",
    last_event_at: (await lastEventAt(deps.db, channelId))?.toISOString() ?? null,
  };
}

function cannotPost(room: string, { code, isTransient }: SlackError): SvcError {
  if (isTransient) return new SvcError("slack_unreachable", "Slack did not answer. Try again in a moment.");
  return new SvcError(
    "validation_failed",
    `The bot cannot post to ${room}: ${code}. Invite it to the channel: /invite @<name of the app>`,
  );
}
