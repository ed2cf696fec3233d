import { and, eq, type SQL, sql } from "drizzle-orm";
import { runs } from "../../../db/schema/index.ts";
import type { BlockedOn } from "../../contract/blocked-on.ts";
import type { Deps } from "../../deps.ts";
import type { RunKind } from "./kind.ts";
import type { RunRow } from "./row.ts";
import type { QueuePlace } from "./start-queue.ts";

/** What a start in the queue waits for. */
export function blockedOnQueue({ position, length }: Omit<QueuePlace, "runId">): BlockedOn {
  const message = `Waiting to start: place ${position} of ${length} in the queue of this server.`;
  return { kind: "queue", message, position, length };
}

/** What a run waits for that is away. @param message as a sentence */
export function blockedOn(kind: "repository" | "engine", message: string): BlockedOn {
  return { kind, message, position: null, length: null };
}

/** Writes the places of waiting starts to their rows, always the newest, one statement at a time. */
export function createPlaceWriter(deps: Deps): (places: readonly QueuePlace[]) => void {
  let newest: readonly QueuePlace[] | null = null;
  let isWriting = false;
  return (places) => {
    newest = places;
    if (!isWriting) void write();
  };

  async function write(): Promise<void> {
    isWriting = true;
    for (let places = newest; places !== null; places = newest) {
      newest = null;
      await writePlaces(deps, places).catch((error: unknown) =>
        deps.log.warn({ err: error }, "cannot write the places of waiting starts"),
      );
    }
    isWriting = false;
  }
}

/** Only of starts whose step is `waiting`: others have been admitted since. */
async function writePlaces(deps: Deps, places: readonly QueuePlace[]): Promise<void> {
  const rows = places.map((place): SQL => sql`(${place.runId}, ${JSON.stringify(blockedOnQueue(place))})`);
  const written = await deps.db
    .update(runs)
    .set({ blockedOn: sql`place.blocked_on::jsonb` })
    .from(sql`(values ${sql.join(rows, sql`, `)}) as place(run_id, blocked_on)`)
    .where(and(sql`${runs.runId} = place.run_id`, eq(runs.step, "waiting"), eq(runs.status, "provisioning")))
    .returning({ runId: runs.runId });
  for (const { runId } of written) deps.changes.notify(runId);
}

/**
 * Records for a running sandbox that its engine is away, or is back.
 * @param value null: it is back
 */
export async function recordEngine(
  deps: Deps,
  kind: RunKind,
  { runId, generation }: RunRow,
  value: BlockedOn | null,
): Promise<void> {
  await deps.db.transaction(async (tx) => {
    const [row] = await tx
      .update(runs)
      .set({ blockedOn: value, updatedAt: deps.clock() })
      .where(and(eq(runs.runId, runId), eq(runs.generation, generation), eq(runs.status, "running")))
      .returning();
    if (row) await kind.publish(deps, tx, row, "changed");
  });
  deps.changes.notify(runId);
}
