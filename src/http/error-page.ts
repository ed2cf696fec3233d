import type { SvcError } from "../contract/errors.ts";
import { PAGE_HEADERS, writePage } from "../contract/page.ts";

/** The error page for browsers. */
export function errorPage(error: SvcError, headers: Record<string, string>): Response {
  return new Response(writePage(`${error.status} – svc`, [error.message]), {
    status: error.status,
    headers: { ...headers, ...error.headers, ...PAGE_HEADERS },
  });
}
