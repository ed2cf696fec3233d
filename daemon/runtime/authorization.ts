/** The user name that the runtime expects with its password. */
export const RUNTIME_USER_NAME = "opencode";

/** The `Authorization` header for the runtime. Processes outside the sandbox do not have the password. */
export function authorizationOf(password: string): string {
  return `Basic ${Buffer.from(`${RUNTIME_USER_NAME}:${password}`).toString("base64")}`;
}
