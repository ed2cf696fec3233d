import { Counter, collectDefaultMetrics, Histogram, Registry } from "prom-client";

/** What `GET /metrics` tells. */
export interface Metrics {
  registry: Registry;
  requestSeconds: Histogram<"method" | "route" | "status">;
  gitSeconds: Histogram<"operation" | "outcome">;
  gitListings: Counter;
  merges: Counter<"outcome">;
}

export function createMetrics(): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return {
    registry,
    requestSeconds: new Histogram({
      name: "svc_http_request_seconds",
      help: "Time to answer a request, in seconds.",
      labelNames: ["method", "route", "status"],
      buckets: [0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers: [registry],
    }),
    gitSeconds: new Histogram({
      name: "svc_git_seconds",
      help: "Time of what git was asked, waiting for a place included, in seconds.",
      labelNames: ["operation", "outcome"],
      buckets: [0.002, 0.005, 0.02, 0.1, 0.5, 2, 10, 60, 600],
      registers: [registry],
    }),
    gitListings: new Counter({
      name: "svc_git_listings_total",
      help: "Listings of a repository's branches; those who ask together share one.",
      registers: [registry],
    }),
    merges: new Counter({
      name: "svc_merges_total",
      help: "Merges asked for, by outcome: merged, or the error's code.",
      labelNames: ["outcome"],
      registers: [registry],
    }),
  };
}
