import type { Socket } from "bun";
import type { Answer, Streamed } from "./answer.ts";
import type { Body } from "./body.ts";
import type { RequestHead } from "./head.ts";
import type { SocketWriter } from "./socket-writer.ts";
import type { Address, Upstream } from "./upstream.ts";

/** A request to forward: `head` (latin1) replaces its own head; the body is streamed. */
export interface Forward {
  to: Address;
  head: string;
  /** A larger body is refused with 413. */
  maxBytes?: number;
  lease?: Lease;
  /** Replaces the address of a redirect. */
  location?(address: string): string;
}

/** The right to be forwarded, which can be withdrawn. The connection to the upstream is not kept after its request. */
export interface Lease {
  /** Called when the request is forwarded. @param cut ends the client's connection, also within the response */
  begin(cut: () => void): void;
  /** Called once, when the response is over, the connection has ended, or the request was not forwarded. */
  end(): void;
}

/** What to do with a request. */
export type Decision =
  | Forward
  | { answer: Answer }
  /** Answers it here, from its whole body of at most `maxBytes`. */
  | Handle;

export interface Handle {
  maxBytes: number;
  /** @param client aborted when the client has gone */
  handle(body: Uint8Array<ArrayBuffer>, client: AbortSignal): Promise<Answer | Streamed>;
}

export type Decide = (head: RequestHead, client: { address: string }) => Decision | Promise<Decision>;

/** Creates the answer to an error of HTTP itself. */
export type Explain = (status: number, message: string, head: RequestHead | null) => Answer;

/** A client's connection. */
export interface Connection {
  readonly socket: Socket<unknown>;
  readonly writer: SocketWriter;
  readonly client: { address: string };
  readonly decide: Decide;
  readonly explain: Explain;
  readonly limits: ConnectionLimits;
  state: State;
  /** Bytes that are not processed yet. */
  inbox: Buffer;
  /** Kept from one request to the next. */
  upstream: Upstream | null;
  /** Takes no more requests. */
  closing: boolean;
  /** When svc stopped reading the socket. */
  pausedAt: number | null;
  /** Of the head, the body, the pause between two requests or, after an early response, the rest of the body. */
  deadline: number;
  /** Processes the inbox as far as the state allows. */
  process(): void;
}

export type State =
  /** Waits for the head of a request; `exchange` is the one before. */
  | { kind: "idle"; exchange: Exchange | null }
  /** Waits for a decision. */
  | { kind: "deciding"; exchange: Exchange }
  /** Reads the body for a handler. */
  | { kind: "collecting"; exchange: Exchange; handle(): void }
  /** A handler prepares or writes its response. `drained`: it waits until the client has read what is written. */
  | { kind: "answering"; exchange: Exchange; drained: (() => void) | null }
  | Forwarding
  /** Forwards the rest of a body, `bytes` so far, after an early response. */
  | { kind: "draining"; exchange: Exchange; bytes: number }
  /** Passes bytes both ways, unread. */
  | { kind: "raw"; exchange: Exchange }
  /** Ignores what still comes, `bytes` so far. */
  | { kind: "over"; bytes: number };

/** The response is not over. `sending`: nor is the request; `upgrading`: the request is to change protocols. */
export type Forwarding = { kind: "sending" | "responding" | "upgrading"; exchange: Exchange };

/** A request and the progress of its response. */
export interface Exchange {
  readonly head: RequestHead;
  body: Body;
  /** Bytes of an upstream's response have been passed on: svc cannot respond itself any more. */
  begun: boolean;
  /** The response does not end by itself. */
  endless: boolean;
  /** The request, while it may be sent again on a new connection. */
  retry: Forward | null;
  lease: Lease | null;
  /** Aborted when the client has gone, while a handler answers. */
  client: AbortController | null;
}

/** Limits on a client's connection, in milliseconds and bytes. */
export interface ConnectionLimits {
  /** For a whole head; one that takes longer is an attack or a broken network. */
  headMs: number;
  /** Between two requests, as in common proxies. */
  idleMs: number;
  /** For the first bytes of a body; each further byte extends the deadline by the time it takes at `bodyRate`. */
  bodyMs: number;
  /** The longest pause within a body, however much of it has arrived: git compresses large files meanwhile. */
  silenceMs: number;
  /** The lowest rate of a body, in bytes a second; time in which svc itself does not read does not count. */
  bodyRate: number;
  /** For the last bytes to arrive, and for the client to close the connection. */
  lingerMs: number;
  /** How often deadlines are checked. */
  sweepMs: number;
  /** Bytes of a body that are read after an early response, so that the client gets to read the response. */
  lingerBytes: number;
  /** Milliseconds, by a clock that nobody sets: connections outlive a jump of the clock of the day. Tests move it. */
  now(): number;
}

export const CONNECTION_LIMITS: ConnectionLimits = {
  headMs: 30_000,
  idleMs: 75_000,
  bodyMs: 30_000,
  silenceMs: 120_000,
  bodyRate: 1024,
  lingerMs: 5_000,
  sweepMs: 2_000,
  lingerBytes: 1024 * 1024,
  now: () => performance.now(),
};
