import type { BootStep, Session } from "../../../src/contract/session.ts";
import type { BadgeLook } from "../../parts/badge.tsx";

/** The steps of a start, in order: name and description. */
export const STEPS: Readonly<Record<BootStep, readonly [name: string, does: string]>> = {
  branch: ["Branch", "creating the session's branch"],
  image: ["Image", "preparing the sandbox image"],
  sandbox: ["Sandbox", "starting the sandbox"],
  clone: ["Clone", "cloning the repository"],
  runtime: ["Agent", "starting the agent"],
};

const REASONS = { user: "Stopped", idle: "Stopped: idle", server: "Stopped with the server" } as const;

/** The status of a session, for display. */
export function statusOf({ status, step, stop_reason }: Session): { words: string; look: BadgeLook } {
  switch (status) {
    case "running":
      return { words: "Running", look: "ok" };
    case "failed":
      return { words: step === null ? "Failed" : `Failed: ${STEPS[step][0].toLowerCase()}`, look: "danger" };
    case "stopped":
      return { words: stop_reason === null ? "Stopped" : REASONS[stop_reason], look: "neutral" };
    case "completed":
      return { words: "Completed", look: "done" };
    case "queued":
    case "branching":
    case "provisioning":
      return {
        words: step === null ? "Starting" : `Starting: ${STEPS[step][0].toLowerCase()}`,
        look: "info",
      };
  }
}

/** The title of a session: its name, or its abbreviated id. */
export const titleOf = ({ name, session_id }: Session): string => name ?? `Session ${shortId(session_id)}`;

export const shortId = (sessionId: string): string => sessionId.slice(0, 8);

/** Whether the session is starting or queued. */
export const isStarting = ({ status }: Session): boolean =>
  ["queued", "branching", "provisioning"].includes(status);

/** `1 file`, `2 files`. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`;
