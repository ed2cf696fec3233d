import { and, eq } from "drizzle-orm";
import { runs } from "../../../db/schema/index.ts";
import type { Deps } from "../../deps.ts";
import { endRun } from "./end.ts";
import { kindOf, type RunKinds } from "./kind.ts";
import { isUp } from "./row.ts";

/**
 * Stops the runs whose sandboxes are processes of this server's machine, so that a graceful shutdown leaves nothing
 * running. Called when the server takes no more jobs, but still receives the work that sandboxes save.
 */
export async function stopWithServer(deps: Deps, kinds: RunKinds): Promise<void> {
  const stopping = await deps.db
    .update(runs)
    .set({ goal: "stopped", stopReason: "server", updatedAt: deps.clock() })
    .where(and(eq(runs.provider, "local"), eq(runs.place, deps.serverId), eq(runs.goal, "running"), isUp))
    .returning();
  const ended = await Promise.allSettled(stopping.map((run) => endRun(deps, kindOf(kinds, run), run)));
  for (const result of ended) {
    if (result.status === "rejected")
      deps.log.warn({ err: result.reason }, "cannot stop a run with the server");
  }
}
