import { type Answer, type Streamed, writeAnswer, writeStreamHead } from "./answer.ts";
import { createBody, limitBody, tooLarge } from "./body.ts";
import type { Connection, Exchange, Handle, State } from "./connection.ts";
import { fieldOf } from "./fields.ts";
import { abort, fail, finishExchange, leave, refuse } from "./finish.ts";
import { extendDeadline } from "./flow.ts";

/** Reads the body of a request for its handler. */
export function collect(connection: Connection, exchange: Exchange, { maxBytes, handle }: Handle): void {
  const { framing, fields } = exchange.head;
  if (framing.kind === "length" && framing.bytes > maxBytes) {
    refuse(connection, 413, tooLarge(maxBytes).message);
    return;
  }
  const parts: Buffer[] = [];
  const limit = limitBody(maxBytes);
  exchange.body = createBody(framing, (bytes) => {
    limit(bytes);
    parts.push(Buffer.from(bytes));
  });
  const begin = () => {
    const client = new AbortController();
    exchange.client = client;
    connection.state = { kind: "answering", exchange, drained: null };
    answer(connection, exchange, handle(Buffer.concat(parts.splice(0)), client.signal));
  };
  connection.state = { kind: "collecting", exchange, handle: begin };
  if (exchange.body.ended) begin();
  else if (fieldOf(fields, "expect")?.toLowerCase() === "100-continue")
    connection.writer.writeText("HTTP/1.1 100 Continue\r\n\r\n");
}

/** @returns whether there may be more to process */
export function collectBody(
  connection: Connection,
  { exchange, handle }: State & { kind: "collecting" },
): boolean {
  const taken = exchange.body.take(connection.inbox, 0);
  connection.inbox = connection.inbox.subarray(taken);
  extendDeadline(connection, taken);
  if (exchange.body.ended) handle();
  return false;
}

/** Answers a request, whose body may not have been read. */
export function reply(connection: Connection, exchange: Exchange, made: Answer): void {
  if (connection.state.kind === "over") return;
  const { head, body } = exchange;
  exchange.client = null;
  // the rest of the body would be read as the next request
  const keepAlive = head.keepAlive && !connection.closing && body.ended;
  connection.writer.write(writeAnswer(made, { keepAlive, head: head.method === "HEAD" }));
  finishExchange(connection, exchange, keepAlive);
}

function answer(connection: Connection, exchange: Exchange, made: Promise<Answer | Streamed>): void {
  made
    .then(async (response) => {
      if ("pump" in response) await stream(connection, exchange, response);
      else reply(connection, exchange, response);
      connection.process();
    })
    .catch(() => {
      if (connection.state.kind === "over") return;
      if (exchange.begun) abort(connection);
      else fail(connection);
    });
}

/** Chunks up to this size are framed in a buffer that all responses share. */
const SCRATCH = Buffer.alloc(64 * 1024);
const FRAME_BYTES = 16;
const CRLF = Buffer.from("\r\n");
const LAST_CHUNK = Buffer.from("0\r\n\r\n");
const NOTHING = Buffer.alloc(0);

async function stream(connection: Connection, exchange: Exchange, response: Streamed): Promise<void> {
  const { head } = exchange;
  const chunked = head.version === "1.1";
  const isOver = () => connection.state.kind === "over";
  if (isOver()) return;
  exchange.endless = response.headers["content-type"]?.startsWith("text/event-stream") ?? false;
  if (connection.closing && exchange.endless) {
    leave(connection);
    return;
  }
  const keepAlive = chunked && head.keepAlive;
  // the head follows with the first piece: until then, the client knows nothing
  let unsent: Buffer | null = Buffer.from(writeStreamHead(response, { keepAlive, chunked }), "latin1");
  const send = (bytes: Uint8Array) => {
    const all = unsent === null ? bytes : Buffer.concat([unsent, bytes]);
    unsent = null;
    exchange.begun = true;
    return connection.writer.write(all);
  };
  await response.pump((bytes) => {
    if (isOver() || bytes.length === 0) return null;
    return send(chunked ? framed(bytes) : bytes) ? null : drained(connection);
  });
  if (isOver()) return;
  exchange.client = null;
  exchange.endless = false;
  send(chunked ? LAST_CHUNK : NOTHING);
  finishExchange(connection, exchange, keepAlive && !connection.closing);
}

function framed(bytes: Uint8Array): Uint8Array {
  const size = `${bytes.length.toString(16)}\r\n`;
  if (bytes.length + FRAME_BYTES > SCRATCH.length) return Buffer.concat([Buffer.from(size), bytes, CRLF]);
  const from = SCRATCH.write(size, "latin1");
  SCRATCH.set(bytes, from);
  SCRATCH.set(CRLF, from + bytes.length);
  return SCRATCH.subarray(0, from + bytes.length + CRLF.length);
}

/** Waits until the client has read what is written, or has gone. */
function drained(connection: Connection): Promise<void> | null {
  const { state } = connection;
  if (state.kind !== "answering") return null;
  const { promise, resolve } = Promise.withResolvers<void>();
  state.drained = resolve;
  return promise;
}
