import { type Field, tokensOf } from "./fields.ts";
import type { RequestHead } from "./head.ts";

/** The changes to a request's head when it is forwarded. */
export interface Rewriting {
  /** Replaces the request's target. */
  target?: string;
  /** The value to forward for a field; null removes it. Not called for hop-by-hop fields. */
  value(field: Field): string | null;
  /** Fields to append. Values must not contain line breaks. */
  add: readonly (readonly [name: string, value: string])[];
}

/** Hop-by-hop fields (RFC 9110, 7.6.1); h2c would carry requests past every check. */
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
/** Forwarded whatever `Connection` names: both ends must agree about where the body ends. */
const OF_THE_FRAMING: ReadonlySet<string> = new Set(["content-length", "transfer-encoding"]);

/** Builds the head (latin1) of a forwarded request. Of the upgrades, only WebSocket is forwarded. */
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
