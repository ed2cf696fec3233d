import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { join } from "../../splice/relay.ts";
import { CLOSED_IPV4 } from "../closed-addresses.ts";

/** Of the head of a proxied request: those of browsers and git are much smaller. */
const HEAD_MAX_BYTES = 64 * 1024;
/** For the head to arrive. */
const HEAD_MS = 30_000;
/** For a name to be resolved, and for the target to accept the connection. */
const RESOLVE_MS = 10_000;
const CONNECT_MS = 15_000;

export interface ProxyOptions {
  /** `host:port` of services that the operator allows at any address. */
  exceptions: readonly string[];
  /** For tests. */
  resolve?: (host: string) => Promise<string[]>;
}

/**
 * A proxy for sandboxes (RFC 9110, 9.3.6 CONNECT, and 9112, 3.2.2 absolute form): only to the public
 * internet, by IPv4. It resolves the name, checks all of its addresses, and connects to a checked one.
 * @returns the handler of a connection
 */
export function createProxy({ exceptions, resolve = resolveHost }: ProxyOptions): (client: Socket) => void {
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
      const request = end < 0 || end > HEAD_MAX_BYTES ? null : readRequest(head.toString("latin1", 0, end));
      if (request) void pass(client, request, head.subarray(end + 4));
      else refuse(client, 400, "The proxy supports CONNECT host:port and http:// URLs.");
    }
  };

  async function pass(client: Socket, { host, port, head }: ProxyRequest, rest: Buffer): Promise<void> {
    const address = await addressOf(host, port).catch(() => null);
    if (client.destroyed) return;
    if (address === null) return refuse(client, 502, `${host} cannot be resolved.`);
    if (address === "closed") {
      return refuse(
        client,
        403,
        `Sandboxes cannot reach ${host}: its address is not on the public internet.`,
      );
    }
    const other = connect({ host: address, port, allowHalfOpen: true });
    const late = setTimeout(() => other.destroy(), CONNECT_MS);
    const onFailed = () => refuse(client, 502, `${host}:${port} does not accept connections.`);
    other.once("close", onFailed);
    other.on("error", () => {});
    other.once("connect", () => {
      clearTimeout(late);
      other.off("close", onFailed);
      if (head === null) client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      else other.write(Buffer.from(head, "latin1"));
      if (rest.length > 0) other.write(rest);
      join(client, other);
    });
  }

  /** @returns the address to connect to; `closed` when the host has an address that is not allowed */
  async function addressOf(host: string, port: number): Promise<string | null> {
    const isException = exceptions.includes(`${host}:${port}`);
    const found = ipaddr.isValid(host) ? [host] : await resolve(host);
    if (isException) return found[0] ?? null;
    // IPv6 is closed with every provider; hosts that have both are reached by IPv4
    const addresses = found.filter((address) => ipaddr.IPv4.isValidFourPartDecimal(address));
    if (found.length > 0 && addresses.length === 0) return "closed";
    return addresses.some(isClosed) ? "closed" : (addresses[0] ?? null);
  }
}

interface ProxyRequest {
  host: string;
  port: number;
  /** The head to forward; null for CONNECT. */
  head: string | null;
}

/** Fields that a proxy does not forward (RFC 9110, 7.6.1). */
const HOP_BY_HOP = /^(?:proxy-[^:]*|connection|keep-alive)\s*:/i;

function readRequest(head: string): ProxyRequest | null {
  const [first = "", ...fields] = head.split("\r\n");
  const tunnel = /^CONNECT ([^\s:@/]+):(\d{1,5}) HTTP\/1\.[01]$/.exec(first);
  if (tunnel) return requestTo(tunnel[1] ?? "", Number(tunnel[2]), null);
  const [, method, target = "", version] = /^([A-Z]+) (http:\/\/\S+) HTTP\/(1\.[01])$/.exec(first) ?? [];
  const url = URL.parse(target);
  if (!url || !method || url.username || url.password) return null;
  // one request per connection: the next one may be for another host
  const kept = fields.filter((field) => !HOP_BY_HOP.test(field));
  const lines = [`${method} ${url.pathname}${url.search} HTTP/${version}`, ...kept, "Connection: close"];
  return requestTo(url.hostname, Number(url.port) || 80, `${lines.join("\r\n")}\r\n\r\n`);
}

function requestTo(host: string, port: number, head: string | null): ProxyRequest | null {
  return port > 0 && port < 65_536 ? { host, port, head } : null;
}

/** Whether an IPv4 address is closed to sandboxes, or this machine's own. */
function isClosed(address: string): boolean {
  const parsed = ipaddr.IPv4.parse(address);
  if (CLOSED_IPV4.some((range) => parsed.match(ipaddr.IPv4.parseCIDR(range)))) return true;
  return Object.values(networkInterfaces()).some((own) => own?.some((entry) => entry.address === address));
}

async function resolveHost(host: string): Promise<string[]> {
  const answers = lookup(host, { all: true });
  const late = new Promise<never>((_, reject) => {
    setTimeout(() => reject(new Error("timed out")), RESOLVE_MS).unref();
  });
  return (await Promise.race([answers, late])).map(({ address }) => address);
}

function refuse(client: Socket, status: number, message: string): void {
  if (client.destroyed) return;
  const body = `svc: ${message}\n`;
  client.end(
    `HTTP/1.1 ${status} ${REASONS[status] ?? "Error"}\r\nContent-Type: text/plain; charset=utf-8\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

const REASONS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  408: "Request Timeout",
  502: "Bad Gateway",
};
