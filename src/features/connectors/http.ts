import { type Static, Type } from "@sinclair/typebox";
import { SvcError } from "../../contract/errors.ts";
import { OutboundError } from "../../lib/outbound.ts";
import type { Connection } from "./connection.ts";
import { failed, notReached, statusFailure } from "./failure.ts";

export const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

const PATH_MAX = 1_000;
const QUERY_MAX = 50;

/** The arguments of a request to an API. */
export const httpArguments = Type.Object(
  {
    // literals, since an enum of strings is not checked
    method: Type.Union(METHODS.map((method) => Type.Literal(method))),
    path: Type.String({
      pattern: "^/",
      maxLength: PATH_MAX,
      description: "The path below the API's address, such as /repos/a b: svc escapes it",
    }),
    query: Type.Optional(
      Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
        maxProperties: QUERY_MAX,
        description: "The parameters of the query",
      }),
    ),
    body: Type.Optional(Type.Unknown({ description: "Sent as JSON" })),
  },
  { additionalProperties: false },
);
export type HttpArguments = Static<typeof httpArguments>;

/** A request, in the form that policies match: `GET /repos/a`. The path is as the agent wrote it, in one spelling. */
export function subjectOf({ method, path }: HttpArguments): string {
  return `${method} ${path}`;
}

/** @throws validation_failed for a path that servers may read as another one */
export function requirePlainPath(path: string): void {
  const parts = path.slice(1).split("/");
  const isPlain = parts.every(
    (part, index) =>
      part !== "." &&
      part !== ".." &&
      (part !== "" || index === parts.length - 1) &&
      !/[\\\p{Cc}]/u.test(part),
  );
  if (path.startsWith("/") && path.isWellFormed() && isPlain) return;
  const message = "must begin with /, and have no empty part, no . or .. and no backslash";
  throw new SvcError("validation_failed", `path ${message}.`, { details: [{ path: "path", message }] });
}

export interface HttpRequest {
  method: string;
  /** Below the base, escaped. */
  path: string;
  query: URLSearchParams;
  headers?: Readonly<Record<string, string>>;
  body: string | null;
}

/** The response of an API, as a result for the agent. */
export interface HttpResult {
  isError: boolean;
  text: string;
}

/**
 * Sends a request to an API. A response with an error's status is a result, too.
 * @param base its address, which the path is appended to
 * @throws connector_failed, url_not_allowed
 */
export async function sendHttp(connection: Connection, base: URL, request: HttpRequest): Promise<HttpResult> {
  const { slug } = connection.row;
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/$/, "")}${request.path}`;
  url.search = request.query.toString();
  try {
    const headers = {
      accept: "application/json, text/*;q=0.9, */*;q=0.5",
      ...(request.body !== null && { "content-type": "application/json" }),
      ...request.headers,
    };
    const { method, body } = request;
    const response = await connection.send(url, { method, headers, body }, base.origin);
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw statusFailure(slug, response.status);
    }
    const text = await response.text();
    const type = (response.headers.get("content-type") ?? "").split(";")[0]?.trim() ?? "";
    if (!isText(type) && text !== "")
      throw failed(slug, `it answered ${response.status} with a file, not a text`);
    return { isError: response.status >= 400, text: `HTTP ${response.status}\n${text}` };
  } catch (error) {
    if (error instanceof OutboundError) throw notReached(slug, error);
    throw error;
  }
}

/** Escapes a path that is plain. */
export function escapePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function isText(type: string): boolean {
  return (
    type === "" || /^text\/|[/+](?:json|xml|yaml|x-www-form-urlencoded|javascript|x-ndjson)$/i.test(type)
  );
}
