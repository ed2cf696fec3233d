import { DrizzleQueryError } from "drizzle-orm";

/** SQLSTATE (or the driver's own code) of a failed query; null when the error is not the database's. */
export function databaseErrorCode(error: unknown): string | null {
  const cause = error instanceof DrizzleQueryError ? error.cause : error;
  if (!(cause instanceof Error) || !("code" in cause)) return null;
  return typeof cause.code === "string" ? cause.code : null;
}

/** Whether a foreign key refused the row, as when its parent was deleted in the meantime. */
export function isForeignKeyViolation(error: unknown): boolean {
  return databaseErrorCode(error) === "23503";
}

/** Whether the database is away, starting, ending or out of connections: worth another try later. */
export function isDatabaseAway(error: unknown): boolean {
  const code = databaseErrorCode(error);
  if (code === null) return false;
  return /^(CONNECTION_|CONNECT_TIMEOUT|ECONN|ENOENT$|EPIPE$|08|57P0|53300|25P03)/.test(code);
}
