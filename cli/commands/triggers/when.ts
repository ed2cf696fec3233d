import type { Trigger } from "../../../src/contract/trigger.ts";

/** A short description of when a trigger fires. */
export function when({ type, cron, timezone }: Trigger): string {
  return type === "webhook" ? "by webhook" : `${cron ?? ""} (${timezone})`;
}
