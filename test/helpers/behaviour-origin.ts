import { createHash } from "node:crypto";
import http from "node:http";
import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";

/** What the origin has received; served at `/seen`. */
export interface Seen {
  /** Paths whose client disconnected before the end of the response. */
  gone: string[];
  /** Bytes that it could write to `/endless` so far. */
  written: number;
}

/** Answered plainly, compressed and not. */
export const TEXT = "the quick brown fox ".repeat(200);

/**
 * An origin that does what proxies get wrong, one path for each. `first` may answer a request instead.
 * It runs in the test's process, or as a program of its own.
 */
export function createOrigin(
  first: (request: http.IncomingMessage, response: http.ServerResponse) => boolean = () => false,
): http.Server {
  const seen: Seen = { gone: [], written: 0 };
  const server = http.createServer({ requestTimeout: 0, keepAliveTimeout: 60_000 }, (request, response) => {
    if (first(request, response)) return;
    const url = new URL(request.url ?? "/", "http://origin");
    response.on("close", () => {
      if (!response.writableFinished) seen.gone.push(url.pathname);
    });
    const answer = ANSWERS[url.pathname];
    if (url.pathname === "/seen") response.end(JSON.stringify(seen));
    else if (answer) answer(request, response, url, seen);
    else response.writeHead(404).end("no such path");
  });
  server.on("checkContinue", (request, response) => {
    if (request.url?.startsWith("/refuses"))
      response.writeHead(413, { Connection: "close" }).end("too large");
    else {
      response.writeContinue();
      server.emit("request", request, response);
    }
  });
  server.on("upgrade", upgrade);
  return server;
}

type Handler = (request: http.IncomingMessage, response: http.ServerResponse, url: URL, seen: Seen) => void;

const ANSWERS: Readonly<Record<string, Handler>> = {
  "/": (_, response) => void response.end("ok"),
  // the daemon identifies the agent runtime by these
  "/global/health": (_, response) => sendJson(response, { healthy: true }),
  "/config": (_, response) => sendJson(response, {}),
  "/echo": (request, response) => {
    response.writeHead(200, { "Content-Type": "application/octet-stream" });
    request.pipe(response);
  },
  "/headers": (request, response) => {
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ method: request.method, url: request.url, raw: request.rawHeaders }));
  },
  "/sse": (_, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.flushHeaders();
  },
  "/heartbeat": (_, response, url) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.flushHeaders();
    const beat = () => response.write("data: beat\n\n");
    if (url.searchParams.has("first")) beat();
    const timer = setInterval(beat, Number(url.searchParams.get("ms")));
    response.on("close", () => clearInterval(timer));
  },
  "/silent": (_, response, url) => {
    const timer = setTimeout(() => response.end("at last"), Number(url.searchParams.get("ms")));
    response.on("close", () => clearTimeout(timer));
  },
  "/gzip": (_, response) => {
    response.writeHead(200, { "Content-Encoding": "gzip", "Content-Type": "text/plain" });
    response.end(gzipSync(TEXT));
  },
  "/length": (_, response) => {
    response.writeHead(200, { "Content-Length": String(TEXT.length), ETag: '"x"' });
    response.end(TEXT);
  },
  "/no-content": (_, response) => void response.writeHead(204).end(),
  "/not-modified": (_, response) => void response.writeHead(304, { ETag: '"x"' }).end(),
  "/redirect": (_, response) =>
    void response.writeHead(302, { Location: "/elsewhere", "Set-Cookie": ["a=1", "b=2"] }).end("moved"),
  "/download": (_, response, url) => {
    const bytes = Number(url.searchParams.get("bytes"));
    response.writeHead(200, { "Content-Length": String(bytes) });
    pour(response, bytes, () => {});
  },
  "/endless": (_, response, __, seen) => {
    seen.written = 0;
    pour(response, Number.POSITIVE_INFINITY, (bytes) => {
      seen.written += bytes;
    });
  },
  "/upload": (request, response) => {
    const hash = createHash("sha256");
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      hash.update(chunk);
      bytes += chunk.length;
    });
    request.on("end", () => response.end(JSON.stringify({ bytes, sha256: hash.digest("hex") })));
  },
  /** Responds to each chunk at once with its length on a line. */
  "/chunks": (request, response) => {
    response.writeHead(200);
    response.flushHeaders();
    request.on("data", (chunk: Buffer) => response.write(`${chunk.length}\n`));
    request.on("end", () => response.end("end\n"));
  },
  "/trailers": (_, response) => {
    response.writeHead(200, { Trailer: "X-End" });
    response.write("body");
    response.addTrailers({ "X-End": "yes" });
    response.end();
  },
  "/chunked": (_, response) => {
    response.write("one,");
    setTimeout(() => response.end("two"), 50);
  },
  "/until-close": (_, response) => {
    response.socket?.end("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall there is");
  },
  "/truncated": (_, response) => {
    response.writeHead(200, { "Content-Length": "10" });
    response.write("12345", () => setTimeout(() => response.destroy(), 50));
  },
  "/truncated-chunks": (_, response) => {
    response.write("12345", () => setTimeout(() => response.destroy(), 50));
  },
};

