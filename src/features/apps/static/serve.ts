import { type BigIntStats, constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "../../../contract/errors.ts";
import { acceptsPage, PAGE_HEADERS, writePage } from "../../../contract/page.ts";
import type { Deps } from "../../../deps.ts";
import { methodNotAllowed } from "../../../http/methods.ts";
import { openSites } from "./folder.ts";

/** The file at a path of a site. */
interface Found {
  path: string;
  stats: BigIntStats;
}

/** Sites are read-only. */
export const SITE_METHODS: readonly string[] = ["GET", "HEAD"];

/** A deployment changes a site at the same addresses, so browsers must revalidate. */
const HEADERS = { "X-Content-Type-Options": "nosniff", "Cache-Control": "no-cache" };

/**
 * Serves the files of sites: `index.html` for a folder, `404.html` for a missing file, with types, ETag and ranges.
 * @returns the answer to a request for a file of a deployment's site
 */
export function createSiteServer(deps: Deps): (request: Request, deploymentId: string) => Promise<Response> {
  const sites = openSites(deps);
  return async (request, deploymentId) => {
    if (!SITE_METHODS.includes(request.method)) return refuse(request, methodNotAllowed(SITE_METHODS));
    try {
      const folder = await realpath(await sites.folderOf(deploymentId));
      const url = new URL(request.url);
      const path = decodePath(url.pathname);
      const found = path === null ? null : await findFile(folder, path);
      if (found === "folder") return redirect(`${url.pathname}/${url.search}`);
      if (found) return await send(request, found, 200);
      const page = await findFile(folder, "/404.html");
      if (page && page !== "folder") return await send(request, page, 404);
      return refuse(request, new SvcError("not_found", "Page not found on this site."));
    } catch (error) {
      if (error instanceof SvcError) return refuse(request, error);
      deps.log.error({ err: error }, "cannot serve a site");
      return refuse(request, new SvcError("internal", "Something went wrong inside svc."));
    }
  };
}

/** Null for an invalid path, and for dotfiles: `.git`, `.env` and others must not be served. */
function decodePath(path: string): string | null {
  try {
    const text = decodeURIComponent(path);
    return text.includes("\0") || text.includes("/.") ? null : text;
  } catch {
    return null;
  }
}

/** @returns `folder` for a folder without the trailing slash, where relative links would not resolve */
async function findFile(folder: string, path: string): Promise<Found | "folder" | null> {
  const wanted = join(folder, path.endsWith("/") ? `${path}index.html` : path);
  if (!wanted.startsWith(`${folder}/`)) return null;
  // do not follow symbolic links
  const handle = await open(wanted, constants.O_RDONLY | constants.O_NOFOLLOW).catch(() => null);
  if (!handle) return null;
  try {
    const stats = await handle.stat({ bigint: true });
    if (stats.isDirectory()) return (await findFile(folder, `${path}/`)) ? "folder" : null;
    return stats.isFile() && (await realpath(wanted)) === wanted ? { path: wanted, stats } : null;
  } finally {
    await handle.close();
  }
}

async function send(request: Request, { path, stats }: Found, status: 200 | 404): Promise<Response> {
  const file = Bun.file(path);
  const size = Number(stats.size);
  const etag = `"${stats.mtimeNs.toString(36)}-${size.toString(36)}"`;
  const headers = { ...HEADERS, ETag: etag, "Content-Type": file.type, "Accept-Ranges": "bytes" };
  if (status === 200 && isSame(request.headers.get("if-none-match"), etag))
    return new Response(null, { status: 304, headers });
  const ifRange = request.headers.get("if-range");
  const allowsRange = status === 200 && (ifRange === null || ifRange === etag);
  const range = allowsRange ? readRange(request.headers.get("range"), size) : null;
  if (range === "none") {
    const outside = { ...headers, "Content-Range": `bytes */${size}` };
    return new Response(null, { status: 416, headers: outside });
  }
  if (range) {
    const [from, to] = range;
    const part = { ...headers, "Content-Range": `bytes ${from}-${to - 1}/${size}` };
    return new Response(file.slice(from, to, file.type), { status: 206, headers: part });
  }
  return new Response(file, { status, headers });
}

function isSame(header: string | null, etag: string): boolean {
  if (header === null) return false;
  return header.split(",").some((tag) => tag.trim() === "*" || tag.trim().replace(/^W\//, "") === etag);
}

/**
 * One range of bytes (RFC 9110, 14.1.2), from its first to before its end; null if there is none, or it is ignored, and
 * `none` if it is outside the file.
 */
function readRange(text: string | null, size: number): [number, number] | "none" | null {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(text ?? "") ?? [];
  if (first === "" && last === "") return null;
  if (first === "") {
    const length = Math.min(Number(last), size);
    return length === 0 ? "none" : [size - length, size];
  }
  const from = Number(first);
  const to = last === "" ? size : Math.min(Number(last) + 1, size);
  if (last !== "" && Number(last) < from) return null;
  return from >= size ? "none" : [from, to];
}

function redirect(location: string): Response {
  // a path that begins with two slashes would redirect to another host
  return new Response(null, {
    status: 308,
    headers: { ...HEADERS, Location: location.replace(/^\/+/, "/") },
  });
}

function refuse(request: Request, error: SvcError): Response {
  const { status, message, code } = error;
  const isPage = acceptsPage(request.headers.get("accept"));
  const body = isPage ? writePage(`${status} – svc`, [message]) : JSON.stringify({ error: message, code });
  const type = isPage ? PAGE_HEADERS : { "Content-Type": "application/json" };
  return new Response(body, { status, headers: { ...HEADERS, ...error.headers, ...type } });
}
