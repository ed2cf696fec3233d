import { and, eq } from "drizzle-orm";
import { channels } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { audit } from "../../identity/auth/audit.ts";
import type { Caller, ProjectRow } from "../../identity/auth/caller.ts";
import { channelEntry } from "./connect.ts";
import { unknown } from "./rows.ts";

/** Removes a connection with its secrets and its threads. Sessions stay. @throws not_found */
export async function disconnectChannel(
  deps: Deps,
  caller: Caller,
  project: ProjectRow,
  channelId: string,
): Promise<{ ok: true }> {
  const isIt = and(eq(channels.projectId, project.projectId), eq(channels.channelId, channelId));
  return await deps.db.transaction(async (tx) => {
    const [gone] = await tx.delete(channels).where(isIt).returning();
    if (!gone) unknown(channelId);
    await audit(tx, caller, { ...channelEntry(gone), action: "channel.disconnected", project });
    return { ok: true };
  });
}
