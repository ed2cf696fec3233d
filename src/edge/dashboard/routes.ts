import { Elysia } from "elysia";
import { type DashboardFile, type Encoding, openDashboardFiles } from "./files.ts";

/** The addresses of the dashboard's pages: each is the same document, which finds out what to show. */
const PAGES = [
  "/",
  "/login",
  "/sign-up",
  "/welcome",
  "/cli/authorize",
  "/new",
  "/projects",
  "/projects/*",
  "/accounts/*",
  "/settings",
  "/settings/*",
];

/**
 * Nothing runs and nothing is fetched but what this server sends, and no text becomes markup: a page that were tricked
 * into holding somebody's script or form still does not run or send it.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const PAGE_HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};

/** A file's name has the hash of its bytes in it: it never changes. */
const FOREVER = "public, max-age=31536000, immutable";
const HASHED = /-[0-9a-z]{8}\.(?:js|css)$/;

/** The dashboard (spec 1): its pages, and what they load. It has no data of its own: the pages ask the API. */
export function dashboardRoutes() {
  const files = openDashboardFiles();
  const app = new Elysia({ tags: ["dashboard"], detail: { hide: true } });
  const page = ({ headers }: { headers: Asked }) => {
    const file = files.find("index.html");
    return file ? send(file, headers, PAGE_HEADERS) : notBuilt();
  };
  for (const path of PAGES) app.get(path, page);
  return app.get("/assets/:name", ({ params, headers }) => {
    const file = files.find(params.name);
    if (!file || file.name === "index.html") return gone();
    return send(file, headers, { "Cache-Control": HASHED.test(file.name) ? FOREVER : "no-cache" });
  });

  function send(file: DashboardFile, asked: Asked, extra: Record<string, string>): Response {
    const headers = {
      ...extra,
      ETag: file.etag,
      Vary: "Accept-Encoding",
      "X-Content-Type-Options": "nosniff",
    };
    if (asked["if-none-match"] === file.etag) return new Response(null, { status: 304, headers });
    const encoding = acceptedOf(asked["accept-encoding"] ?? "");
    return new Response(files.read(file, encoding), {
      headers: {
        ...headers,
        "Content-Type": file.type,
        ...(encoding && { "Content-Encoding": encoding }),
      },
    });
  }
}

type Asked = Record<string, string | undefined>;

/** The best that a client takes (RFC 9110, 12.5.3); one that is refused by `q=0` is not taken. */
function acceptedOf(header: string): Encoding {
  const taken = header
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((word) => word.trim()))
    .filter(([, quality]) => quality === undefined || Number(quality.slice(2)) > 0)
    .map(([name]) => name);
  return (["br", "gzip"] as const).find((encoding) => taken.includes(encoding)) ?? null;
}

/** A page of an older build asks for what is no more: its reader has to load it again. */
function gone(): Response {
  return new Response("File not found. Reload the page.\n", { status: 404 });
}

function notBuilt(): Response {
  return new Response("The dashboard is not built. Run: npm run build\n", { status: 503 });
}
