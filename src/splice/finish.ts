import { writeAnswer } from "./answer.ts";
import type { Connection, Exchange } from "./connection.ts";

/** Ends an exchange: the next request may come, or the connection ends. */
export function finishExchange(connection: Connection, exchange: Exchange, keepAlive: boolean): void {
  if (!keepAlive) {
    leave(connection);
    return;
  }
  endLease(exchange);
  connection.state = { kind: "idle", exchange };
  connection.deadline = connection.limits.now() + connection.limits.idleMs;
}

/** Answers an error of HTTP itself, and ends the connection. */
export function refuse(connection: Connection, status: number, message: string): void {
  const { state } = connection;
  if (state.kind === "over") return;
  if (state.exchange?.begun) {
    abort(connection);
    return;
  }
  const head = state.exchange?.head ?? null;
  const answer = connection.explain(status, message, head);
  connection.writer.write(writeAnswer(answer, { keepAlive: false, head: head?.method === "HEAD" }));
  leave(connection);
}

/** Answers a fault of svc itself, and ends the connection. */
export function fail(connection: Connection): void {
  refuse(connection, 500, "Something went wrong inside svc.");
}

/** Ends the connection once everything written has been sent. */
export function leave(connection: Connection): void {
  const { socket, writer, pausedAt, limits } = connection;
  close(connection);
  connection.deadline = limits.now() + limits.lingerMs;
  connection.pausedAt = null;
  if (pausedAt !== null) socket.resume();
  writer.finish();
}

export function abort(connection: Connection): void {
  close(connection);
  connection.socket.terminate();
}

/** The socket is closed, or about to be. */
export function close(connection: Connection): void {
  const { state } = connection;
  connection.state = { kind: "over", bytes: 0 };
  if (state.kind !== "over" && state.exchange) endLease(state.exchange);
  if (state.kind === "answering") {
    state.exchange.client?.abort();
    state.drained?.();
  }
  connection.inbox = EMPTY;
  connection.upstream?.close();
  connection.upstream = null;
}

function endLease(exchange: Exchange): void {
  const { lease } = exchange;
  exchange.lease = null;
  lease?.end();
}

/** The client sends no more. */
export function end(connection: Connection): void {
  const { kind } = connection.state;
  if (kind === "raw" || kind === "responding") connection.upstream?.finish();
  else if (kind === "idle") leave(connection);
  else abort(connection);
}

/** Ends a connection that has passed its deadline; called periodically. */
export function sweep(connection: Connection, now: number): void {
  const { socket, writer, state, inbox, deadline, limits } = connection;
  if (now < deadline || connection.pausedAt !== null) return;
  if (state.kind === "over") {
    if (!writer.isFull || now >= deadline + limits.silenceMs) socket.terminate();
  } else if (state.kind === "collecting" || state.kind === "sending") {
    refuse(connection, 408, "The body of the request did not arrive in time.");
  } else if (state.kind === "idle" && inbox.length > 0) {
    refuse(connection, 408, "The head of the request did not arrive in time.");
  } else if (state.kind === "idle" || state.kind === "draining") leave(connection);
}

/** Completes the request under way, and takes no more. A response that does not end by itself is ended. */
export function retire(connection: Connection): void {
  const { state, inbox } = connection;
  connection.closing = true;
  if (state.kind === "over") return;
  if (state.exchange?.endless || (state.kind === "idle" && inbox.length === 0)) leave(connection);
}

export const EMPTY: Buffer = Buffer.alloc(0);
