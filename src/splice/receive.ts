import type { Socket } from "bun";
import { collect, collectBody, reply } from "./answering.ts";
import { createBody } from "./body.ts";
import type {
  Connection,
  ConnectionLimits,
  Decide,
  Decision,
  Exchange,
  Explain,
  State,
} from "./connection.ts";
import { EMPTY, fail, refuse } from "./finish.ts";
import { updateFlow } from "./flow.ts";
import { forward, forwardBody } from "./forward.ts";
import { headLength, readRequestHead } from "./head.ts";
import { HeadError } from "./head-error.ts";
import { createSocketWriter } from "./socket-writer.ts";

export function createConnection(
  socket: Socket<unknown>,
  decide: Decide,
  explain: Explain,
  limits: ConnectionLimits,
): Connection {
  const connection: Connection = {
    socket,
    writer: createSocketWriter(socket, () => updateFlow(connection)),
    client: { address: socket.remoteAddress },
    decide,
    explain,
    limits,
    state: FIRST,
    inbox: EMPTY,
    upstream: null,
    closing: false,
    pausedAt: null,
    deadline: limits.now() + limits.headMs,
    process: () => processInbox(connection),
  };
  return connection;
}

const FIRST: State = { kind: "idle", exchange: null };

export function receive(connection: Connection, bytes: Buffer): void {
  const { state, inbox, limits } = connection;
  if (state.kind === "over") {
    state.bytes += bytes.length;
    if (state.bytes > limits.lingerBytes) connection.socket.pause();
  } else if (state.kind === "raw") {
    if (connection.upstream && !connection.upstream.write(bytes)) updateFlow(connection);
  } else {
    if (inbox.length === 0 && state.kind === "idle") connection.deadline = limits.now() + limits.headMs;
    connection.inbox = inbox.length === 0 ? bytes : Buffer.concat([inbox, bytes]);
    processInbox(connection);
  }
}

function processInbox(connection: Connection): void {
  try {
    while (connection.inbox.length > 0 && step(connection));
  } catch (error) {
    if (error instanceof HeadError) refuse(connection, error.status, error.message);
    else fail(connection);
  }
  if (connection.inbox.length > 0) connection.inbox = Buffer.from(connection.inbox);
  updateFlow(connection);
}

/** @returns whether there may be more to process */
function step(connection: Connection): boolean {
  const { state } = connection;
  switch (state.kind) {
    case "idle":
      return readHead(connection);
    case "sending":
    case "draining":
      return forwardBody(connection, state);
    case "collecting":
      return collectBody(connection, state);
    default:
      return false;
  }
}

function readHead(connection: Connection): boolean {
  const { inbox } = connection;
  const length = headLength(inbox);
  if (length < 0) return false;
  // an error in this head does not belong to the request before
  connection.state = FIRST;
  const head = readRequestHead(inbox, length);
  connection.inbox = length === inbox.length ? EMPTY : inbox.subarray(length);
  const body = createBody(head.framing);
  const exchange: Exchange = {
    head,
    body,
    begun: false,
    endless: false,
    retry: null,
    lease: null,
    client: null,
  };
  connection.state = { kind: "deciding", exchange };
  const decision = connection.decide(head, connection.client);
  if (!(decision instanceof Promise)) {
    follow(connection, exchange, decision);
    return true;
  }
  decision.then(
    (made) => {
      if (connection.state.kind !== "deciding") {
        if ("lease" in made) made.lease?.end();
        return;
      }
      follow(connection, exchange, made);
      processInbox(connection);
    },
    () => fail(connection),
  );
  return false;
}

function follow(connection: Connection, exchange: Exchange, decision: Decision): void {
  if ("answer" in decision) {
    reply(connection, exchange, decision.answer);
    return;
  }
  connection.deadline = connection.limits.now() + connection.limits.bodyMs;
  if (!("handle" in decision)) {
    forward(connection, exchange, decision);
    return;
  }
  collect(connection, exchange, decision);
}
