import { asc, eq } from "drizzle-orm";
import { channels } from "../../../db/schema/index.ts";
import type { Channel } from "../../contract/channel.ts";
import type { Deps } from "../../deps.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import { allToWire } from "./wire.ts";

/** The project's connections, oldest first. Their number is limited, so there is one page. */
export async function listChannels(deps: Deps, { projectId }: ProjectRow): Promise<{ channels: Channel[] }> {
  const rows = await deps.db
    .select()
    .from(channels)
    .where(eq(channels.projectId, projectId))
    .orderBy(asc(channels.createdAt), asc(channels.channelId));
  return { channels: await allToWire(deps, rows) };
}
