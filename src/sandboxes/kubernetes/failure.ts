import { parseJson } from "../../contract/json.ts";
import { SandboxError } from "../provider.ts";

/** The longest message of the API server in an error. */
const MESSAGE_MAX = 300;

/** The HTTP status of an error response of the API server; null for other errors. */
export function statusOf(error: unknown): number | null {
  const code = error instanceof Error ? Reflect.get(error, "code") : null;
  return typeof code === "number" ? code : null;
}

/**
 * Converts an error of the client to one for the session's user: with the API server's message, but without the client's,
 * which has addresses and headers.
 * @param doing as in "The sandbox could not be <doing>"
 */
export function asSandboxError(error: unknown, doing: string): unknown {
  if (error instanceof SandboxError || (error instanceof Error && error.name === "AbortError")) return error;
  const status = statusOf(error);
  const could = `The sandbox could not be ${doing}`;
  if (status === null) {
    return error instanceof Error && "code" in error
      ? new SandboxError(`${could}: the Kubernetes API server cannot be reached.`, { away: true })
      : error instanceof DOMException
        ? new SandboxError(`${could}: the Kubernetes API server did not respond in time.`, { away: true })
        : error;
  }
  const message = messageOf(error);
  if (status === 401) {
    return new SandboxError(`${could}: the Kubernetes API server rejected the credentials of svc.`, {
      permanent: true,
    });
  }
  const permanent = status >= 400 && status < 500 && ![404, 408, 409, 429].includes(status);
  return new SandboxError(`${could}: the Kubernetes API server returned ${status}${message}.`, { permanent });
}

/** The `message` of an error response (Kubernetes API conventions, "Response Status Kind"). */
function messageOf(error: unknown): string {
  const body: unknown = error instanceof Error ? Reflect.get(error, "body") : null;
  const status = typeof body === "string" ? parseJson(body) : body;
  const message = typeof status === "object" && status !== null ? Reflect.get(status, "message") : null;
  return typeof message === "string" && message !== "" ? `, ${message.slice(0, MESSAGE_MAX)}` : "";
}
