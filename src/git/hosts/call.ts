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

/** `answer` is the body's JSON; null when it is invalid or too large. */
export interface HostAnswer {
  status: number;
  answer: unknown;
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
  return { status: response.status, answer: parseJson(await readAtMost(response, call.maxBytes)) };
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
