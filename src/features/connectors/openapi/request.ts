import { SvcError } from "../../../contract/errors.ts";
import type { RemoteRequest } from "../../../lib/connections.ts";
import type { HttpRequest } from "../http.ts";

/** Values of one list in a query. */
const LIST_MAX = 100;

/**
 * The request of an operation. Arguments that the operation does not have are refused; the service validates the values.
 * @throws validation_failed
 */
export function requestOf(operation: RemoteRequest, args: Record<string, unknown>): HttpRequest {
  const { method, parameters, required, hasBody } = operation;
  const names = [...parameters.map(({ argument }) => argument), ...(hasBody ? ["body"] : [])];
  const extra = Object.keys(args).find((name) => !names.includes(name));
  if (extra !== undefined) throw invalid(extra.slice(0, 64), "is not an argument of this tool");
  const missing = required.find((name) => args[name] === undefined);
  if (missing !== undefined) throw invalid(missing, "is required");
  let path = operation.path;
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  for (const { argument, name, in: place } of parameters) {
    const value = args[argument];
    if (value === undefined || value === null) continue;
    if (place === "path") path = path.replaceAll(`{${name}}`, () => pathPart(argument, value));
    else if (place === "header") headers[name.toLowerCase()] = headerValue(argument, value);
    else
      for (const each of Array.isArray(value) ? value.slice(0, LIST_MAX) : [value])
        query.append(name, plain(argument, each));
  }
  requireSafe(path);
  const body = hasBody && args["body"] !== undefined ? JSON.stringify(args["body"]) : null;
  return { method, path, query, headers, body };
}

function pathPart(argument: string, value: unknown): string {
  const text = plain(argument, value);
  if (text === "") throw invalid(argument, "must not be empty");
  // some servers unescape a path before they resolve it
  if (text.split(/[\\/]/).some((part) => part === "." || part === ".."))
    throw invalid(argument, "must have no part . or ..");
  return encodeURIComponent(text);
}

function headerValue(argument: string, value: unknown): string {
  const text = plain(argument, value);
  if (/^[\x20-\x7e]{0,1000}$/.test(text)) return text;
  throw invalid(argument, "must be one line of printable ASCII characters");
}

function plain(argument: string, value: unknown): string {
  if (typeof value === "string") return value.toWellFormed();
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw invalid(argument, "must be a string, a number or a boolean");
}

/** Values cannot lead to another path: URLs resolve these parts, also when they are escaped. */
function requireSafe(path: string): void {
  if (path.split("/").some((part) => part === "." || part === ".."))
    throw new SvcError("validation_failed", "An argument of the path must not be . or ...");
}

function invalid(path: string, message: string): SvcError {
  return new SvcError("validation_failed", `${path} ${message}.`, { details: [{ path, message }] });
}
