import { and, eq } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { channelThreads } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { type ChannelRow, findWithProject, openSecrets, type ThreadRow } from "./rows.ts";
import { type Slack, slackOf } from "./slack/client.ts";

/** What every task of a connection needs. */
export interface ChannelContext {
  channel: ChannelRow;
  project: ProjectRow;
  slack: Slack;
}

/** @returns null: it was disconnected, or its secrets were sealed with another key */
export async function openChannel(deps: Deps, channelId: string): Promise<ChannelContext | null> {
  const found = await findWithProject(deps.db, channelId);
  const secrets = found && openSecrets(deps, found.channel);
  return secrets ? { ...found, slack: slackOf(deps, secrets.botToken) } : null;
}

/** The thread of a conversation that is a session; null if it is not. */
export async function findThread(
  db: Db,
  { channelId }: ChannelRow,
  { room, thread }: { room: string; thread: string },
): Promise<ThreadRow | null> {
  const [row] = await db
    .select()
    .from(channelThreads)
    .where(
      and(
        eq(channelThreads.channelId, channelId),
        eq(channelThreads.room, room),
        eq(channelThreads.ts, thread),
      ),
    );
  return row ?? null;
}
