/** Where to go after signing in: a page of the dashboard, whatever the address says. */
export function nextPage(search: string, origin = window.location.origin): string {
  const next = new URLSearchParams(search).get("next") ?? "/";
  const isOurs = URL.canParse(next, origin) && new URL(next, origin).origin === origin;
  return isOurs && /^\/(?![/\\])/.test(next) ? next : "/";
}
