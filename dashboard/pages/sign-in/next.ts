/** Where to go after signing in: a page of the dashboard, whatever the address says. */
export function nextPage(search: string): string {
  const next = new URLSearchParams(search).get("next") ?? "/";
  const isOurs =
    URL.canParse(next, window.location.origin) &&
    new URL(next, window.location.origin).origin === window.location.origin;
  return isOurs && /^\/(?![/\\])/.test(next) ? next : "/";
}
