/** The page to open after signing in. Accepts only addresses of this dashboard (no open redirects). */
export function nextPage(search: string, origin = window.location.origin): string {
  const next = new URLSearchParams(search).get("next") ?? "/";
  const isOurs = URL.canParse(next, origin) && new URL(next, origin).origin === origin;
  return isOurs && /^\/(?![/\\])/.test(next) ? next : "/";
}
