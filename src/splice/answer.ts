/** A response that svc writes itself, without an upstream. */
export interface Answer {
  status: number;
  headers?: Readonly<Record<string, string>>;
  body?: Uint8Array | string;
}

/** A response that svc writes itself, piece by piece. */
export interface Streamed {
  status: number;
  headers: Readonly<Record<string, string>>;
  /**
   * Writes the body, which ends when it resolves; if it rejects, the response is cut off.
   * @param write the bytes may be changed afterwards. @returns null, or a promise if the client reads more slowly
   */
  pump(write: (bytes: Uint8Array) => Promise<void> | null): Promise<void>;
}

const REASONS: Readonly<Record<number, string>> = {
  200: "OK",
  202: "Accepted",
  303: "See Other",
  400: "Bad Request",
  401: "Unauthorized",
  402: "Payment Required",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  413: "Content Too Large",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  505: "HTTP Version Not Supported",
};

/** Encodes the head of a streamed response. HTTP/1.0 has no chunks: the end of the connection ends it. */
export function writeStreamHead(
  { status, headers }: Pick<Streamed, "status" | "headers">,
  { keepAlive, chunked }: { keepAlive: boolean; chunked: boolean },
): string {
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? ""}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(chunked ? ["Transfer-Encoding: chunked"] : []),
    `Date: ${new Date().toUTCString()}`,
    `Connection: ${keepAlive ? "keep-alive" : "close"}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Encodes a response; a HEAD request gets the head only. */
export function writeAnswer(
  answer: Answer,
  { keepAlive, head }: { keepAlive: boolean; head: boolean },
): Uint8Array {
  const body = Buffer.from(answer.body ?? "");
  const lines = [
    `HTTP/1.1 ${answer.status} ${REASONS[answer.status] ?? ""}`,
    ...Object.entries(answer.headers ?? {}).map(([name, value]) => `${name}: ${value}`),
    `Content-Length: ${body.length}`,
    `Date: ${new Date().toUTCString()}`,
    `Connection: ${keepAlive ? "keep-alive" : "close"}`,
  ];
  const bytes = Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
  return head ? bytes : Buffer.concat([bytes, body]);
}
