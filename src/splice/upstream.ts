import type { Socket } from "bun";
import { type Body, createBody } from "./body.ts";
import { headLength, type ResponseHead, readResponseHead } from "./head.ts";
import { HeadError } from "./head-error.ts";
import { release } from "./release.ts";
import { createSocketWriter, type SocketWriter } from "./socket-writer.ts";

/** Where a request goes. */
export type Address = { hostname: string; port: number } | { unix: string };

/** The events of an upstream connection. */
export interface UpstreamEvents {
  /** Bytes of the response, to forward unchanged. */
  onBytes(bytes: Uint8Array): void;
  /** The final head of a response was read, including 101. */
  onHead(head: ResponseHead): void;
  /** The response has ended; the next request may follow if `keepAlive`. */
  onAnswered(keepAlive: boolean): void;
  /** The connection was refused, broke, or ended; `clean` when it ended in good order. */
  onGone(clean: boolean): void;
  onDrained(): void;
}

export interface Upstream {
  readonly address: Address;
  /** Sends the head (latin1) of a request, to be followed by its body. */
  send(method: string, head: string): void;
  write(bytes: Uint8Array): boolean;
  /** Passes bytes both ways, unread, from now on. */
  goRaw(): void;
  /** Ends this side of the connection. */
  finish(): void;
  pause(): void;
  resume(): void;
  close(): void;
  readonly isFull: boolean;
}

/** Upstreams are on the same machine: they accept at once or not at all. */
const CONNECT_MS = 10_000;

/** Opens a connection; bytes written before it is open are buffered. */
export function openUpstream(address: Address, events: UpstreamEvents): Upstream {
  let socket: Socket<undefined> | null = null;
  let writer: SocketWriter | null = null;
  let early: Uint8Array[] = [];
  let finished = false;
  let gone = false;
  let raw = false;
  let method: string | null = null;
  let head: ResponseHead | null = null;
  let body: Body | null = null;
  let inbox: Buffer = EMPTY;

  const timer = setTimeout(() => lose(false), CONNECT_MS);
  const common = {
    allowHalfOpen: true,
    socket: {
      open,
      data(_: Socket<undefined>, bytes: Buffer) {
        receive(bytes);
        release(bytes);
      },
      drain: () => writer?.drain(),
      end: () => lose(true),
      close: () => lose(true),
      error: () => lose(false),
      // the rejection follows; for a missing unix socket this is called before `openUpstream` has returned
      connectError() {},
    },
  };
  const connecting =
    "unix" in address ? Bun.connect({ ...address, ...common }) : Bun.connect({ ...address, ...common });
  connecting.catch(() => lose(false));

  return {
    address,
    send(asked, text) {
      method = asked;
      head = null;
      if (writer) writer.writeText(text);
      else if (!gone) early.push(Buffer.from(text, "latin1"));
    },
    write(bytes) {
      if (writer) return writer.write(bytes);
      if (!gone) early.push(new Uint8Array(bytes));
      return false;
    },
    goRaw() {
      raw = true;
    },
    finish() {
      finished = true;
      writer?.finish();
    },
    pause: () => void socket?.pause(),
    resume: () => void socket?.resume(),
    close,
    get isFull() {
      return writer === null || writer.isFull;
    },
  };

  function open(opened: Socket<undefined>): void {
    clearTimeout(timer);
    if (gone) {
      opened.terminate();
      return;
    }
    socket = opened;
    writer = createSocketWriter(opened, events.onDrained);
    for (const bytes of early) writer.write(bytes);
    early = [];
    if (finished) writer.finish();
    else if (!writer.isFull) events.onDrained();
  }

  function receive(bytes: Buffer): void {
    if (gone) return;
    try {
      if (raw) events.onBytes(bytes);
      else read(inbox.length === 0 ? bytes : Buffer.concat([inbox, bytes]));
    } catch {
      lose(false);
    }
  }

  /** Forwards the bytes of the response and finds its end. */
  function read(bytes: Buffer): void {
    inbox = EMPTY;
    let at = 0;
    while (at < bytes.length && !gone && !raw) {
      if (method === null) throw new HeadError(400, "The response has no request.");
      if (body === null) {
        const length = headLength(bytes, at);
        if (length < 0) {
          if (at > 0) events.onBytes(bytes.subarray(0, at));
          inbox = Buffer.from(bytes.subarray(at));
          return;
        }
        head = readResponseHead(bytes, at, at + length, method);
        at += length;
        if (head.status < 200 && head.status !== 101) continue;
        events.onHead(head);
        if (head.status === 101) continue;
        body = createBody(head.framing);
      }
      at += body.take(bytes, at);
      if (!body.ended) break;
      const { keepAlive } = head ?? { keepAlive: false };
      events.onBytes(at === bytes.length ? bytes : bytes.subarray(0, at));
      body = null;
      method = null;
      events.onAnswered(keepAlive);
      // bytes after the response
      if (at < bytes.length) lose(false);
      return;
    }
    if (at > 0 || raw) events.onBytes(bytes);
  }

  function lose(clean: boolean): void {
    if (gone) return;
    const isEnd = clean && head?.framing.kind === "close" && body !== null;
    const isIdle = clean && method === null && body === null;
    close();
    events.onGone(raw ? clean : isEnd || isIdle);
  }

  function close(): void {
    gone = true;
    clearTimeout(timer);
    early = [];
    if (raw && writer?.isFull) socket?.end();
    else socket?.terminate();
  }
}

const EMPTY: Buffer = Buffer.alloc(0);
