import type { Flag } from "../spec.ts";

/** Which account a command is about. */
export const ACCOUNT_FLAG = {
  kind: "string",
  value: "id",
  summary: "The account, by its id or slug; by default the active one",
} as const satisfies Flag;
