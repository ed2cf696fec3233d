import { ERROR_STATUS, type ErrorBody, type ErrorCode } from "../src/contract/errors.ts";
import { acceptsPage, PAGE_HEADERS, writePage } from "../src/contract/page.ts";
import type { Answer } from "../src/splice/answer.ts";
import { fieldOf } from "../src/splice/fields.ts";
import type { RequestHead } from "../src/splice/head.ts";

/** A JSON response of the daemon, which is never cached. */
export function jsonResponse(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return {
    status,
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      ...headers,
    },
    body: JSON.stringify(body),
  };
}

/** An error as JSON (contract: URLs, errors, auth). */
export function jsonError(code: ErrorCode, error: string, headers: Record<string, string> = {}): Answer {
  return jsonResponse(ERROR_STATUS[code], { error, code } satisfies ErrorBody, headers);
}

/** The interval at which a browser reloads the page of a temporary error. */
const RELOAD_S = 2;

interface ErrorOptions {
  headers?: Record<string, string>;
  /** Whether the error is temporary: the client should retry. */
  soon?: boolean;
  /** What the page has instead of the error. */
  page?(): { title: string; sentences: string[] };
}

/** An error as a page for browsers, or as JSON. */
export function errorResponse(
  head: RequestHead,
  code: ErrorCode,
  error: string,
  { headers = {}, soon = false, page }: ErrorOptions = {},
): Answer {
  const answer = jsonError(code, error, { ...headers, ...(soon && { "Retry-After": "1" }) });
  if (!acceptsPage(fieldOf(head.fields, "accept") ?? null)) return answer;
  const { title, sentences } = page?.() ?? { title: `${answer.status} – svc`, sentences: [error] };
  const body = writePage(title, sentences, soon ? RELOAD_S : undefined);
  return { ...answer, headers: { ...answer.headers, ...PAGE_HEADERS }, body };
}
