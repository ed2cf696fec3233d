/** The headers of a file that a browser saves and does not execute, whatever is in it. */
export function downloadHeaders(path: string): Record<string, string> {
  return {
    "Content-Type": "application/octet-stream",
    "Content-Disposition": `attachment; filename*=UTF-8''${encode(path.slice(path.lastIndexOf("/") + 1))}`,
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
    "X-Content-Type-Options": "nosniff",
  };
}

/** RFC 8187: percent-encoded beyond what encodeURIComponent does. */
function encode(name: string): string {
  return encodeURIComponent(name).replace(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
}
