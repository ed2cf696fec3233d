import type { Session } from "../../../src/contract/session.ts";
import { Badge } from "../../parts/badge.tsx";
import { STEPS } from "./words.ts";

const REASONS = {
  user: "Stopped",
  idle: "Stopped: idle",
  server: "Stopped with the server",
  waiting: "Stopped: waits for you",
} as const;

/** The status of a session, and whether its agent waits for a person. */
export function StatusBadge({ session }: { session: Session }) {
  const { status, step, stop_reason, activity, blocked_on: blocked } = session;
  const at = step === null ? "" : `: ${STEPS[step][0].toLowerCase()}`;
  switch (status) {
    case "running":
      if (blocked) return <Badge look="warn">Engine away</Badge>;
      return activity === "waiting" ? (
        <Badge look="warn">Waits for you</Badge>
      ) : (
        <Badge look="ok">Running</Badge>
      );
    case "failed":
      return <Badge look="danger">{`Failed${at}`}</Badge>;
    case "stopped":
      return (
        <Badge look={activity === "waiting" ? "warn" : "neutral"}>{REASONS[stop_reason ?? "user"]}</Badge>
      );
    case "completed":
      return <Badge look="done">Completed</Badge>;
    case "queued":
    case "branching":
    case "provisioning":
      return <Badge look="info">{`Starting${at}`}</Badge>;
  }
}
