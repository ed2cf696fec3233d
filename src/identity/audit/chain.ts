import type { auditEvents } from "../../../db/schema/index.ts";
import type { Keys } from "../../keys.ts";

export type AuditRow = typeof auditEvents.$inferSelect;

/** An entry's position in the chain. */
export interface Link {
  position: number;
  previousHash: string;
  hash: string;
}

/** The hash before the first position. */
export const NO_HASH = "";

/**
 * The link of an entry after another. The hash is keyed by the master key, so that somebody who can only write to the database
 * cannot compute it.
 */
export function linkAfter(
  keys: Pick<Keys, "mac">,
  { position, hash: previousHash }: Pick<Link, "position" | "hash">,
  row: AuditRow,
): Link {
  const next = position + 1;
  const text = JSON.stringify([next, previousHash, ...contentOf(row)]);
  return { position: next, previousHash, hash: keys.mac("audit", text).toString("hex") };
}

/** All that an entry says, in a fixed order. */
function contentOf(row: AuditRow): unknown[] {
  return [
    row.auditId,
    row.accountIds,
    row.projectId,
    row.action,
    row.target,
    row.targetId,
    row.userId,
    row.userName,
    row.userEmail,
    sorted(row.actor),
    row.tokenId,
    row.address,
    row.requestId,
    sorted(row.details),
    row.createdAt.toISOString(),
  ];
}

/** JSON with the keys of objects in order: the database orders them otherwise. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.entries(value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, each]) => [key, sorted(each)]);
}
