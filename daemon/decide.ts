import { HTTP_ERRORS } from "../src/contract/errors.ts";
import { SETUP_VERBS, setupPath } from "../src/contract/setup.ts";
import type { UserContext } from "../src/contract/user-context.ts";
import type { Answer } from "../src/splice/answer.ts";
import type { Decide, Decision, Explain } from "../src/splice/connection.ts";
import type { RequestHead } from "../src/splice/head.ts";
import type { Address } from "../src/splice/upstream.ts";
import type { Identify } from "./caller.ts";
import type { Control } from "./control.ts";
import { forwardHead, isOurToken } from "./forward.ts";
import { errorResponse, jsonError } from "./responses.ts";
import type { Runtime } from "./runtime/runtime.ts";
import { isAbort, isPrivate, isPrompt, readTarget, type Target, targetOf } from "./target.ts";
import { Waiting } from "./waiting.ts";

export interface Gate {
  identify: Identify;
  control: Control;
  /** Where the WebSocket of a user's command goes; null: the user has no such command. */
  execOf(execId: string, userId: string): { to: Address; authorization: string } | null;
  /** Where svc gives and takes what a setup command adds; null: it does not now. */
  setup(): { address: Address; authorization: string } | null;
  runtime: Pick<Runtime, "state" | "authorization">;
  runtimePort: number;
  /** The daemon's port, once it listens. */
  ownPort(): number;
  /** Called before a client's prompt; null: it can be forwarded at once. */
  beforePrompt(): Promise<void> | null;
  /** Called for each request of a client. */
  onUse(use: { isPrompt: boolean; isAbort: boolean }): void;
}

const LOOPBACK = "127.0.0.1";
const CLOSED = "Clients of a session cannot use this route of the agent runtime.";

/** Decides whether each request is answered, refused or forwarded (spec 4.3; contract: Sessions, sandboxes, proxy). */
export function createDecide(gate: Gate): Decide {
  return (head) => {
    const target = readTarget(head.target);
    if (target.kind === "invalid")
      return { answer: errorResponse(head, "validation_failed", target.message) };
    if (target.kind === "svc" && target.path === "/svc/health") return gate.control.health(head);
    const caller = gate.identify(head);
    if ("answer" in caller) return caller;
    if (target.kind === "svc")
      return (
        toExec(gate, head, target.path, caller.context) ??
        toSetup(gate, head, target.path, caller.context) ??
        gate.control.verb(head, target.path, caller.context)
      );
    const isClients = caller.context.role !== "platform";
    const prompts = target.kind === "runtime" && isPrompt(head.method, target.path);
    const before = isClients && prompts && gate.runtime.state === "ok" ? gate.beforePrompt() : null;
    if (isClients)
      gate.onUse({
        isPrompt: prompts,
        isAbort: target.kind === "runtime" && isAbort(head.method, target.path),
      });
    if (before && target.kind === "runtime")
      return before.then(() => toRuntime(gate, head, target, caller.context));
    return target.kind === "port"
      ? toPort(gate, head, target)
      : toRuntime(gate, head, target, caller.context);
  };
}

/** The WebSocket of a command, for the person who started it; null: another route. */
function toExec(
  gate: Gate,
  head: RequestHead,
  path: string,
  { role, user_id }: UserContext,
): Decision | null {
  const [, id = ""] = /^\/svc\/exec\/([^/]+)$/.exec(path) ?? [];
  if (id === "") return null;
  const place = role === "user" ? gate.execOf(id, user_id) : null;
  if (!place)
    return { answer: jsonError("not_found", "You have no such command in this sandbox: it has ended.") };
  return { to: place.to, head: forwardHead(head, head.target, place.authorization) };
}

/** What svc does for a setup; null: another route, or not now. */
function toSetup(gate: Gate, head: RequestHead, path: string, { role }: UserContext): Decision | null {
  const place = gate.setup();
  if (role !== "platform" || place === null || !SETUP_VERBS.some((verb) => path === setupPath(verb)))
    return null;
  return { to: place.address, head: forwardHead(head, head.target, place.authorization) };
}

function toPort(gate: Gate, head: RequestHead, target: Extract<Target, { kind: "port" }>): Decision {
  const { port } = target;
  if (port === gate.ownPort() || port === gate.runtimePort)
    return { answer: errorResponse(head, "forbidden", `Port ${port} of this sandbox is reserved for svc.`) };
  return { to: { hostname: LOOPBACK, port }, head: forwardHead(head, targetOf(target, isOurToken), null) };
}

function toRuntime(
  { runtime, runtimePort }: Gate,
  head: RequestHead,
  target: Extract<Target, { kind: "runtime" }>,
  { role }: UserContext,
): Decision {
  if (role !== "platform" && isPrivate(target.path))
    return { answer: errorResponse(head, "forbidden", CLOSED) };
  // a connection that is made too early never gets a response
  if (runtime.state !== "ok") {
    const message = `The agent runtime is not ready: its state is ${runtime.state}.`;
    return { answer: errorResponse(head, "unavailable", message, { soon: true }) };
  }
  const forwarded = targetOf(target, () => true);
  return {
    to: { hostname: LOOPBACK, port: runtimePort },
    head: forwardHead(head, forwarded, runtime.authorization),
  };
}

/** The responses for HTTP errors, and for failed connections to the runtime or a port. */
export function createExplain(): Explain {
  const waiting = new Waiting();
  return (status, message, head) => {
    const code = HTTP_ERRORS[status];
    if (code) return jsonError(code, message);
    if (status !== 502 || !head) return jsonError("internal", "Something went wrong inside svc.");
    const target = readTarget(head.target);
    if (target.kind === "port") return nothingListens(head, target.port, waiting);
    return errorResponse(head, "unavailable", "The agent runtime has ended and is restarting.", {
      soon: true,
    });
  };
}

/** A browser gets a page that reloads until a program listens. */
function nothingListens(head: RequestHead, port: number, waiting: Waiting): Answer {
  const sentence = `No program responds on port ${port}.`;
  const page = () => ({
    title: `Waiting for port ${port}`,
    sentences: [
      `${sentence} This page reloads until one does.`,
      ...(waiting.isLong(port)
        ? [
            `Check that the server has started, that it has not chosen another port, and that it listens on 127.0.0.1. The page of the session and svc sessions ports list the ports on which programs listen.`,
          ]
        : []),
    ],
  });
  return errorResponse(head, "nothing_listening", sentence, { soon: true, page });
}
