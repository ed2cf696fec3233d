import type { Socket } from "bun";
import { type Body, createBody } from "./body.ts";
import { headLength, type ResponseHead, readResponseHead } from "./head.ts";
import { HeadError } from "./head-error.ts";
import { type ReplaceLocation, replaceLocation } from "./location.ts";
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

/** Upstreams are on the same machine: they accept at once or not at all. */
const CONNECT_MS = 10_000;
const EMPTY: Buffer = Buffer.alloc(0);

type ResponseState =
  /** No request waits for its response. */
  | { kind: "none" }
  | { kind: "head"; method: string; location: ReplaceLocation | undefined }
  | { kind: "body"; head: ResponseHead; body: Body }
  /** Passes bytes both ways, unread. */
  | { kind: "raw" };

/** A connection to an upstream server; bytes written before it is open are buffered. */
export class Upstream {
  readonly address: Address;
  readonly #events: UpstreamEvents;
  readonly #timer = setTimeout(() => this.#lose(false), CONNECT_MS);
  /** Null until the connection is open. */
  #socket: Socket<undefined> | null = null;
  #writer: SocketWriter | null = null;
  #early: Uint8Array[] = [];
  #isFinished = false;
  #isGone = false;
  #response: ResponseState = { kind: "none" };
  /** The beginning of a response's head. */
  #inbox: Buffer = EMPTY;

  constructor(address: Address, events: UpstreamEvents) {
    this.address = address;
    this.#events = events;
    const common = {
      allowHalfOpen: true,
      socket: {
        open: (socket: Socket<undefined>) => this.#open(socket),
        data: (_: Socket<undefined>, bytes: Buffer) => {
          this.#receive(bytes);
          release(bytes);
        },
        drain: () => this.#writer?.drain(),
        end: () => this.#lose(true),
        close: () => this.#lose(true),
        error: () => this.#lose(false),
        // the rejection follows; for a missing unix socket this is called before the constructor has returned
        connectError() {},
      },
    };
    const connecting =
      "unix" in address ? Bun.connect({ ...address, ...common }) : Bun.connect({ ...address, ...common });
    connecting.catch(() => this.#lose(false));
  }

  get isFull(): boolean {
    return this.#writer === null || this.#writer.isFull;
  }

  /** Sends the head (latin1) of a request, to be followed by its body. @param location replaces the address of a redirect */
  send(method: string, head: string, location?: ReplaceLocation): void {
    this.#response = { kind: "head", method, location };
    if (this.#writer) this.#writer.writeText(head);
    else if (!this.#isGone) this.#early.push(Buffer.from(head, "latin1"));
  }

  write(bytes: Uint8Array): boolean {
    if (this.#writer) return this.#writer.write(bytes);
    if (!this.#isGone) this.#early.push(new Uint8Array(bytes));
    return false;
  }

  /** Passes bytes both ways, unread, from now on. */
  goRaw(): void {
    this.#response = { kind: "raw" };
  }

  /** Ends this side of the connection. */
  finish(): void {
    this.#isFinished = true;
    this.#writer?.finish();
  }

  pause(): void {
    this.#socket?.pause();
  }

  resume(): void {
    this.#socket?.resume();
  }

  close(): void {
    this.#isGone = true;
    clearTimeout(this.#timer);
    this.#early = [];
    if (this.#response.kind === "raw" && this.#writer?.isFull) this.#socket?.end();
    else this.#socket?.terminate();
  }

  #open(socket: Socket<undefined>): void {
    clearTimeout(this.#timer);
    if (this.#isGone) {
      socket.terminate();
      return;
    }
    this.#socket = socket;
    this.#writer = createSocketWriter(socket, this.#events.onDrained);
    for (const bytes of this.#early) this.#writer.write(bytes);
    this.#early = [];
    if (this.#isFinished) this.#writer.finish();
    else if (!this.#writer.isFull) this.#events.onDrained();
  }

  #receive(bytes: Buffer): void {
    if (this.#isGone) return;
    try {
      if (this.#response.kind === "raw") this.#events.onBytes(bytes);
      else this.#read(this.#inbox.length === 0 ? bytes : Buffer.concat([this.#inbox, bytes]));
    } catch {
      this.#lose(false);
    }
  }

  /** Forwards the bytes of the response and finds its end. */
  #read(bytes: Buffer): void {
    this.#inbox = EMPTY;
    let [from, at] = [0, 0];
    while (at < bytes.length && !this.#isGone && this.#response.kind !== "raw") {
      if (this.#response.kind === "none") throw new HeadError(400, "The response has no request.");
      if (this.#response.kind === "head") {
        const length = headLength(bytes, at);
        if (length < 0) {
          if (at > from) this.#events.onBytes(bytes.subarray(from, at));
          this.#inbox = Buffer.from(bytes.subarray(at));
          return;
        }
        const { method, location } = this.#response;
        const head = readResponseHead(bytes, at, at + length, method);
        this.#onHead(head);
        const replaced = location && replaceLocation(head, bytes.subarray(at, at + length), location);
        if (replaced && !this.#isGone) {
          if (at > from) this.#events.onBytes(bytes.subarray(from, at));
          this.#events.onBytes(replaced);
          from = at + length;
        }
        at += length;
      }
      const response = this.#response;
      if (response.kind !== "body") continue;
      at += response.body.take(bytes, at);
      if (!response.body.ended) break;
      if (from === 0 && at === bytes.length) this.#events.onBytes(bytes);
      else if (at > from) this.#events.onBytes(bytes.subarray(from, at));
      this.#response = { kind: "none" };
      this.#events.onAnswered(response.head.keepAlive);
      // bytes after the response
      if (at < bytes.length) this.#lose(false);
      return;
    }
    if (at > from || this.#response.kind === "raw") this.#events.onBytes(bytes.subarray(from));
  }

  #onHead(head: ResponseHead): void {
    if (head.status < 200 && head.status !== 101) return;
    this.#events.onHead(head);
    if (head.status === 101) return;
    this.#response = { kind: "body", head, body: createBody(head.framing) };
  }

  #lose(clean: boolean): void {
    if (this.#isGone) return;
    const response = this.#response;
    const isOver =
      response.kind === "body" ? response.head.framing.kind === "close" : response.kind !== "head";
    this.close();
    this.#events.onGone(clean && isOver);
  }
}
