import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type http from "node:http";
import net from "node:net";
import { gunzipSync } from "node:zlib";
import { createOrigin, type Seen, TEXT } from "./behaviour-origin.ts";
import { share } from "./random.ts";
import { until } from "./until.ts";
import { openWebSocket } from "./websocket.ts";

/** A way through one or more proxies to the suite's origin. */
export interface Way extends AsyncDisposable {
  /** `http://127.0.0.1:<port><prefix>`, without a slash at the end: the rest is the origin's path. */
  base: string;
  /** Headers that authorize a request; created for each request, since they may expire. */
  headers(method: string, target: string): Record<string, string>;
  /** Processes of the proxies, whose memory must stay constant; none if they run in the test's process. */
  processes: number[];
  /** The status while the origin is down; 502 by default. */
  down?: number;
}

const MIB = 1024 * 1024;
/** Allowed growth of a proxy's memory for a large body: socket buffers, and uncollected garbage. */
const FLAT_BYTES = 96 * MIB;
/** Longer than the idle limits that servers commonly have (10 s in Bun). */
const QUIET_MS = 11_000;
const BRIEF_QUIET_MS = 500;
/** A transfer that has not grown for this time is blocked. */
const STEADY_MS = 500;
/** Far more than a proxy may grow by; in full a gigabyte. */
const LARGE_MIB = share(256, 1024);
const BRIEF_MIB = 32;

/**
 * Registers the tests of what a reverse proxy has to get right: one suite for every proxy of svc's. It starts an origin
 * on loopback, and stops and starts it again.
 * @param open makes the way to the origin, given the origin's port on 127.0.0.1
 * @param brief less of what takes long (a large body, quiet streams): for a second way through the same proxy
 */
