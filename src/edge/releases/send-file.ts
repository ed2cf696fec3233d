import type { ReleaseFile } from "./folder.ts";

type RequestHeaders = Readonly<Record<string, string | undefined>>;

/** The files of a version never change. */
const CACHE = "public, max-age=31536000, immutable";

/** Sends a file, or the one range of it that is requested (RFC 9110, 14), so that a download can continue. */
export function sendFile(
  { path, bytes, etag }: ReleaseFile,
  method: string,
  request: RequestHeaders,
): Response {
  const headers = {
    "Accept-Ranges": "bytes",
    "Cache-Control": CACHE,
    "Content-Type": typeOf(path),
    "X-Content-Type-Options": "nosniff",
    ETag: etag,
  };
  if (request["if-none-match"] === etag) return new Response(null, { status: 304, headers });
  const isSame = request["if-range"] === undefined || request["if-range"] === etag;
  const range = method === "GET" && isSame ? rangeOf(request["range"], bytes) : null;
  if (range === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { ...headers, "Content-Range": `bytes */${bytes}` } });
  }
  if (range === null) return new Response(Bun.file(path), { headers });
  const { start, end } = range;
  return new Response(Bun.file(path).slice(start, end + 1), {
    status: 206,
    headers: { ...headers, "Content-Range": `bytes ${start}-${end}/${bytes}` },
  });
}

/** The first and last byte; null for no range, several, or another unit, which are answered with the whole file. */
function rangeOf(header: string | undefined, bytes: number) {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (first === "" && last === "") return null;
  const start = first === "" ? Math.max(bytes - Number(last), 0) : Number(first);
  const end = first === "" || last === "" ? bytes - 1 : Math.min(Number(last), bytes - 1);
  if (last !== "" && first !== "" && Number(last) < Number(first)) return null;
  return start > end ? "unsatisfiable" : { start, end };
}

function typeOf(path: string): string {
  if (path.endsWith(".tar.xz")) return "application/x-xz";
  return path.endsWith(".json") ? "application/json" : "text/plain; charset=utf-8";
}
