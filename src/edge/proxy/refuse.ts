import { randomUUID } from "node:crypto";
import { HTTP_ERRORS, SvcError } from "../../contract/errors.ts";
import { acceptsPage, PAGE_HEADERS, writePage } from "../../contract/page.ts";
import type { Deps } from "../../deps.ts";
import { toBody, toSvcError } from "../../http/errors.ts";
import type { Answer } from "../../splice/answer.ts";
import { fieldOf } from "../../splice/fields.ts";
import type { RequestHead } from "../../splice/head.ts";

/** The methods that metrics have labels for: clients can send any other. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** A page for browsers, instead of the error's message. */
export interface Page {
  title: string;
  sentences: readonly string[];
  /** The page reloads after this many seconds. */
  refreshS?: number;
}

/** The response to a request that is not forwarded: the error as JSON, or as a page for browsers. */
export function refuse(deps: Deps, cause: unknown, head: RequestHead | null, page?: Page): Answer {
  const id = randomUUID();
  const error = toSvcError(cause, "UNKNOWN", id);
  const { status } = error;
  const method = METHODS.find((known) => known === head?.method) ?? "other";
  deps.metrics.requestSeconds.observe({ method, route: "proxy", status }, 0);
  const err = error.code === "internal" ? cause : undefined;
  deps.log[err ? "error" : "info"]({ request: id, method, route: "proxy", status, err }, "refused");
  const { title, sentences, refreshS } = page ?? { title: `${status} – svc`, sentences: [error.message] };
  const isPage = acceptsPage((head && fieldOf(head.fields, "accept")) ?? null);
  return {
    status,
    headers: {
      "X-Request-Id": id,
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      ...error.headers,
      ...(isPage ? PAGE_HEADERS : { "Content-Type": "application/json" }),
    },
    body: isPage ? writePage(title, sentences, refreshS) : JSON.stringify(toBody(error)),
  };
}

/** A protocol error as an error of the API. */
export function ofHttp(status: number, message: string): SvcError | Error {
  const code = HTTP_ERRORS[status];
  return code === undefined ? new Error(message) : new SvcError(code, message);
}
