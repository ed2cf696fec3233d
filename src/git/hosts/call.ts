import { parseJson } from "../../contract/json.ts";
import { VERSION } from "../../contract/version.ts";

export interface HostCall {
  method: "GET" | "POST";
  url: string;
  headers: Record<string, string>;
  body: object | null;
  /** The address to connect to; null resolves the host. */
  address: string | null;
  /** The most bytes of the answer's body; a larger one is ignored. */
  maxBytes: number;
  signal: AbortSignal;
}

/** `answer` is the body's JSON; null when it is invalid or too large. `retryMs`: the host asks to wait so long. */
export interface HostAnswer {
  status: number;
  answer: unknown;
  retryMs: number | null;
}

/**
 * Calls a git host's API. Does not follow redirects: the token is for this host only.
 * @throws errors of the network; their messages may contain the URL, but not the token
 */
export async function callHost(call: HostCall): Promise<HostAnswer> {
  const url = new URL(call.url);
  // refuses parts that the URL parser would change
  if (url.href !== call.url) throw new TypeError("a part of the API's path is not encoded");
  const response = await fetch(call.address === null ? url : withAddress(url, call.address), {
    method: call.method,
    headers: {
      ...call.headers,
      "User-Agent": `svc/${VERSION}`,
      "Accept-Encoding": "identity",
      ...(call.address === null ? {} : { Host: url.host }),
      ...(call.body && { "Content-Type": "application/json" }),
    },
    ...(call.body && { body: JSON.stringify(call.body) }),
    ...(call.address !== null && url.protocol === "https:" && { tls: { serverName: url.hostname } }),
    redirect: "manual",
    decompress: false,
    // a reused connection may belong to another name at the same address
    keepalive: false,
    signal: call.signal,
  });
  const answer = parseJson(await readAtMost(response, call.maxBytes));
  return { status: response.status, answer, retryMs: retryMsOf(response) };
}

/**
 * Reads `Retry-After` (RFC 9110, 10.2.3) in seconds, and the rate limits of GitHub, which answers 403 or 429 when none is
 * left until the time of a header.
 */
function retryMsOf({ status, headers }: Response): number | null {
  if (status < 400) return null;
  const seconds = numberOf(headers.get("retry-after"));
  if (seconds !== null) return seconds * 1000;
  if (headers.get("x-ratelimit-remaining") !== "0") return null;
  const reset = numberOf(headers.get("x-ratelimit-reset"));
  return reset === null ? null : Math.max(0, reset * 1000 - Date.now());
}

function numberOf(header: string | null): number | null {
  return header !== null && /^\d{1,12}$/.test(header) ? Number(header) : null;
}

function withAddress(url: URL, address: string): URL {
  const pinned = new URL(url);
  pinned.hostname = address.includes(":") ? `[${address}]` : address;
  return pinned;
}

async function readAtMost(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > maxBytes) return "";
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}
