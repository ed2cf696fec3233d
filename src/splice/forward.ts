import { createBody, limitBody, tooLarge } from "./body.ts";
import type { Connection, Exchange, Forward, Forwarding, State } from "./connection.ts";
import { abort, EMPTY, finishExchange, leave, refuse } from "./finish.ts";
import { extendDeadline, updateFlow } from "./flow.ts";
import type { ResponseHead } from "./head.ts";
import { type Address, Upstream } from "./upstream.ts";

/** Methods that may be repeated (RFC 9110, 9.2.1). */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/** Forwards a request to an upstream, whose response passes back as it comes. */
export function forward(connection: Connection, exchange: Exchange, request: Forward): void {
  const { framing, upgrade } = exchange.head;
  const { maxBytes, lease } = request;
  if (lease) {
    exchange.lease = lease;
    lease.begin(() => abort(connection));
  }
  if (maxBytes !== undefined && !exchange.body.ended) {
    if (framing.kind === "length" && framing.bytes > maxBytes) {
      refuse(connection, 413, tooLarge(maxBytes).message);
      return;
    }
    exchange.body = createBody(framing, limitBody(maxBytes));
  }
  const kind = !exchange.body.ended ? "sending" : upgrade === null ? "responding" : "upgrading";
  connection.state = { kind, exchange };
  send(connection, exchange, request);
}

function send(connection: Connection, exchange: Exchange, request: Forward): void {
  const { method } = exchange.head;
  const isReused = connection.upstream !== null && isSame(connection.upstream.address, request.to);
  if (!connection.upstream || !isReused) {
    connection.upstream?.close();
    connection.upstream = connect(connection, request.to);
  }
  // a connection that was kept may have ended a moment ago
  exchange.retry = isReused && connection.state.kind === "responding" && SAFE.has(method) ? request : null;
  connection.upstream.send(method, request.head, request.location);
}

function connect(connection: Connection, to: Address): Upstream {
  const made: Upstream = new Upstream(to, {
    onBytes(bytes) {
      const { state } = connection;
      if (made !== connection.upstream || state.kind === "over") return;
      if (state.exchange) state.exchange.begun = true;
      if (!connection.writer.write(bytes)) made.pause();
    },
    onHead: (response) => made === connection.upstream && onResponseHead(connection, made, response),
    onAnswered(keepAlive) {
      if (made !== connection.upstream) return;
      const { state } = connection;
      if (!keepAlive || (isForwarding(state) && state.exchange.lease)) {
        made.close();
        connection.upstream = null;
      }
      onResponseEnd(connection, keepAlive);
      connection.process();
    },
    onGone: (clean) => made === connection.upstream && onUpstreamGone(connection, clean),
    onDrained: () => updateFlow(connection),
  });
  return made;
}

function onResponseHead(connection: Connection, upstream: Upstream, response: ResponseHead): void {
  const { state, inbox } = connection;
  if (!isForwarding(state)) return;
  const { exchange } = state;
  exchange.endless = response.isEventStream || response.status === 101;
  if (connection.closing && exchange.endless) {
    leave(connection);
    return;
  }
  if (response.status !== 101) return;
  if (state.kind !== "upgrading") {
    refuse(connection, 502, "The upstream server changed protocols, which the request did not ask for.");
    return;
  }
  connection.state = { kind: "raw", exchange };
  upstream.goRaw();
  connection.inbox = EMPTY;
  if (inbox.length > 0) upstream.write(inbox);
  updateFlow(connection);
}

function onResponseEnd(connection: Connection, keepAlive: boolean): void {
  const { state } = connection;
  if (!isForwarding(state)) return;
  const { exchange } = state;
  exchange.endless = false;
  const isKept = keepAlive && exchange.head.keepAlive && !connection.closing;
  if (state.kind === "sending" && isKept) {
    // an early response: a small rest of the body is taken, so that the connection can be kept
    connection.state = { kind: "draining", exchange, bytes: 0 };
    connection.deadline = connection.limits.now() + connection.limits.lingerMs;
  } else finishExchange(connection, exchange, isKept);
}

function onUpstreamGone(connection: Connection, clean: boolean): void {
  connection.upstream = null;
  const { state } = connection;
  // the rest of a body has nowhere to go
  if (state.kind === "raw" || state.kind === "draining") leave(connection);
  if (!isForwarding(state)) return;
  const { exchange } = state;
  if (!exchange.begun && exchange.retry) send(connection, exchange, exchange.retry);
  else if (!exchange.begun) refuse(connection, 502, "The upstream server did not respond.");
  // the end of the connection is the end of the response, or the response is cut off, which the client must see
  else if (clean) leave(connection);
  else abort(connection);
}

function isForwarding(state: State): state is Forwarding {
  return state.kind === "sending" || state.kind === "responding" || state.kind === "upgrading";
}

/** @returns whether there may be more to process */
export function forwardBody(
  connection: Connection,
  state: Forwarding | (State & { kind: "draining" }),
): boolean {
  const { inbox, upstream, limits } = connection;
  const { exchange } = state;
  if (!upstream) return false;
  const taken = exchange.body.take(inbox, 0);
  connection.inbox = inbox.subarray(taken);
  if (state.kind !== "draining") extendDeadline(connection, taken);
  else {
    state.bytes += taken;
    if (state.bytes > limits.lingerBytes) {
      leave(connection);
      return false;
    }
  }
  upstream.write(inbox.subarray(0, taken));
  if (!exchange.body.ended) return false;
  if (state.kind === "draining") finishExchange(connection, exchange, !connection.closing);
  else connection.state = { kind: "responding", exchange };
  return true;
}

function isSame(one: Address, other: Address): boolean {
  if ("unix" in one || "unix" in other) return "unix" in one && "unix" in other && one.unix === other.unix;
  return one.hostname === other.hostname && one.port === other.port;
}
