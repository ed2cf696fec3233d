import { and, eq } from "drizzle-orm";
import { Elysia } from "elysia";
import { accountMembers } from "../../db/schema/index.ts";
import { ConfigError } from "../config.ts";
import { SvcError } from "../contract/errors.ts";
import type { Deps } from "../deps.ts";
import type { Caller } from "../identity/auth/caller.ts";
import { guard } from "../identity/auth/guard.ts";

/** `GET /metrics` of the API, for owners; with `SVC_METRICS_LISTEN` it is served at that address only. */
export const metricsRoutes = (deps: Deps) =>
  new Elysia().use(guard(deps)).get(
    "/metrics",
    async ({ caller }) => {
      await requireReader(deps, caller);
      return metricsPage(deps);
    },
    { user: true, detail: { hide: true } },
  );

/**
 * Serves `GET /metrics` at `SVC_METRICS_LISTEN`, if set, without authentication.
 * @returns stops it
 * @throws ConfigError when it cannot listen there
 */
export function listenForMetrics(deps: Deps): () => Promise<void> {
  const { metricsListen } = deps.config;
  if (metricsListen === null) return async () => {};
  try {
    const server = serveMetrics(deps, metricsListen);
    return () => server.stop(true);
  } catch {
    const { hostname, port } = metricsListen;
    throw new ConfigError(
      `SVC_METRICS_LISTEN: cannot listen on ${hostname} port ${port}: it is in use, or not an address of this machine.`,
    );
  }
}

function serveMetrics(deps: Deps, place: { hostname: string; port: number }): Bun.Server<undefined> {
  return Bun.serve({
    ...place,
    // a scrape sends no body
    maxRequestBodySize: 1,
    development: false,
    async fetch(request) {
      const isPage = new URL(request.url).pathname === "/metrics";
      if (isPage && (request.method === "GET" || request.method === "HEAD")) return metricsPage(deps);
      return new Response("Only GET /metrics is served here.\n", { status: isPage ? 405 : 404 });
    },
    error(error) {
      deps.log.error({ err: error }, "cannot collect the metrics");
      return new Response("Cannot collect the metrics.\n", { status: 500 });
    },
  });
}

async function metricsPage({ metrics }: Deps): Promise<Response> {
  const page = await metrics.page();
  return new Response(new Uint8Array(page), {
    headers: { "Content-Type": metrics.contentType, "X-Content-Type-Options": "nosniff" },
  });
}

/** @throws not_found, forbidden */
async function requireReader({ config, db }: Deps, { userId }: Caller): Promise<void> {
  if (config.metricsListen !== null)
    throw new SvcError("not_found", "The metrics are served at SVC_METRICS_LISTEN only.");
  // with open sign-up every user owns an account
  if (config.signUp === "open") {
    const sentence = "Sign-up is open on this server. Set SVC_METRICS_LISTEN to read the metrics.";
    throw new SvcError("forbidden", sentence);
  }
  const isOwner = and(eq(accountMembers.userId, userId), eq(accountMembers.role, "owner"));
  if ((await db.$count(accountMembers, isOwner)) === 0)
    throw new SvcError("forbidden", "Only an owner of an account can read the metrics.");
}
