/** Codes of the system and of the driver for a connection that was not made. */
const NETWORK =
  /^(?:ECONN(?:REFUSED|RESET)|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOENT|CONNECT_TIMEOUT|CONNECTION_\w+)$/;
/** Codes of Postgres: wrong user or password (class 28), no such database, too many connections, starting or stopping. */
const POSTGRES = /^(?:28\w{3}|3D000|53300|57P0[1-3])$/;
/** Limits a cycle of causes. */
const CAUSES_MAX = 8;

/** Postgres did not accept a connection. */
export class DatabaseUnreachableError extends Error {
  override readonly name = "DatabaseUnreachableError";
  constructor(url: string, reason: string) {
    // never the whole URL, which holds a password
    super(
      `Cannot connect to the database at ${URL.parse(url)?.host || "the address in DATABASE_URL"}: ${reason}. Check that Postgres runs there, and host, user, password and database name in DATABASE_URL.`,
    );
  }
}

/** Why a connection to Postgres was not made; null for any other error. */
export function connectFailure(error: unknown): string | null {
  let cause = error;
  for (let depth = 0; depth < CAUSES_MAX && cause instanceof Error; depth++) {
    const code: unknown = Reflect.get(cause, "code");
    if (typeof code === "string" && NETWORK.test(code)) return code;
    if (typeof code === "string" && POSTGRES.test(code)) return cause.message;
    cause = cause.cause;
  }
  return null;
}
