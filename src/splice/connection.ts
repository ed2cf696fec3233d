import type { Socket } from "bun";
import { type Answer, writeAnswer } from "./answer.ts";
import { type Body, createBody } from "./body.ts";
import { headLength, type RequestHead, type ResponseHead, readRequestHead } from "./head.ts";
import { HeadError } from "./head-error.ts";
import { createOutlet, type Outlet } from "./outlet.ts";
import { type Address, openUpstream, type Upstream } from "./upstream.ts";

/** What to do with a request. */
export type Decision =
  /**
   * Pass it on: `head`, a byte a character, takes the place of the request's own; the body follows as it comes. One of
   * more than `maxBytes` is refused with 413.
   */
  | { to: Address; head: string; maxBytes?: number }
  | { answer: Answer }
  /** Answer it here, from its whole body of at most `maxBytes`. */
  | { maxBytes: number; handle(body: Uint8Array): Promise<Answer> };

export type Decide = (head: RequestHead, client: { address: string }) => Decision | Promise<Decision>;

/** How an error of HTTP itself is answered. */
export type Explain = (status: number, message: string, head: RequestHead | null) => Answer;

/** A client's connection: one request after the other, each to where it belongs. */
export interface Connection {
  receive(bytes: Buffer): void;
  drain(): void;
  /** The client says no more. */
  end(): void;
  /** The connection is gone. */
  close(): void;
  /** Ends it when it is silent for longer than it may be; called now and then. */
  sweep(now: number): void;
  /** Answers what is under way, and takes nothing more. What never ends by itself (WebSockets, event streams) ends. */
  retire(): void;
}

/** Bounds on what a client may do with its connection, in milliseconds and bytes. */
export interface ConnectionLimits {
  /** A head arrives at once; one that takes longer is an attack or a broken network. */
  headMs: number;
  /** Between two requests, as common proxies keep their connections. */
  idleMs: number;
  /** A body begins within this, and is never later than its bytes at the least rate allow. */
  bodyMs: number;
  /** How long a body may be silent, however much of it has come: git compresses large files meanwhile. */
  silenceMs: number;
  /** Bytes a second that a body brings at least; time in which svc itself does not read does not count. */
  bodyRate: number;
  /** For what was written last to arrive, and for the client to hang up itself. */
  lingerMs: number;
  /** How often connections are looked at for what is over. */
  sweepMs: number;
  /** Read of a body that was answered early, so that the client comes to read the answer. */
  lingerBytes: number;
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
};

/** Methods that may be said twice (RFC 9110, 9.2.1). */
const SAFE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

interface Collecting {
  maxBytes: number;
  handle(body: Uint8Array): Promise<Answer>;
  parts: Uint8Array[];
  bytes: number;
}

type State = "head" | "deciding" | "body" | "collecting" | "upgrading" | "raw" | "over";

