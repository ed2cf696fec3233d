import type { Socket } from "node:net";
import { readHost } from "../../contract/egress/policy.ts";
import { createBody } from "../../splice/body.ts";
import { flow } from "../../splice/relay.ts";
import { HELLO_MAX_BYTES, type Opening, readOpening } from "./client-hello.ts";
import type { ProxyRequest } from "./request.ts";

/** For the first bytes in a tunnel to port 443. */
const OPENING_MS = 30_000;
/** The port at which only TLS passes. */
const HTTPS = 443;

interface Target {
  host: string;
  port: number;
}

/** Forwards one request, to the end of its body, and the response: what else the client sends could name another host. */
export function sendOne(
  client: Socket,
  other: Socket,
  { head, framing }: NonNullable<ProxyRequest["forward"]>,
  rest: Buffer,
): void {
  const body = createBody(framing);
  flow(other, client);
  other.write(Buffer.from(head, "latin1"));
  client.on("close", () => other.destroy());
  client.on("end", () => {
    if (!body.ended) other.end();
  });
  other.on("drain", () => client.resume());
  client.on("data", send);
  if (rest.length > 0) send(rest);
  client.resume();

  function send(bytes: Buffer): void {
    try {
      const own = bytes.subarray(0, body.take(bytes, 0));
      if (own.length > 0 && !other.write(own)) client.pause();
    } catch {
      other.destroy();
      client.destroy();
    }
  }
}

/**
 * Joins a tunnel once its first bytes are known, and ends one whose TLS is for another server.
 * @param refused called with the server's name
 */
export function joinNamed(
  client: Socket,
  other: Socket,
  target: Target,
  rest: Buffer,
  refused: (host: string) => void,
): void {
  let first = rest;
  // a server may speak first, but not at a port that is for TLS
  const late = target.port === HTTPS ? setTimeout(end, OPENING_MS) : undefined;
  flow(other, client);
  client.on("close", end);
  client.on("end", onEnd);
  client.on("data", read);
  if (rest.length > 0) read(Buffer.alloc(0));
  client.resume();

  function read(bytes: Buffer): void {
    first = Buffer.concat([first, bytes]);
    const opening = readOpening(first);
    if (opening.is === "incomplete" && first.length <= HELLO_MAX_BYTES) return;
    clearTimeout(late);
    client.off("data", read);
    client.off("end", onEnd);
    client.off("close", end);
    client.pause();
    if (isFor(opening, target)) {
      other.write(first);
      flow(client, other);
    } else {
      refused((opening.is === "tls" && readHost(opening.serverName ?? "")) || target.host);
      end();
    }
  }

  function onEnd(): void {
    if (first.length > 0) end();
    else other.end();
  }

  function end(): void {
    clearTimeout(late);
    client.destroy();
    other.destroy();
  }
}

/**
 * Whether the first bytes of a tunnel may go to its target: TLS must name it, and may name nothing only if the target is an
 * address (RFC 6066, 3); other protocols pass at other ports than 443.
 */
export function isFor(opening: Opening, { host, port }: Target): boolean {
  if (opening.is !== "tls") return opening.is === "other" && port !== HTTPS;
  return opening.serverName === null ? /^[\d.]+$/.test(host) : readHost(opening.serverName) === host;
}
