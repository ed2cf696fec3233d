import { SvcError } from "../contract/errors.ts";

/** A route by its pattern: `/v1/projects/:projectId`. */
interface Route {
  method: string;
  path: string;
}

/** All methods in use (RFC 9110, 9.3; RFC 5789). Bun's server closes the connection on other methods. */
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

export function isKnownMethod(method: string): boolean {
  return METHODS.has(method);
}

/** The methods of the routes at a path, sorted; none for an unknown path. */
export type MethodsOf = (path: string) => readonly string[];

export function methodTable(routes: readonly Route[]): MethodsOf {
  const table = routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(
      `^${path
        .replace(/\/$/, "")
        .replace(/:[^/]+/g, "[^/]+")
        .replace("*", ".*")}/?$`,
    ),
  }));
  return (path) =>
    [...new Set(table.filter((route) => route.pattern.test(path)).map((route) => route.method))].sort();
}

/** The error for a request without a route: 404 for an unknown path, 405 for a known one. */
export function unanswered(allowed: readonly string[]): SvcError {
  if (allowed.length === 0)
    return new SvcError("not_found", "Route not found. GET /v1/openapi.json lists all routes.");
  return methodNotAllowed(allowed);
}

export function methodNotAllowed(allowed: readonly string[]): SvcError {
  const allow = allowed.join(", ");
  return new SvcError("method_not_allowed", `This route supports ${allow} only.`, {}, { Allow: allow });
}
