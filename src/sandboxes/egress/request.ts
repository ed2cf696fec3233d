import { readHost } from "../../contract/egress/policy.ts";
import { type Framing, readRequestHead } from "../../splice/head.ts";

/** A request to the proxy. */
export interface ProxyRequest {
  /** In the form of `readHost`. */
  host: string;
  port: number;
  /** Null for CONNECT. */
  forward: {
    /** The head to forward, as latin1. */
    head: string;
    framing: Framing;
  } | null;
}

/** Fields that a proxy does not forward (RFC 9110, 7.6.1), and the host, which the target replaces (RFC 9112, 3.2.2). */
const NOT_FORWARDED = /^(?:proxy-.*|connection|keep-alive|host)$/;

/**
 * Reads the head of a request: CONNECT with a host and a port, or an absolute `http:` target. As strict as all of svc's
 * reading of heads, so that the next server cannot read another host in it.
 * @param head with its blank line
 * @returns null when it is neither
 */
export function readRequest(head: Buffer): ProxyRequest | null {
  const end = head.indexOf("\r\n");
  const first = head.toString("latin1", 0, end);
  const tunnel = /^CONNECT ([^\s:@/]+):([1-9]\d{0,4}) HTTP\/1\.[01]$/.exec(first);
  if (tunnel) return requestTo(tunnel[1] ?? "", Number(tunnel[2]), null);
  const [, method = "", target = ""] = /^([A-Z]+) (http:\/\/[\x21-\x7e]+) HTTP\/1\.[01]$/.exec(first) ?? [];
  const url = URL.parse(target);
  if (!url || url.username || url.password) return null;
  const path = `${url.pathname}${url.search}`;
  try {
    const { fields, framing } = readRequestHead(
      Buffer.concat([Buffer.from(`${method} ${path} HTTP/1.1`, "latin1"), head.subarray(end)]),
    );
    const named = new Set(
      fields.flatMap(({ key, value }) => (key === "connection" ? value.toLowerCase().split(/[\s,]+/) : [])),
    );
    // one request per connection: the next one may be for another host
    const lines = [
      `${method} ${path} HTTP/1.1`,
      `Host: ${url.host}`,
      ...fields
        .filter(({ key }) => !NOT_FORWARDED.test(key) && !named.has(key))
        .map(({ name, value }) => `${name}: ${value}`),
      "Connection: close",
    ];
    return requestTo(url.hostname, Number(url.port) || 80, {
      head: `${lines.join("\r\n")}\r\n\r\n`,
      framing,
    });
  } catch {
    return null;
  }
}

function requestTo(written: string, port: number, forward: ProxyRequest["forward"]): ProxyRequest | null {
  const host = readHost(written);
  return host !== null && port > 0 && port < 65_536 ? { host, port, forward } : null;
}
