import type { Trigger } from "../../../src/contract/trigger.ts";
import { Visible } from "../../parts/visible.tsx";

/** When a trigger fires. */
export function When({ trigger: { type, cron, timezone } }: { trigger: Trigger }) {
  if (type === "webhook") return <span>By webhook</span>;
  return (
    <span>
      <code className="font-mono">
        <Visible>{cron ?? ""}</Visible>
      </code>{" "}
      <Visible>{timezone}</Visible>
    </span>
  );
}
