import type { DaemonApp, DaemonHealth } from "../../src/contract/daemon.ts";
import type { Decide } from "../../src/splice/connection.ts";
import type { Identify } from "../caller.ts";
import { forwardHead, isOurToken } from "../forward.ts";
import { errorResponse, jsonResponse } from "../responses.ts";
import { readTarget, targetOf } from "../target.ts";
import type { Output } from "./output.ts";

export interface AppGate {
  identify: Identify;
  health(): Promise<DaemonHealth>;
  app: DaemonApp;
  /** Where the app listens; null while it does not answer. */
  port(): number | null;
  /** What was built, for svc to take out; null while there is nothing. */
  output(): Pick<Output, "port" | "path"> | null;
  /** Told of each request for the app. */
  onUse(): void;
}

const LOOPBACK = "127.0.0.1";

/** Says what becomes of each request to a deployment: the app's own port, and nothing else. */
export function createAppDecide(gate: AppGate): Decide {
  return async (head) => {
    const target = readTarget(head.target);
    if (target.kind === "invalid")
      return { answer: errorResponse(head, "validation_failed", target.message) };
    if (target.kind === "svc" && target.path === "/svc/health")
      return { answer: jsonResponse(200, await gate.health()) };
    const caller = gate.identify(head);
    if ("answer" in caller) return caller;
    const output = gate.output();
    const isPlatforms = caller.context.role === "platform" && head.method === "GET";
    if (target.kind === "svc" && target.path === "/svc/output" && isPlatforms && output)
      return { to: { hostname: LOOPBACK, port: output.port }, head: forwardHead(head, output.path, null) };
    if (target.kind !== "port" || target.port !== gate.app.run?.port)
      return { answer: errorResponse(head, "forbidden", "Only the app itself is reached in this sandbox.") };
    const port = gate.port();
    if (port === null) {
      const message = "The app has just ended; it is started again.";
      return { answer: errorResponse(head, "unavailable", message, { soon: true }) };
    }
    gate.onUse();
    return { to: { hostname: LOOPBACK, port }, head: forwardHead(head, targetOf(target, isOurToken), null) };
  };
}
