import { sample } from "./random.ts";

/** Without their code, which would bring a browser into a process with a Docker engine. */
export const BENCH_NAMES = [
  ...[
    "merge",
    "preview",
    "diff",
    "listing",
    "readers",
    "search",
    "git-gateway",
    "proxy",
    "sessions",
    "docker",
  ],
  ...["chat", "cli", "page", "scrolling", "long-list", "stored", "talking", "webhooks", "models", "idle"],
];

/** Those that each run draws. */
export const DRAWN_BENCHES = sample(2, BENCH_NAMES);
