/** Whether the client is a browser that shows a page; programs accept JSON or anything. */
export function acceptsPage(accept: string | null): boolean {
  return accept !== null && /\btext\/html\b/.test(accept) && !/\bapplication\/json\b/.test(accept);
}

/** Pages of svc run no code and load nothing. */
export const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "default-src 'none'",
};

/** A page with a title and sentences, which are escaped; a browser reloads it after `refreshS` seconds. */
export function writePage(title: string, sentences: readonly string[], refreshS?: number): string {
  const refresh = refreshS === undefined ? "" : `<meta http-equiv="refresh" content="${refreshS}">`;
  const body = sentences.map((sentence) => `<p>${escapeHtml(sentence)}</p>`).join("");
  const name = escapeHtml(title);
  return `<!doctype html><html lang="en"><meta charset="utf-8">${refresh}<title>${name}</title><h1>${name}</h1>${body}</html>`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
