import { and, desc, eq, ne } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { channels, channelTasks, type channelThreads, projects } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";

export type ChannelRow = typeof channels.$inferSelect;
export type ThreadRow = typeof channelThreads.$inferSelect;
export type TaskRow = typeof channelTasks.$inferSelect;

/** One connection of a project. @throws not_found */
export async function findChannel(
  db: Db,
  { projectId }: Pick<ProjectRow, "projectId">,
  channelId: string,
): Promise<ChannelRow> {
  const isIt = and(eq(channels.projectId, projectId), eq(channels.channelId, channelId));
  const [row] = await db.select().from(channels).where(isIt);
  return row ?? unknown(channelId);
}

/** A connection with its project; null when it was disconnected. */
export async function findWithProject(
  db: Db,
  channelId: string,
): Promise<{ channel: ChannelRow; project: ProjectRow } | null> {
  const [row] = await db
    .select({ channel: channels, project: projects })
    .from(channels)
    .innerJoin(projects, eq(projects.projectId, channels.projectId))
    .where(eq(channels.channelId, channelId));
  return row ?? null;
}

/** When svc accepted the last message or click of a connection. Old ones are removed. */
export async function lastEventAt(db: Db, channelId: string): Promise<Date | null> {
  const [row] = await db
    .select({ at: channelTasks.createdAt })
    .from(channelTasks)
    .where(and(eq(channelTasks.channelId, channelId), ne(channelTasks.kind, "relay")))
    .orderBy(desc(channelTasks.createdAt))
    .limit(1);
  return row?.at ?? null;
}

export function unknown(channelId: string): never {
  throw new SvcError(
    "not_found",
    `The project has no channel ${channelId}. List its channels with: svc channels ls`,
  );
}

/** Binds the sealed secrets of a connection to it. */
export const tokenPurpose = (channelId: string) => `channel bot token ${channelId}`;
export const signingPurpose = (channelId: string) => `channel signing secret ${channelId}`;

/** Null if they were sealed with another key. */
export function openSecrets(
  { keys }: Pick<Deps, "keys">,
  { projectId, channelId, botToken, signingSecret }: ChannelRow,
): { botToken: string; signingSecret: string } | null {
  try {
    return {
      botToken: keys.open(projectId, tokenPurpose(channelId), botToken),
      signingSecret: keys.open(projectId, signingPurpose(channelId), signingSecret),
    };
  } catch {
    return null;
  }
}
