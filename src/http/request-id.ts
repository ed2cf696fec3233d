import { randomUUID } from "node:crypto";

const ids = new WeakMap<Request, string>();

/** The id of a request: in its answer (`X-Request-Id`), the log and the audit log. */
export function requestIdOf(request: Request): string {
  const id = ids.get(request) ?? randomUUID();
  ids.set(request, id);
  return id;
}
