import { lookup } from "node:dns/promises";
import { connect, type Socket } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";
import { join } from "../../splice/relay.ts";
import { CLOSED_IPV4 } from "../closed-addresses.ts";

/** A head of a proxied request: browsers and git stay far below. */
const HEAD_MAX_BYTES = 64 * 1024;
/** For the head to arrive, which a client sends at once. */
const HEAD_MS = 30_000;
/** For a name to be resolved, and for the other side to accept. */
const RESOLVE_MS = 10_000;
const CONNECT_MS = 15_000;

export interface ProxyOptions {
  /** `host:port` of what the operator wants sandboxes to reach, wherever it is. */
  exceptions: readonly string[];
  /** For tests. */
  resolve?: (host: string) => Promise<string[]>;
}

/**
 * A proxy for sandboxes (RFC 9110, 9.3.6 CONNECT, and 9112, 3.2.2 absolute form): to the public internet by IPv4, and
 * nowhere else. The name is resolved here, every address of it is checked, and the connection goes to the one checked.
 * @returns what takes a connection
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

  async function pass(client: Socket, { host, port, passOn }: ProxyRequest, rest: Buffer): Promise<void> {
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
      if (passOn === null) client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      else other.write(Buffer.from(passOn, "latin1"));
      if (rest.length > 0) other.write(rest);
      join(client, other);
    });
  }

  /** @returns the address to connect to; `closed` when one that the name has may not be reached */
  async function addressOf(host: string, port: number): Promise<string | null> {
    const isException = exceptions.includes(`${host}:${port}`);
    const found = ipaddr.isValid(host) ? [host] : await resolve(host);
    if (isException) return found[0] ?? null;
    // IPv6 is closed, as with every provider; a name that has both is reached by IPv4
    const addresses = found.filter((address) => ipaddr.IPv4.isValidFourPartDecimal(address));
    if (found.length > 0 && addresses.length === 0) return "closed";
    return addresses.some(isClosed) ? "closed" : (addresses[0] ?? null);
  }
}

interface ProxyRequest {
  host: string;
  port: number;
  /** The head as it goes on; null: CONNECT. */
  passOn: string | null;
}

/** Fields that are between a client and its proxy alone (RFC 9110, 7.6.1). */
const HOP_BY_HOP = /^(?:proxy-[^:]*|connection|keep-alive)\s*:/i;

function readRequest(head: string): ProxyRequest | null {
  const [first = "", ...fields] = head.split("\r\n");
  const tunnel = /^CONNECT ([^\s:@/]+):(\d{1,5}) HTTP\/1\.[01]$/.exec(first);
  if (tunnel) return placed(tunnel[1] ?? "", Number(tunnel[2]), null);
  const [, method, target = "", version] = /^([A-Z]+) (http:\/\/\S+) HTTP\/(1\.[01])$/.exec(first) ?? [];
  const url = URL.parse(target);
  if (!url || !method || url.username || url.password) return null;
  // one request a connection: the next may be for another host
  const kept = fields.filter((field) => !HOP_BY_HOP.test(field));
  const lines = [`${method} ${url.pathname}${url.search} HTTP/${version}`, ...kept, "Connection: close"];
  return placed(url.hostname, Number(url.port) || 80, `${lines.join("\r\n")}\r\n\r\n`);
}

function placed(host: string, port: number, passOn: string | null): ProxyRequest | null {
  return port > 0 && port < 65_536 ? { host, port, passOn } : null;
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
    setTimeout(() => reject(new Error("too late")), RESOLVE_MS).unref();
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
