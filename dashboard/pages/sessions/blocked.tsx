import type { Session } from "../../../src/contract/session.ts";
import { Notice } from "../../parts/notice.tsx";
import { Visible } from "../../parts/visible.tsx";

/** That the engine of a running session does not answer; nothing if it does. The progress of a start has its own line. */
export function Blocked({ session: { status, blocked_on: blocked } }: { session: Session }) {
  if (status !== "running" || !blocked) return null;
  return (
    <Notice kind="warning">
      The engine of the sandbox does not answer. <Visible>{blocked.message}</Visible>
    </Notice>
  );
}
