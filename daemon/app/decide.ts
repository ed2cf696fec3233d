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
  /** The app's port; null while it does not respond. */
  port(): number | null;
  /** The build's output, for svc to download; null if there is none. */
  output(): Pick<Output, "port" | "path"> | null;
  /** Called for each request to the app. */
  onUse(): void;
}

const LOOPBACK = "127.0.0.1";

/** Forwards requests to the app's port, and refuses all others except svc's own. */
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
    const isPlatform = caller.context.role === "platform" && head.method === "GET";
    if (target.kind === "svc" && target.path === "/svc/output" && isPlatform && output)
      return { to: { hostname: LOOPBACK, port: output.port }, head: forwardHead(head, output.path, null) };
    if (target.kind !== "port" || target.port !== gate.app.run?.port)
      return { answer: errorResponse(head, "forbidden", "Only the app's port is open in this sandbox.") };
    const port = gate.port();
    if (port === null) {
      const message = "The app has ended and is restarting.";
      return { answer: errorResponse(head, "unavailable", message, { soon: true }) };
    }
    gate.onUse();
    return { to: { hostname: LOOPBACK, port }, head: forwardHead(head, targetOf(target, isOurToken), null) };
  };
}