function sendJson(response: http.ServerResponse, body: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(body));
}

const PIECE = Buffer.alloc(256 * 1024, "x");

function pour(response: http.ServerResponse, bytes: number, onWritten: (bytes: number) => void): void {
  let left = bytes;
  const go = () => {
    while (left > 0 && !response.destroyed) {
      const piece = left < PIECE.length ? PIECE.subarray(0, left) : PIECE;
      left -= piece.length;
      onWritten(piece.length);
      if (!response.write(piece)) {
        response.once("drain", go);
        return;
      }
    }
    if (left <= 0) response.end();
  };
  go();
}

/** A handmade WebSocket (RFC 6455), frame by frame, so that no library corrects anything. */
function upgrade(request: http.IncomingMessage, stream: unknown, rest: Buffer): void {
  const socket = stream as Socket;
  socket.on("error", () => {});
  const path = request.url?.split("?")[0];
  if (path === "/ws/refused") {
    socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno");
    return;
  }
  const key = request.headers["sec-websocket-key"] ?? "";
  const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
  const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const chosen = offered.at(-1);
  socket.write(
    [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${accept}`,
      ...(chosen ? [`Sec-WebSocket-Protocol: ${chosen}`] : []),
      "X-Origin: kept",
      "\r\n",
    ].join("\r\n"),
  );
  if (path === "/ws/first") socket.write(frame(1, Buffer.from("server first")));
  if (path === "/ws/ping") socket.write(frame(9, Buffer.from("are you there")));
  let inbox = rest;
  const read = () => {
    for (let parsed = unframe(inbox); parsed; parsed = unframe(inbox)) {
      inbox = parsed.rest;
      if (parsed.opcode === 8 || parsed.payload.toString() === "close 4001") {
        socket.end(frame(8, parsed.opcode === 8 ? parsed.payload : closePayload(4001, "as asked")));
        return;
      }
      if (parsed.opcode === 10) socket.write(frame(1, Buffer.concat([Buffer.from("pong "), parsed.payload])));
      else if (parsed.opcode === 9) socket.write(frame(10, parsed.payload));
      else socket.write(frame(parsed.opcode, parsed.payload));
    }
  };
  socket.on("data", (bytes: Buffer) => {
    inbox = Buffer.concat([inbox, bytes]);
    read();
  });
  read();
}

function closePayload(code: number, reason: string): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(code);
  return Buffer.concat([bytes, Buffer.from(reason)]);
}

function frame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? Buffer.from([0x80 | opcode, length]) : Buffer.alloc(4);
  if (length >= 126) {
    head[0] = 0x80 | opcode;
    head[1] = 126;
    head.writeUInt16BE(length, 2);
  }
  return Buffer.concat([head, payload]);
}

/** A masked frame of at most 64 KiB; null while it is incomplete. */
function unframe(bytes: Buffer): { opcode: number; payload: Buffer; rest: Buffer } | null {
  if (bytes.length < 6) return null;
  const short = (bytes[1] ?? 0) & 127;
  const at = short === 126 ? 4 : 2;
  const length = short === 126 ? bytes.readUInt16BE(2) : short;
  if (bytes.length < at + 4 + length) return null;
  const mask = bytes.subarray(at, at + 4);
  const payload = Buffer.from(bytes.subarray(at + 4, at + 4 + length)).map(
    (byte, index) => byte ^ (mask[index % 4] ?? 0),
  );
  return {
    opcode: (bytes[0] ?? 0) & 15,
    payload: Buffer.from(payload),
    rest: bytes.subarray(at + 4 + length),
  };
}
