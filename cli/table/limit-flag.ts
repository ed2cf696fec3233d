import type { Flag } from "../spec.ts";

/** The most entries of a list that a command prints; it requests as many pages as that takes. */
export const LIMIT_FLAG = {
  kind: "integer",
  value: "n",
  min: 1,
  max: 10_000,
  short: "L",
  summary: "At most this many",
} as const satisfies Flag;