export function createConnection(
  socket: Socket<unknown>,
  decide: Decide,
  explain: Explain,
  limits: ConnectionLimits,
): Connection {
  const outlet: Outlet = createOutlet(socket, flow);
  const client = { address: socket.remoteAddress };
  let state: State = "head";
  let inbox: Buffer = EMPTY;
  let upstream: Upstream | null = null;
  let head: RequestHead | null = null;
  let collecting: Collecting | null = null;
  /** The head that was passed on, while it may be said again on a new connection. */
  let again: { to: Address; head: string } | null = null;
  let body: Body | null = null;
  /** An upstream's answer is not over, and whether any of it was passed on. */
  let answering = false;
  let begun = false;
  let endless = false;
  let closing = false;
  let pausedAt: number | null = null;
  /** Of the head, the body or the pause between two requests; after an early answer, of what is left of the body. */
  let deadline = Date.now() + limits.headMs;
  /** Bytes of a body that came after its answer, or of anything after the end. */
  let lateBytes = 0;

  return { receive, drain: () => outlet.drain(), end, close, sweep, retire };

  function receive(bytes: Buffer): void {
    if (state === "over") {
      lateBytes += bytes.length;
      if (lateBytes > limits.lingerBytes) socket.pause();
      return;
    }
    if (state === "raw") {
      if (upstream && !upstream.write(bytes)) flow();
      return;
    }
    if (inbox.length === 0 && state === "head") deadline = Date.now() + limits.headMs;
    inbox = inbox.length === 0 ? bytes : Buffer.concat([inbox, bytes]);
    pump();
  }

  function pump(): void {
    try {
      while (inbox.length > 0 && step());
    } catch (error) {
      if (error instanceof HeadError) refuse(error.status, error.message);
      else refuse(500, "Something went wrong inside svc.");
    }
    if (inbox.length > 0 && state !== "over") inbox = Buffer.from(inbox);
    flow();
  }

  /** @returns whether there may be more to do */
  function step(): boolean {
    if (state === "head") return !answering && begin();
    if (state === "body") return pass();
    if (state === "collecting") return collect();
    return false;
  }

  function begin(): boolean {
    const length = headLength(inbox);
    if (length < 0) return false;
    // an error in this head is none of the request before
    head = null;
    begun = false;
    head = readRequestHead(inbox, length);
    inbox = length === inbox.length ? EMPTY : inbox.subarray(length);
    body = createBody(head.framing);
    state = "deciding";
    const decision = decide(head, client);
    if (!(decision instanceof Promise)) {
      follow(decision);
      return true;
    }
    decision.then(
      (made) => {
        if (state !== "deciding") return;
        follow(made);
        pump();
      },
      () => refuse(500, "Something went wrong inside svc."),
    );
    return false;
  }

  function follow(decision: Decision): void {
    if (!head || !body) return;
    if ("answer" in decision) {
      reply(decision.answer);
      return;
    }
    startBody();
    if ("handle" in decision) {
      state = "collecting";
      collecting = { ...decision, parts: [], bytes: 0 };
      body = createBody(head.framing, keep);
      if (body.ended) handle();
      return;
    }
    const { maxBytes } = decision;
    if (maxBytes !== undefined && !body.ended) {
      if (head.framing.kind === "length" && head.framing.bytes > maxBytes) {
        refuse(413, tooLarge(maxBytes).message);
        return;
      }
      body = createBody(head.framing, atMost(maxBytes));
    }
    answering = true;
    state = !body.ended ? "body" : head.upgrade === null ? "head" : "upgrading";
    send(decision);
  }

  function send(request: { to: Address; head: string }): void {
    const isReused = upstream !== null && isSame(upstream.address, request.to);
    if (!upstream || !isReused) {
      upstream?.close();
      upstream = connect(request.to);
    }
    // a connection that was kept may have ended a moment ago
    again = isReused && state === "head" && SAFE.has(head?.method ?? "") ? request : null;
    upstream.ask(head?.method ?? "", request.head);
  }

  function connect(to: Address): Upstream {
    const made: Upstream = openUpstream(to, {
      onBytes(bytes) {
        if (made !== upstream || state === "over") return;
        begun = true;
        if (!outlet.write(bytes)) made.pause();
      },
      onHead: (answer) => made === upstream && onAnswerHead(answer),
      onAnswered(keepAlive) {
        if (made !== upstream) return;
        answering = false;
        endless = false;
        if (!keepAlive) {
          made.close();
          upstream = null;
        }
        if (state === "upgrading") state = "head";
        settle(keepAlive);
        flow();
      },
      onGone: (clean) => made === upstream && onUpstreamGone(clean),
      onDrained: flow,
    });
    return made;
  }

  function onAnswerHead(answer: ResponseHead): void {
    endless = answer.isEventStream || answer.status === 101;
    if (closing && endless) {
      leave();
      return;
    }
    if (answer.status !== 101) return;
    if (state !== "upgrading" || !upstream) {
      refuse(502, "What stands behind svc answered what was not asked.");
      return;
    }
    state = "raw";
    answering = false;
    upstream.goRaw();
    const rest = inbox;
    inbox = EMPTY;
    if (rest.length > 0) upstream.write(rest);
    flow();
  }

  function onUpstreamGone(clean: boolean): void {
    upstream = null;
    if (state === "raw") {
      leave();
    } else if (answering && !begun && again) {
      send(again);
    } else if (answering && !begun) {
      refuse(502, "What stands behind svc does not answer.");
    } else if (answering) {
      answering = false;
      // the end of the connection is the end of the answer, or the answer is cut off, which the client must see
      if (clean) leave();
      else abort();
    } else if (state === "body") {
      // answered before, and what is left of the body has nowhere to go
      leave();
    }
  }

  /** The answer is over; when the request is too, the next may come. */
  function settle(keepAlive: boolean): void {
    if (state !== "head" && state !== "body") return;
    if (closing || !keepAlive || !head?.keepAlive) leave();
    else if (state === "body") {
      // an early answer: a small rest of the body is taken, so that the connection can be kept
      deadline = Date.now() + limits.lingerMs;
    } else {
      deadline = Date.now() + limits.idleMs;
      if (inbox.length > 0) pump();
    }
  }

  function startBody(): void {
    lateBytes = 0;
    deadline = Date.now() + limits.bodyMs;
  }

  /** Bytes of a body put its deadline off by what they may take at the least rate. */
  function noteBody(bytes: number): void {
    const earned = deadline + (bytes * 1000) / limits.bodyRate;
    deadline = Math.min(earned, Date.now() + limits.silenceMs);
  }

  function pass(): boolean {
    if (!body || !upstream) return false;
    const taken = body.take(inbox, 0);
    const bytes = inbox.subarray(0, taken);
    inbox = inbox.subarray(taken);
    if (answering) noteBody(taken);
    else lateBytes += taken;
    if (lateBytes > limits.lingerBytes) {
      leave();
      return false;
    }
    upstream.write(bytes);
    if (!body.ended) return false;
    state = "head";
    if (!answering) settle(true);
    return true;
  }

  function collect(): boolean {
    if (!body) return false;
    const taken = body.take(inbox, 0);
    inbox = inbox.subarray(taken);
    noteBody(taken);
    if (body.ended) handle();
    return false;
  }

  function keep(bytes: Buffer): void {
    if (!collecting) return;
    collecting.bytes += bytes.length;
    if (collecting.bytes > collecting.maxBytes) throw tooLarge(collecting.maxBytes);
    collecting.parts.push(Buffer.from(bytes));
  }

  function handle(): void {
    if (!collecting) return;
    state = "deciding";
    collecting.handle(Buffer.concat(collecting.parts)).then(
      (answer) => {
        reply(answer);
        pump();
      },
      () => refuse(500, "Something went wrong inside svc."),
    );
    collecting = null;
  }

  function reply(answer: Answer): void {
    if (state === "over" || !head) return;
    // what is left of the body would be taken for the next request
    const keepAlive = head.keepAlive && !closing && (body?.ended ?? true);
    outlet.write(writeAnswer(answer, { keepAlive, head: head.method === "HEAD" }));
    if (!keepAlive) {
      leave();
      return;
    }
    state = "head";
    deadline = Date.now() + limits.idleMs;
  }

  function refuse(status: number, message: string): void {
    if (state === "over") return;
    if (begun) {
      abort();
      return;
    }
    const answer = explain(status, message, head);
    outlet.write(writeAnswer(answer, { keepAlive: false, head: head?.method === "HEAD" }));
    leave();
  }

  /** Says goodbye in good order: what was written still arrives. */
  function leave(): void {
    state = "over";
    deadline = Date.now() + limits.lingerMs;
    lateBytes = 0;
    inbox = EMPTY;
    if (pausedAt !== null) socket.resume();
    pausedAt = null;
    upstream?.close();
    upstream = null;
    outlet.finish();
  }

  function abort(): void {
    close();
    socket.terminate();
  }

  function end(): void {
    if (state === "raw" || (answering && state === "head")) upstream?.finish();
    else if (state === "head" && !answering) leave();
    else abort();
  }

  function close(): void {
    state = "over";
    inbox = EMPTY;
    upstream?.close();
    upstream = null;
  }

  function sweep(now: number): void {
    if (now < deadline || pausedAt !== null) return;
    const isWaiting = state === "head" && !answering;
    if (state === "over") {
      if (!outlet.isFull || now >= deadline + limits.silenceMs) socket.terminate();
    } else if (state === "collecting" || (state === "body" && answering)) {
      refuse(408, "The body of the request did not arrive in time.");
    } else if (isWaiting && inbox.length > 0) {
      refuse(408, "The head of the request did not arrive in time.");
    } else if (isWaiting || state === "body") {
      leave();
    }
  }

  function retire(): void {
    closing = true;
    if (endless || (state === "head" && !answering && inbox.length === 0)) leave();
  }

  /** Reads on as far as what was read can go. */
  function flow(): void {
    if (state === "over") return;
    if (!outlet.isFull) upstream?.resume();
    const hasToWait =
      state === "deciding" ||
      state === "upgrading" ||
      (state === "head" && answering && inbox.length > 0) ||
      ((state === "body" || state === "raw") && (upstream?.isFull ?? false));
    if (hasToWait === (pausedAt !== null)) return;
    if (pausedAt === null) {
      pausedAt = Date.now();
      socket.pause();
    } else {
      // what svc made the client wait does not count against its body
      if (state === "body" || state === "collecting") deadline += Date.now() - pausedAt;
      pausedAt = null;
      socket.resume();
    }
  }
}

/** @returns takes the pieces of a body, and throws HeadError at the first byte that is too much */
function atMost(maxBytes: number): (bytes: Buffer) => void {
  let left = maxBytes;
  return (bytes) => {
    left -= bytes.length;
    if (left < 0) throw tooLarge(maxBytes);
  };
}

function tooLarge(maxBytes: number): HeadError {
  return new HeadError(413, `The body is larger than ${maxBytes} bytes.`);
}

function isSame(one: Address, other: Address): boolean {
  if ("unix" in one || "unix" in other) return "unix" in one && "unix" in other && one.unix === other.unix;
  return one.hostname === other.hostname && one.port === other.port;
}

const EMPTY: Buffer = Buffer.alloc(0);
