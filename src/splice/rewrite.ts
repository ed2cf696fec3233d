import { type Field, tokensOf } from "./fields.ts";
import type { RequestHead } from "./head.ts";

/** What of a request's head changes as it is passed on. */
export interface Rewriting {
  /** Takes the place of the request's own target. */
  target?: string;
  /** The value with which a field passes; null: it does not. Fields of the connection itself are not asked about. */
  value(field: Field): string | null;
  /** Fields of ours, after the others. No value may hold what ends a line. */
  add: readonly (readonly [name: string, value: string])[];
}

/** They are about one connection, and this is another (RFC 9110, 7.6.1); h2c would carry requests past every check. */
const OF_THE_CONNECTION: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "proxy-authenticate",
  "proxy-authorization",
  "http2-settings",
  "upgrade",
  "te",
]);
/** Both ends must agree about where the body ends, whatever `Connection` names. */
const OF_THE_FRAMING: ReadonlySet<string> = new Set(["content-length", "transfer-encoding"]);

/** The head by which a request goes on to whoever answers it, each character a byte. Of the protocols to change to, only WebSocket passes. */
export function rewriteRequestHead(head: RequestHead, { target, value, add }: Rewriting): string {
  const named = tokensOf(head.fields, "connection");
  const lines = [`${head.method} ${target ?? head.target} HTTP/${head.version}`];
  for (const field of head.fields) {
    if (OF_THE_CONNECTION.has(field.key)) continue;
    const isFraming = OF_THE_FRAMING.has(field.key);
    if (named.includes(field.key) && !isFraming) continue;
    const passed = isFraming ? field.value : value(field);
    if (passed !== null) lines.push(`${field.name}: ${passed}`);
  }
  for (const [name, text] of add) lines.push(`${name}: ${text}`);
  if (tokensOf(head.fields, "te").includes("trailers")) lines.push("TE: trailers");
  if (head.upgrade?.toLowerCase() === "websocket") lines.push("Upgrade: websocket", "Connection: Upgrade");
  else if (!head.keepAlive) lines.push("Connection: close");
  else if (head.version === "1.0") lines.push("Connection: keep-alive");
  return `${lines.join("\r\n")}\r\n\r\n`;
}
