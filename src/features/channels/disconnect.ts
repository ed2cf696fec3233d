import { and, eq } from "drizzle-orm";
import { channels } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { unknown } from "./rows.ts";

/** Removes a connection with its secrets and its threads. Sessions stay. @throws not_found */
export async function disconnectChannel(
  deps: Deps,
  { projectId }: ProjectRow,
  channelId: string,
): Promise<{ ok: true }> {
  const isIt = and(eq(channels.projectId, projectId), eq(channels.channelId, channelId));
  const [gone] = await deps.db.delete(channels).where(isIt).returning({ id: channels.channelId });
  return gone ? { ok: true } : unknown(channelId);
}
