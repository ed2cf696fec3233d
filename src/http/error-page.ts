import type { SvcError } from "../contract/errors.ts";

/** Whether a request comes from a browser that shows a page: programs ask for JSON or for anything. */
export function wantsPage(accept: string | null): boolean {
  return accept !== null && /\btext\/html\b/.test(accept) && !/\bapplication\/json\b/.test(accept);
}

/** The answer to a person in a browser: the sentence, and nothing that could run. */
export function errorPage(error: SvcError, headers: Record<string, string>): Response {
  const title = `${error.status} – svc`;
  const html = `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><h1>${title}</h1><p>${escapeHtml(error.message)}</p></html>`;
  return new Response(html, {
    status: error.status,
    headers: {
      ...headers,
      ...error.headers,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": "default-src 'none'",
    },
  });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
