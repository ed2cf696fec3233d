import type { Trigger } from "../../../src/contract/trigger.ts";

/** What makes a trigger fire, in a few words. */
export function when({ type, cron, timezone }: Trigger): string {
  return type === "webhook" ? "by webhook" : `${cron ?? ""} (${timezone})`;
}
