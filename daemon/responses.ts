import { ERROR_STATUS, type ErrorBody, type ErrorCode } from "../src/contract/errors.ts";
import { PAGE_HEADERS, wantsPage, writePage } from "../src/contract/page.ts";
import type { Answer } from "../src/splice/answer.ts";
import { fieldOf } from "../src/splice/fields.ts";
import type { RequestHead } from "../src/splice/head.ts";

/** A JSON answer of the daemon's own. It is never kept by anyone. */
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

/** An error's answer (contract: URLs, errors, auth). */
export function jsonError(code: ErrorCode, error: string, headers: Record<string, string> = {}): Answer {
  return jsonResponse(ERROR_STATUS[code], { error, code } satisfies ErrorBody, headers);
}

/** A browser asks again for what may be there soon. */
const ASK_AGAIN_S = 2;

/** An error's answer to whoever may be a person before a browser. `soon`: it may be another in a moment. */
export function errorResponse(
  head: RequestHead,
  code: ErrorCode,
  error: string,
  { headers = {}, soon = false }: { headers?: Record<string, string>; soon?: boolean } = {},
): Answer {
  const answer = jsonError(code, error, { ...headers, ...(soon && { "Retry-After": "1" }) });
  if (!wantsPage(fieldOf(head.fields, "accept") ?? null)) return answer;
  const page = writePage(`${answer.status} – svc`, [error], soon ? ASK_AGAIN_S : undefined);
  return { ...answer, headers: { ...answer.headers, ...PAGE_HEADERS }, body: page };
}
