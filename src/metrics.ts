import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** The metrics, and the response of `GET /metrics`. */
export interface Metrics {
  contentType: string;
  /** The page in Prometheus text, cached: to collect it for each request would block the server. */
  page(): Promise<Uint8Array>;
  requestSeconds: Histogram<"method" | "route" | "status">;
  gitSeconds: Histogram<"operation" | "outcome">;
  gitListings: Counter;
  merges: Counter<"outcome">;
}

/** Shorter than the interval of Prometheus, which is at least 15 seconds. */
const PAGE_MAX_AGE_MS = 2_000;

/** The default, 10 ms, would take most of an idle server's processor time. */
const LOOP_SAMPLE_MS = 500;

export function createMetrics(): Metrics {
  const registry = new Registry();
  // from the first request for the page on: it measures the whole heap when it begins, and the event loop ever after
  let isCollecting = false;
  const collect = () => {
    if (isCollecting) return;
    isCollecting = true;
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: LOOP_SAMPLE_MS });
  };
  return {
    contentType: registry.contentType,
    page: cached(async () => {
      collect();
      return Buffer.from(await registry.metrics());
    }, PAGE_MAX_AGE_MS),
    requestSeconds: new Histogram({
      name: "svc_http_request_seconds",
      help: "Time to answer a request, in seconds.",
      labelNames: ["method", "route", "status"],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers: [registry],
    }),
    gitSeconds: new Histogram({
      name: "svc_git_seconds",
      help: "Time of git operations, including the wait for a slot, in seconds.",
      labelNames: ["operation", "outcome"],
      buckets: [0.002, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
      registers: [registry],
    }),
    gitListings: new Counter({
      name: "svc_git_listings_total",
      help: "Listings of a repository's branches; concurrent requests share one.",
      registers: [registry],
    }),
    merges: new Counter({
      name: "svc_merges_total",
      help: "Requested merges, by outcome: merged, or the error's code.",
      labelNames: ["outcome"],
      registers: [registry],
    }),
  };
}

/** Caches the result of `make` for `maxAgeMs`; a failure is not cached. */
function cached<T>(make: () => Promise<T>, maxAgeMs: number): () => Promise<T> {
  let copy: { made: Promise<T>; until: number } | null = null;
  return () => {
    const now = performance.now();
    if (copy && now < copy.until) return copy.made;
    const fresh = { made: make(), until: now + maxAgeMs };
    fresh.made.catch(() => {
      if (copy === fresh) copy = null;
    });
    copy = fresh;
    return fresh.made;
  };
}
