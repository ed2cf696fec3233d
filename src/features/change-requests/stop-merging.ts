import type { Db } from "../../../db/client.ts";
import { turnOff } from "./auto-merge/row.ts";
import { takeOut } from "./queue/row.ts";

/**
 * Turns the auto-merges of change requests off and takes them out of their merge queues, in the transaction of what is the
 * reason for it and before its events are recorded.
 * @param tx has locked the rows of the change requests
 */
export async function stopMerging(tx: Db, crIds: readonly string[], reason: string): Promise<void> {
  await turnOff(tx, crIds, reason);
  await takeOut(tx, crIds, reason);
}
