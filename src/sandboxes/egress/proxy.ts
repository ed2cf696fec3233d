import { connect, type Socket } from "node:net";
import { allows } from "../../contract/egress/policy.ts";
import { type EgressRefusal, refusalText } from "../../contract/egress/refusal.ts";
import { join } from "../../splice/relay.ts";
import type { EgressGate } from "./gate.ts";
import { type ProxyRequest, readRequest } from "./request.ts";
import { addressesOf, publicAddress, resolveHost } from "./resolve.ts";
import { joinNamed, sendOne } from "./tunnel.ts";

/** Of the head of a proxied request: those of browsers and git are much smaller. */
const HEAD_MAX_BYTES = 32 * 1024;
/** For the head to arrive. */
const HEAD_MS = 30_000;
/** For the target to accept the connection. */
const CONNECT_MS = 15_000;

export interface ProxyOptions {
  sessionId: string;
  gate: EgressGate;
  /** Services of svc itself, which every sandbox reaches at any address: `host:port`. */
  exceptions: readonly string[];
}

/** Where a request may go. */
interface Admitted {
  address: string;
  /** Whether TLS in a tunnel must name the target. */
  isNamed: boolean;
}

/**
 * The proxy of one sandbox (RFC 9110, 9.3.6 CONNECT, and 9112, 3.2.2 absolute form).
 *
 * 1. The policy must allow the host and the port (`gate.ts`). Without a known policy nothing passes.
 * 2. The name is resolved once; all of its addresses must be on the public internet, and the connection goes to the one
 *    that was checked (`resolve.ts`).
 * 3. Unless the policy is `open`, TLS in a tunnel must name the host that the tunnel was opened to (`client-hello.ts`), and a tunnel to port 443 must be TLS.
 *
 * @returns the handler of a connection
 */
export function createProxy(options: ProxyOptions): (client: Socket) => void {
  return (client) => {
    let head = Buffer.alloc(0);
    const late = setTimeout(
      () => refuse(client, 408, "The head of the request did not arrive in time."),
      HEAD_MS,
    );
    client.on("error", () => client.destroy());
    client.on("close", () => clearTimeout(late));
    client.on("data", read);

    function read(bytes: Buffer): void {
      head = Buffer.concat([head, bytes]);
      const end = head.indexOf("\r\n\r\n");
      if (end < 0 && head.length <= HEAD_MAX_BYTES) return;
      clearTimeout(late);
      client.off("data", read);
      client.pause();
      const request = end < 0 || end > HEAD_MAX_BYTES ? null : readRequest(head.subarray(0, end + 4));
      if (request) void pass(options, client, request, head.subarray(end + 4));
      else refuse(client, 400, "The proxy supports CONNECT host:port and http:// URLs, without IPv6.");
    }
  };
}

async function pass(
  options: ProxyOptions,
  client: Socket,
  request: ProxyRequest,
  rest: Buffer,
): Promise<void> {
  const { host, port, forward } = request;
  const admitted = await admit(options, client, request);
  if (!admitted || client.destroyed) return;
  const other = connect({ host: admitted.address, port, allowHalfOpen: true });
  const late = setTimeout(() => other.destroy(), CONNECT_MS);
  const onFailed = () => refuse(client, 502, `${host}:${port} does not accept connections.`);
  other.once("close", onFailed);
  other.on("error", () => {});
  other.once("connect", () => {
    clearTimeout(late);
    other.off("close", onFailed);
    other.once("close", () => {
      const { bytesWritten: sent, bytesRead: received } = other;
      // a tunnel that was refused for its first bytes has sent none
      if (sent > 0) options.gate.passed(options.sessionId, { host, sent, received });
    });
    if (forward !== null) return sendOne(client, other, forward, rest);
    client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    if (admitted.isNamed) {
      return joinNamed(client, other, { host, port }, rest, (name) =>
        options.gate.refused(options.sessionId, { host: name, port, reason: "server_name" }),
      );
    }
    if (rest.length > 0) other.write(rest);
    join(client, other);
  });
}

/** Decides about a request, and answers those that it refuses. */
async function admit(
  { sessionId, gate, exceptions }: ProxyOptions,
  client: Socket,
  { host, port }: ProxyRequest,
): Promise<Admitted | null> {
  const { resolve = resolveHost } = gate;
  const isException = exceptions.includes(`${host}:${port}`);
  const policy = isException ? null : await gate.policyOf(sessionId).catch(() => "unknown" as const);
  if (policy === "unknown") {
    refuse(client, 503, "The server cannot read the network policy of this sandbox. Try again.");
    return null;
  }
  const isOpen = policy === null || policy.mode === "open";
  if (!isOpen && !allows(policy.allow, host, port)) {
    return refuseTarget(policy.mode === "none" ? "none" : "not_allowed");
  }
  const address = isException
    ? await addressesOf(host, resolve).then(
        ([first = null]) => first,
        () => null,
      )
    : await publicAddress(host, resolve).catch(() => null);
  if (address === "closed") return refuseTarget("not_public");
  if (address !== null) return { address, isNamed: !isOpen };
  refuse(client, 502, `${host} cannot be resolved.`);
  return null;

  function refuseTarget(reason: EgressRefusal["reason"]): null {
    const refusal = { host, port, reason };
    gate.refused(sessionId, refusal);
    refuse(client, 403, `${refusalText(refusal)}.`);
    return null;
  }
}

/**
 * Answers and closes. The reason phrase has the message, too: npm, pip, Go and Java print it, and not the body of a
 * response to CONNECT.
 * @param message ASCII without line breaks
 */
function refuse(client: Socket, status: number, message: string): void {
  if (client.destroyed) return;
  const text = `svc: ${message}`;
  client.end(
    `HTTP/1.1 ${status} ${text}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${text.length + 1}\r\nConnection: close\r\n\r\n${text}\n`,
  );
}
