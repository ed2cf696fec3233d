import { DrizzleQueryError } from "drizzle-orm";

/** SQLSTATE (or the driver's own code) of a failed query; null for an error that is not from the database. */
export function databaseErrorCode(error: unknown): string | null {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  if (!(cause instanceof Error) || !("code" in cause)) return null;
  return typeof cause.code === "string" ? cause.code : null;
}

/** Whether a foreign key constraint failed: the parent row was deleted concurrently. */
export function isForeignKeyViolation(error: unknown): boolean {
  return databaseErrorCode(error) === "23503";
}

/** Whether the database ended this transaction because it and others waited for each other's locks: retry it. */
export function isDeadlock(error: unknown): boolean {
  return databaseErrorCode(error) === "40P01";
}

/** Whether the database is unavailable, starting, stopping or out of connections: retry later. */
export function isDatabaseAway(error: unknown): boolean {
  const code = databaseErrorCode(error);
  if (code === null) return false;
  return /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOENT$|EPIPE$|08|57P0|53300|25P03)/.test(code);
}
