import { Elysia } from "elysia";
import { CONSENT_PAGE } from "../../contract/connector-consent.ts";
import { SERVICE_WORKER, SERVICE_WORKER_POLICY } from "../../contract/notification-event.ts";
import { type DashboardFile, type Encoding, openDashboardFiles } from "./files.ts";

/** The paths of the dashboard's pages. All serve documents of the same program, which routes on the client. */
const PAGES = [
  CONSENT_PAGE,
  "/",
  "/login",
  "/sign-up",
  "/welcome",
  "/cli/authorize",
  "/new",
  "/projects",
  "/projects/*",
  "/accounts/*",
  "/server",
  "/settings",
  "/settings/*",
];

/**
 * Only files of this server run and load, and text never becomes markup: injected scripts do not run, and injected forms
 * are not sent. The one policy of trusted types names the service worker.
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
  `trusted-types ${SERVICE_WORKER_POLICY}`,
].join("; ");

const PAGE_HEADERS = {
  "Content-Security-Policy": POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "Cache-Control": "no-cache",
};

/** Files with a hash in their name never change. */
const FOREVER = "public, max-age=31536000, immutable";
const HASHED = /-[0-9a-z]{8}\.(?:js|css)$/;

/** The dashboard (spec 1): its pages and assets. The pages load their data from the API. */
export function dashboardRoutes() {
  const files = openDashboardFiles();
  const app = new Elysia({ tags: ["dashboard"], detail: { hide: true } });
  const page = ({ path, headers }: { path: string; headers: RequestHeaders }) => {
    const file = files.document(path);
    return file ? send(file, headers, PAGE_HEADERS) : notBuilt();
  };
  for (const path of PAGES) app.get(path, page);
  app.get(SERVICE_WORKER, ({ headers }) => {
    const file = files.find(SERVICE_WORKER.slice(1));
    return file ? send(file, headers, PAGE_HEADERS) : notBuilt();
  });
  return app.get("/assets/:name", ({ params, headers }) => {
    const file = files.find(params.name);
    if (!file || file.type.startsWith("text/html")) return notFound();
    return send(file, headers, { "Cache-Control": HASHED.test(file.name) ? FOREVER : "no-cache" });
  });

  function send(file: DashboardFile, request: RequestHeaders, extra: Record<string, string>): Response {
    const headers = {
      ...extra,
      ETag: file.etag,
      Vary: "Accept-Encoding",
      "X-Content-Type-Options": "nosniff",
    };
    if (request["if-none-match"] === file.etag) return new Response(null, { status: 304, headers });
    const encoding = acceptedOf(request["accept-encoding"] ?? "");
    return new Response(files.read(file, encoding), {
      headers: {
        ...headers,
        "Content-Type": file.type,
        ...(encoding && { "Content-Encoding": encoding }),
      },
    });
  }
}

type RequestHeaders = Record<string, string | undefined>;

/** The best encoding that a client accepts (RFC 9110, 12.5.3); `q=0` excludes one. */
function acceptedOf(header: string): Encoding {
  const accepted = header
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((word) => word.trim()))
    .filter(([, quality]) => quality === undefined || Number(quality.slice(2)) > 0)
    .map(([name]) => name);
  return (["br", "gzip"] as const).find((encoding) => accepted.includes(encoding)) ?? null;
}

/** A page of an older build requests assets that no longer exist. */
function notFound(): Response {
  return new Response("File not found. Reload the page.\n", { status: 404 });
}

function notBuilt(): Response {
  return new Response("The dashboard is not built. Run: npm run build\n", { status: 503 });
}
