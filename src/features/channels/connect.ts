import { randomUUID } from "node:crypto";
import { eq } from "drizzle-orm";
import { channels } from "../../../db/schema/index.ts";
import { CHANNELS_MAX, type Channel, type ConnectChannelBody } from "../../contract/channel.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { lockProject } from "../projects/lock.ts";
import { type ChannelRow, signingPurpose, tokenPurpose } from "./rows.ts";
import { SlackError, type SlackIdentity, slackOf } from "./slack/client.ts";
import { allToWire } from "./wire.ts";

/**
 * Connects a Slack workspace, or one channel of it, to a project. The token is tried first. The workspace and app are
 * those that Slack reports for it, so that nobody can claim another's.
 * @throws validation_failed, channel_taken, slack_unreachable, not_found
 */
export async function connectChannel(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  body: ConnectChannelBody,
): Promise<Channel> {
  const { projectId } = project;
  const identity = await identify(deps, body.bot_token);
  const channelId = randomUUID();
  const row = await deps.db.transaction(async (tx) => {
    await lockProject(tx, projectId);
    if ((await tx.$count(channels, eq(channels.projectId, projectId))) >= CHANNELS_MAX)
      throw new SvcError(
        "validation_failed",
        `The project has ${CHANNELS_MAX} channels, which is the limit. Remove one with: svc channels disconnect`,
      );
    const [added] = await tx
      .insert(channels)
      .values({
        channelId,
        projectId,
        kind: body.kind,
        teamId: identity.teamId,
        teamName: identity.teamName,
        appId: identity.appId,
        botUserId: identity.botUserId,
        room: body.slack_channel ?? "",
        botToken: deps.keys.seal(projectId, tokenPurpose(channelId), body.bot_token),
        signingSecret: deps.keys.seal(projectId, signingPurpose(channelId), body.signing_secret),
        createdBy: caller.userId,
        createdAt: deps.clock(),
      })
      .onConflictDoNothing()
      .returning();
    const row = added ?? taken(identity, body.slack_channel);
    await audit(tx, caller, { ...channelEntry(row), action: "channel.connected", project });
    return row;
  });
  const [shown] = await allToWire(deps, [row]);
  if (!shown) throw new Error("a channel was left out");
  return shown;
}

/** What the audit log has of a channel. */
export function channelEntry({ channelId, kind, teamName, room }: ChannelRow) {
  return { target: teamName, targetId: channelId, details: { kind, room } };
}

/** The workspace and app of a token. @throws validation_failed, slack_unreachable */
export async function identify(deps: Deps, botToken: string): Promise<SlackIdentity> {
  try {
    const identity = await slackOf(deps, botToken).identify();
    const { teamId, appId, botUserId } = identity;
    if ([teamId, appId, botUserId].every((id) => /^[A-Z][A-Z0-9]{2,30}$/.test(id))) return identity;
    throw refused("it is not the token of a bot in one workspace");
  } catch (error) {
    if (!(error instanceof SlackError)) throw error;
    if (!error.isTransient) throw refused(error.code);
    throw new SvcError(
      "slack_unreachable",
      "Slack did not answer. Try again in a moment.",
      {},
      { "Retry-After": String(error.retryAfter || 5) },
    );
  }
}

function refused(why: string): SvcError {
  return new SvcError(
    "validation_failed",
    `Slack does not accept the bot token: ${why}. Copy the Bot User OAuth Token from the app's page OAuth & Permissions; the app needs the scope users:read.`,
    { details: [{ path: "bot_token", message: `is not accepted by Slack: ${why}` }] },
  );
}

function taken({ teamName }: SlackIdentity, room: string | undefined): ChannelRow {
  const what = room === undefined ? `The workspace "${teamName}"` : `The channel ${room} of "${teamName}"`;
  throw new SvcError(
    "channel_taken",
    `${what} is connected to a project by this app already. Connect one channel with --channel, or disconnect the other project first.`,
  );
}
