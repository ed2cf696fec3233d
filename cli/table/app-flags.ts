/** Flags of the commands for apps and for previews. */
export const WAIT = { kind: "boolean", summary: "Wait until it is live or has failed" } as const;
export const TAIL = {
  kind: "integer",
  value: "n",
  short: "n",
  min: 1,
  max: 10_000,
  summary: "Only the last lines",
} as const;
