import { and, eq, inArray, sql } from "drizzle-orm";
import type { Db } from "../../../db/client.ts";
import { triggerFirings } from "../../../db/schema/index.ts";
import { SvcError } from "../../contract/errors.ts";
import { WAITING_MAX } from "../../contract/trigger.ts";
import type { ProjectRow } from "../../identity/auth/caller.ts";
import type { FiringRow, TriggerRow } from "./row.ts";

/** For `Retry-After`: sessions of an account end every few minutes. */
const RETRY_S = 60;

/** Whether the project's limit of waiting firings is reached. Concurrent callers may exceed it slightly. */
export async function isFull(db: Db, projectId: string): Promise<boolean> {
  const waiting = db
    .select({ seq: triggerFirings.seq })
    .from(triggerFirings)
    .where(and(eq(triggerFirings.projectId, projectId), eq(triggerFirings.state, "waiting")))
    .limit(WAITING_MAX)
    .as("waiting");
  const [row] = await db.select({ count: sql`count(*)`.mapWith(Number) }).from(waiting);
  return (row?.count ?? 0) >= WAITING_MAX;
}

type NewFiring = Pick<FiringRow, "key" | "source" | "sessionId" | "prompt"> & {
  createdBy?: string;
  /** Another key that the same firing may have. */
  earlierKey?: string | null;
  now: Date;
};

/**
 * Adds a waiting firing, once for its key.
 * @returns that firing, or the earlier one with the key
 * @throws rate_limited when too many firings of the project wait
 */
export async function addFiring(
  db: Db,
  { triggerId }: TriggerRow,
  { projectId, accountId }: Pick<ProjectRow, "projectId" | "accountId">,
  { now, earlierKey = null, ...firing }: NewFiring,
): Promise<Pick<FiringRow, "seq" | "sessionId">> {
  const { seq, sessionId } = triggerFirings;
  const keys = earlierKey === null ? [firing.key] : [firing.key, earlierKey];
  const isIt = and(eq(triggerFirings.triggerId, triggerId), inArray(triggerFirings.key, keys));
  const find = async () => (await db.select({ seq, sessionId }).from(triggerFirings).where(isIt))[0];
  const earlier = await find();
  if (earlier) return earlier;
  if (await isFull(db, projectId)) throw tooMany();
  const values = { ...firing, triggerId, projectId, accountId, dueAt: now, createdAt: now };
  const [added] = await db
    .insert(triggerFirings)
    .values({ ...values, state: "waiting" })
    .onConflictDoNothing()
    .returning({ seq, sessionId });
  const row = added ?? (await find());
  if (!row) throw new Error("the insert of a firing returned no row");
  return row;
}

export function tooMany(): SvcError {
  return new SvcError(
    "rate_limited",
    `${WAITING_MAX} firings of this project are waiting, because the account has reached its session limit. Stop sessions that are not needed, or try again later.`,
    {},
    {
      "Retry-After": String(RETRY_S),
      "X-RateLimit-Limit": String(WAITING_MAX),
      "X-RateLimit-Remaining": "0",
    },
  );
}