export function testProxyBehaviour(
  open: (originPort: number) => Promise<Way>,
  { brief = false }: { brief?: boolean } = {},
): void {
  let origin: http.Server;
  let port = 0;
  let way: Way;
  const [mib, quietMs] = brief ? [BRIEF_MIB, BRIEF_QUIET_MS] : [LARGE_MIB, QUIET_MS];

  beforeAll(async () => {
    port = await start(0);
    way = await open(port);
  });
  afterAll(async () => {
    await way?.[Symbol.asyncDispose]();
    stop();
  });

  async function start(at: number): Promise<number> {
    origin = createOrigin();
    await new Promise<void>((done, fail) => origin.once("error", fail).listen(at, "127.0.0.1", done));
    const address = origin.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  function stop(): void {
    origin.close();
    origin.closeAllConnections();
  }

  const get = (path: string, lines: string[] = []) => ask("GET", path, ["Connection: close", ...lines]);
  const seen = async (): Promise<Seen> => JSON.parse(bodyOf(await (await get("/seen")).ended));

  /** Sends a request's head and what follows, unchanged. */
  async function ask(method: string, path: string, lines: string[] = [], rest = ""): Promise<Wire> {
    const { hostname, port, host, pathname } = new URL(way.base);
    const wire = await connect(hostname, Number(port));
    const target = `${pathname === "/" ? "" : pathname}${path}`;
    const fields = Object.entries(way.headers(method, target)).map(([name, value]) => `${name}: ${value}`);
    const head = [`${method} ${target} HTTP/1.1`, `Host: ${host}`, ...fields, ...lines];
    wire.write(`${head.join("\r\n")}\r\n\r\n${rest}`);
    return wire;
  }

  test("an event stream's head comes before its first event", async () => {
    const wire = await ask("GET", "/sse");
    await until("the head is there", () =>
      /200 OK[\s\S]*text\/event-stream[\s\S]*\r\n\r\n/.test(wire.text()),
    );
    wire.destroy();
  });

  test("keeps idle connections: streams with rare events, slow responses", async () => {
    // at once: quiet before the first event, quiet after one, quiet before the answer
    const before = await ask("GET", `/heartbeat?ms=${quietMs}`);
    const after = await ask("GET", `/heartbeat?ms=${quietMs}&first=1`);
    const silent = await get(`/silent?ms=${quietMs}`);
    expect(bodyOf(await silent.ended)).toBe("at last");
    const beats = (wire: Wire) => wire.text().split("data: beat").length - 1;
    await until("they beat", () => beats(before) >= 1 && beats(after) >= 2);
    expect([before.isClosed(), after.isClosed()]).toEqual([false, false]);
    before.destroy();
    after.destroy();
  });

  test("forwards a compressed response unchanged", async () => {
    const text = await (await get("/gzip", ["Accept-Encoding: gzip"])).ended;
    expect(text.toLowerCase()).toContain("content-encoding: gzip");
    expect(gunzipSync(Buffer.from(bodyOf(text), "latin1")).toString()).toBe(TEXT);
  });

  test("forwards responses without a body, and their lengths", async () => {
    const whole = await (await get("/length")).ended;
    expect(whole).toMatch(new RegExp(`content-length: ${TEXT.length}\r\n`, "i"));
    expect(bodyOf(whole)).toBe(TEXT);
    const head = await (await ask("HEAD", "/length", ["Connection: close"])).ended;
    expect(head).toMatch(new RegExp(`content-length: ${TEXT.length}\r\n`, "i"));
    expect(bodyOf(head)).toBe("");
    // the next answer on the connection is read as the next
    for (const [method, path, status] of [
      ["HEAD", "/length", 200],
      ["GET", "/no-content", 204],
      ["GET", "/not-modified", 304],
    ] as const) {
      const wire = await ask(method, path);
      await until(`${path} is answered`, () => wire.text().includes("\r\n\r\n"));
      expect(wire.text()).toStartWith(`HTTP/1.1 ${status} `);
      const before = wire.text().length;
      wire.write(await headOf("/"));
      await until("and the next", () => bodyOf(wire.text().slice(before)) === "ok");
      wire.destroy();
    }
  });

  test("forwards a redirect, with both of its cookies", async () => {
    const text = await (await get("/redirect")).ended;
    expect(text).toStartWith("HTTP/1.1 302 ");
    expect(text).toContain("Location: /elsewhere\r\n");
    expect(text.match(/^Set-Cookie: .*$/gim)?.map((line) => line.trim())).toEqual([
      "Set-Cookie: a=1",
      "Set-Cookie: b=2",
    ]);
  });

  test("forwards request headers unchanged: repeated, in order, with their case", async () => {
    const text = await (await get("/headers?q=1&q=2", ["X-Mixed: 1", "x-mixed: 2", "Cookie: a=b; c=d"]))
      .ended;
    const { url, raw }: { url: string; raw: string[] } = JSON.parse(jsonIn(text));
    expect(url).toBe("/headers?q=1&q=2");
    const at = raw.indexOf("X-Mixed");
    expect(raw.slice(at, at + 6)).toEqual(["X-Mixed", "1", "x-mixed", "2", "Cookie", "a=b; c=d"]);
  });

  test.each([
    ["quiet", "/sse", true],
    ["in the middle of its answer", "/endless", true],
    ["before its answer began", "/silent?ms=60000", false],
  ])("closes the connection to the origin when the client disconnects: %s", async (_, path, isAnswered) => {
    const wire = await ask("GET", path);
    if (isAnswered) await until("it is answered", () => wire.text().includes("200 OK"));
    else await Bun.sleep(200);
    wire.destroy();
    const place = path.split("?")[0] ?? "";
    await until("the origin knows", async () => (await seen()).gone.includes(place));
  });

  test("a slow reader applies backpressure to the origin, without buffering", async () => {
    const before = memoryOf(way.processes);
    const wire = await ask("GET", "/endless");
    await until("it is answered", () => wire.text().includes("200 OK"));
    wire.pause();
    let written = -1;
    const look = async () => {
      const last = written;
      await Bun.sleep(STEADY_MS);
      written = (await seen()).written;
      return written === last;
    };
    await until("the origin waits", look);
    expect(written).toBeLessThan(64 * MIB);
    expect(memoryOf(way.processes) - before).toBeLessThan(FLAT_BYTES);
    wire.destroy();
  });

  test(`forwards ${mib} MiB down and up in constant memory`, async () => {
    const before = memoryOf(way.processes);
    const url = `${way.base}/download?bytes=${mib * MIB}`;
    const down = await fetch(url, { headers: way.headers("GET", new URL(url).pathname) });
    let received = 0;
    for await (const piece of down.body ?? []) received += piece.length;
    expect(received).toBe(mib * MIB);
    const hash = createHash("sha256");
    const piece = Buffer.alloc(MIB, "y");
    let sent = 0;
    const wire = await ask("POST", "/upload", [`Content-Length: ${mib * MIB}`, "Connection: close"]);
    while (sent < mib * MIB) {
      hash.update(piece);
      sent += piece.length;
      await wire.send(piece);
    }
    expect(JSON.parse(jsonIn(await wire.ended))).toEqual({ bytes: sent, sha256: hash.digest("hex") });
    expect(memoryOf(way.processes) - before).toBeLessThan(FLAT_BYTES);
  });

  test("forwards an upload in pieces, and its response during the upload", async () => {
    const wire = await ask("POST", "/chunks", ["Transfer-Encoding: chunked", "Connection: close"]);
    for (const piece of ["hello", "to everybody"]) {
      wire.write(`${piece.length.toString(16)}\r\n${piece}\r\n`);
      await until(`${piece} is answered`, () => wire.text().includes(`${piece.length}\n`));
    }
    wire.write("0\r\n\r\n");
    expect(await wire.ended).toContain("end\n");
  });

  test("forwards Expect: 100-continue, and the continue or rejection", async () => {
    const lines = ["Content-Length: 5", "Expect: 100-continue", "Connection: close"];
    const wire = await ask("POST", "/echo", lines);
    await until("it may go on", () => wire.text().startsWith("HTTP/1.1 100 "));
    wire.write("hello");
    expect(await wire.ended).toContain("hello");
    const refused = await ask("POST", "/refuses", lines);
    await until("it is refused", () => refused.text().includes("HTTP/1.1 413 "));
    refused.destroy();
  });

  test("trailers are kept", async () => {
    expect(await (await get("/trailers")).ended).toMatch(/body\r\n0\r\nX-End: yes\r\n\r\n$/i);
  });

  test("does not complete a truncated response", async () => {
    const counted = await (await get("/truncated")).ended;
    expect(counted).toMatch(/content-length: 10\r\n/i);
    expect(bodyOf(counted)).toBe("12345");
    const chunked = await (await get("/truncated-chunks")).ended;
    expect(chunked).toContain("12345");
    expect(chunked).not.toMatch(/\r\n0\r\n\r\n$/);
  });

  test("a response without a length stays one", async () => {
    const chunked = await (await get("/chunked")).ended;
    expect(chunked).toMatch(/transfer-encoding: chunked\r\n/i);
    expect(chunked).not.toMatch(/content-length/i);
    expect(bodyOf(await (await get("/until-close")).ended)).toBe("all there is");
  });

  test("answers the requests of one connection in order", async () => {
    const wire = await ask("GET", "/headers?n=0");
    for (let n = 1; n < 20; n++) wire.write(await headOf(`/headers?n=${n}`));
    const answered = () => [...wire.text().matchAll(/"url":"\/headers\?n=(\d+)"/g)].map(([, n]) => Number(n));
    await until("all are answered", () => answered().length === 20);
    expect(answered()).toEqual(Array.from({ length: 20 }, (_, n) => n));
    wire.destroy();
  });

  /** The head of a plain request, for a connection that is there. */
  async function headOf(path: string): Promise<string> {
    const { host, pathname } = new URL(way.base);
    const target = `${pathname === "/" ? "" : pathname}${path}`;
    const fields = Object.entries(way.headers("GET", target)).map(([name, value]) => `${name}: ${value}\r\n`);
    return `GET ${target} HTTP/1.1\r\nHost: ${host}\r\n${fields.join("")}\r\n`;
  }

  const socket = async (path: string, protocols: string[] = []) => {
    const { pathname } = new URL(way.base + path);
    const made = openWebSocket(way.base + path, way.headers("GET", pathname), protocols);
    const messages: string[] = [];
    made.addEventListener("message", ({ data }) => messages.push(String(data)));
    const closed = new Promise<{ code: number; reason: string }>((done) =>
      made.addEventListener("close", ({ code, reason }) => done({ code, reason })),
    );
    return { made, messages, closed };
  };

  test("a WebSocket: echo, a first message from the server, pings, its protocol, its close code", async () => {
    const first = await socket("/ws/first", ["one", "two"]);
    await until("the server's first word", () => first.messages.includes("server first"));
    expect(first.made.protocol).toBe("two");
    for (const text of ["hello", "x".repeat(10_000)]) {
      first.made.send(text);
      await until("the echo", () => first.messages.includes(text));
    }
    first.made.send("close 4001");
    expect(await first.closed).toMatchObject({ code: 4001, reason: "as asked" });
    const ping = await socket("/ws/ping");
    await until("the client's pong arrives", () => ping.messages.includes("pong are you there"));
    ping.made.close(4002, "enough");
    expect(await ping.closed).toMatchObject({ code: 4002 });
  });

  const UPGRADE = [
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];

  test("forwards the origin's response to a WebSocket, also a rejection", async () => {
    const made = await ask("GET", "/ws", UPGRADE);
    await until("it is one", () => made.text().includes("\r\n\r\n"));
    expect(made.text()).toStartWith("HTTP/1.1 101 ");
    expect(made.text()).toContain("X-Origin: kept\r\n");
    expect(made.text()).toContain("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    made.destroy();
    const refused = await (await ask("GET", "/ws/refused", UPGRADE)).ended;
    expect(refused).toStartWith("HTTP/1.1 403 ");
    expect(bodyOf(refused)).toBe("no");
  });

  test("reports an origin that is down, and reconnects once it is up", async () => {
    const kept = await ask("GET", "/");
    await until("it is answered", () => kept.text().endsWith("ok"));
    stop();
    const down = await (await get("/")).ended;
    expect(down).toStartWith(`HTTP/1.1 ${way.down ?? 502} `);
    expect(JSON.parse(jsonIn(down))).toMatchObject({ error: expect.any(String), code: expect.any(String) });
    await start(port);
    expect(bodyOf(await (await get("/")).ended)).toBe("ok");
    // the kept connection to the origin is closed, and the client does not notice
    if (!kept.isClosed()) {
      const before = kept.text().length;
      kept.write(await headOf("/"));
      await until("it is answered again", () => kept.text().slice(before).endsWith("ok"));
    }
    kept.destroy();
  });
}

/** A connection whose bytes are all recorded. */
interface Wire {
  write(text: string): void;
  /** Sends a large amount; settles when more may be sent. */
  send(bytes: Buffer): Promise<void>;
  /** Received so far; each character is a byte. */
  text(): string;
  /** Everything received, once the connection is closed. */
  ended: Promise<string>;
  isClosed(): boolean;
  pause(): void;
  destroy(): void;
}

async function connect(hostname: string, port: number): Promise<Wire> {
  const socket = net.connect(port, hostname);
  let text = "";
  let isClosed = false;
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  socket.on("data", (bytes: Buffer) => {
    // an endless response is not stored
    if (text.length < MIB) text += bytes.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
    resolve(text);
  });
  await new Promise<void>((done) => socket.once("connect", done));
  return {
    write: (bytes) => void socket.write(bytes, "latin1"),
    async send(bytes) {
      if (socket.write(bytes)) return;
      const { promise, resolve: go } = Promise.withResolvers<void>();
      socket.once("drain", go).once("close", go);
      await promise;
      socket.off("drain", go).off("close", go);
    },
    text: () => text,
    ended,
    isClosed: () => isClosed,
    pause: () => void socket.pause(),
    destroy: () => void socket.destroy(),
  };
}

/** The body of the last answer in these bytes, without the framing of chunks. */
function bodyOf(text: string): string {
  const at = text.indexOf("\r\n\r\n");
  const [head, body] = [text.slice(0, at), text.slice(at + 4)];
  if (!/transfer-encoding: chunked/i.test(head)) return body;
  let [out, rest] = ["", body];
  for (let size = /^([0-9a-f]+)\r\n/i.exec(rest); size; size = /^([0-9a-f]+)\r\n/i.exec(rest)) {
    const length = Number.parseInt(size[1] ?? "0", 16);
    if (length === 0) break;
    out += rest.slice(size[0].length, size[0].length + length);
    rest = rest.slice(size[0].length + length + 2);
  }
  return out;
}

function jsonIn(text: string): string {
  const body = bodyOf(text);
  return body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1);
}

/** The most memory that processes have had so far, in bytes. */
function memoryOf(pids: number[]): number {
  const peaks = pids.map((pid) => /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  return peaks.reduce((sum, peak) => sum + Number(peak ?? 0) * 1024, 0);
}
