import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import net from "node:net";
import { CONNECTION_LIMITS } from "../../src/splice/connection.ts";
import { type Listener, listen } from "../../src/splice/listen.ts";
import { until } from "../helpers/until.ts";

const MIB = 1024 * 1024;
/** What the kernel holds for a connection over loopback, on both ends, and the front's own reading ahead. */
const IN_FLIGHT_BYTES = 32 * MIB;
const ANSWER = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n";

let origin: net.Server;
let originPort: number;
let splice: Listener;
/** Bytes that came to the origin on each connection. */
let received: number[] = [];
/** The time of the listener, in milliseconds; null: it passes by itself. */
let frozen: number | null = null;
/** How often the listener has read it. */
let reads = 0;
function now(): number {
  reads++;
  return frozen ?? performance.now();
}
/** The newest bytes that came to it. */
let last = "";

beforeAll(async () => {
  origin = net.createServer((socket) => {
    const at = received.push(0) - 1;
    let isAsked = false;
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      received[at] = (received[at] ?? 0) + bytes.length;
      last = bytes.toString("latin1");
      if (isAsked) return;
      isAsked = true;
      const [, target = ""] = bytes.toString("latin1").split(" ");
      if (target === "/early-and-gone") socket.end(`${ANSWER}\r\nno`);
      if (target === "/early-and-closes") socket.end(`${ANSWER}Connection: close\r\n\r\nno`);
      if (target === "/early-and-stays") socket.write(`${ANSWER}\r\nno`);
      if (target === "/gone") socket.destroy();
    });
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const address = origin.address();
  originPort = typeof address === "object" && address ? address.port : 0;
  splice = listen(
    { hostname: "127.0.0.1", port: 0 },
    ({ target, method, fields }) => {
      if (target === "/collect") {
        return { maxBytes: 64 * MIB, handle: async (body) => ({ status: 200, body: `${body.length}` }) };
      }
      const lines = fields.map(({ name, value }) => `${name}: ${value}`);
      const head = `${[`${method} ${target} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`;
      const to = { hostname: "127.0.0.1", port: originPort };
      return target === "/bounded" ? { to, head, maxBytes: 1000 } : { to, head };
    },
    (status, message) => ({ status, body: message }),
    { ...CONNECTION_LIMITS, lingerMs: 500, sweepMs: 20, now },
  );
});

afterAll(async () => {
  await splice.stop(0);
  origin.close();
});

interface Sender {
  socket: net.Socket;
  seen(): string;
  isClosed(): boolean;
  /** Bytes that the other end has taken, or the kernel on the way. */
  taken(): number;
}

function send(target: string, framing: string, body = ""): Sender {
  const socket = net.connect(splice.port, "127.0.0.1");
  let seen = "";
  let isClosed = false;
  socket.on("data", (bytes) => {
    seen += bytes.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => {
    isClosed = true;
  });
  socket.write(`POST ${target} HTTP/1.1\r\nHost: a\r\n${framing}\r\n\r\n${body}`);
  return {
    socket,
    seen: () => seen,
    isClosed: () => isClosed,
    taken: () => socket.bytesWritten - socket.writableLength,
  };
}

/** Sends as fast as it can for as long as the connection lasts. */
async function flood({ socket, isClosed, taken }: Sender): Promise<void> {
  const piece = Buffer.alloc(MIB);
  await until("the connection ends", () => {
    while (!isClosed() && socket.writable && socket.writableLength < 8 * MIB && taken() < 512 * MIB)
      socket.write(piece);
    return isClosed();
  });
}

const ENDLESS = "Content-Length: 1000000000000";

test.each(["/early-and-gone", "/early-and-closes", "/early-and-stays"])(
  "a client that keeps sending after an early response gets it, and its connection ends: %s",
  async (target) => {
    received = [];
    pass(0);
    const sender = send(target, ENDLESS);
    await until("it is answered", () => sender.seen().endsWith("no"));
    run();
    await flood(sender);
    expect(sender.seen()).toStartWith("HTTP/1.1 413");
    expect(sender.taken()).toBeLessThan(IN_FLIGHT_BYTES);
    expect(Math.max(...received)).toBeLessThan(IN_FLIGHT_BYTES);
  },
);

test("a client gets 502 if the upstream is down, and its connection ends", async () => {
  const sender = send("/gone", ENDLESS);
  await flood(sender);
  expect(sender.seen()).toStartWith("HTTP/1.1 502");
  expect(sender.taken()).toBeLessThan(IN_FLIGHT_BYTES);
});

test("a small body that arrives after its response keeps the connection open", async () => {
  pass(0);
  const sender = send("/early-and-stays", "Content-Length: 5");
  await until("it is answered", () => sender.seen().endsWith("no"));
  sender.socket.write("12345GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
  await until("the next request passes", () => last.includes("GET /next HTTP/1.1"));
  sender.socket.destroy();
  run();
});

test.each([
  ["with a length", "Content-Length: 1001", ""],
  ["in chunks", "Transfer-Encoding: chunked", `3e8\r\n${"x".repeat(1000)}\r\n1\r\nx\r\n`],
])("rejects a body over the limit: %s", async (_, framing, body) => {
  const sender = send("/bounded", framing, body);
  await until("it is refused", () => sender.isClosed());
  expect(sender.seen()).toMatch(/^HTTP\/1\.1 413[\s\S]*larger than 1000 bytes/);
});

/** What a test says about time, the listener believes: no test waits for minutes, and no time passes meanwhile. */
function pass(seconds: number): void {
  frozen = (frozen ?? performance.now()) + seconds * 1000;
}

/** Lets time pass by itself again. */
function run(): void {
  frozen = null;
}

test("a clock of the day that jumps ends no connection", async () => {
  const idle = net.connect(splice.port, "127.0.0.1");
  try {
    await new Promise((resolve) => idle.once("connect", resolve));
    const begun = send("/silent", "Content-Length: 1000", "x");
    await until("it has passed", () => last.includes("GET /silent") || last.includes("POST /silent"));
    for (const hours of [2, -2]) {
      setSystemTime(new Date(Date.now() + hours * 3_600_000));
      const before = reads;
      await until("the listener has looked at its connections", () => reads >= before + 3);
      expect([hours, begun.isClosed(), idle.destroyed]).toEqual([hours, false, false]);
    }
    begun.socket.destroy();
  } finally {
    idle.destroy();
    setSystemTime();
    run();
  }
});

/** Waits until the listener has looked at all connections since now: one without a head is over by then. */
async function swept(seconds: number): Promise<void> {
  const canary = net.connect(splice.port, "127.0.0.1");
  let isOver = false;
  canary.on("close", () => {
    isOver = true;
  });
  canary.on("end", () => canary.end());
  await until("another connection is there", () => !canary.connecting);
  // the listener has it once it answers another that came later
  await fetch(`http://127.0.0.1:${splice.port}/early-and-gone`);
  pass(seconds);
  await until("it is over", () => isOver);
}

const HEAD_S = CONNECTION_LIMITS.headMs / 1000;
const RATE = CONNECTION_LIMITS.bodyRate;

describe("a body", () => {
  beforeEach(() => pass(0));
  afterEach(() => {
    run();
  });

  test.each(["/silent", "/collect"])("that does not arrive times out: %s", async (target) => {
    const sender = send(target, "Content-Length: 1000", "x");
    await swept(HEAD_S + 1);
    await until("it is given up", () => sender.isClosed());
    expect(sender.seen()).toMatch(/^HTTP\/1\.1 408[\s\S]*body of the request did not arrive/);
  });

  test.each(["/silent", "/collect"])("below the minimum rate times out: %s", async (target) => {
    const sender = send(target, `Content-Length: ${100 * RATE}`);
    for (let step = 0; step < 2; step++) {
      if (!sender.isClosed()) sender.socket.write(Buffer.alloc(RATE * (HEAD_S / 2)));
      await swept(HEAD_S + 1);
    }
    // no time passes any more; the client may learn of it a little later than the listener
    await until("it is given up", () => sender.isClosed());
    expect(sender.seen()).toMatch(/^HTTP\/1\.1 408/);
  });

  test.each(["/silent", "/collect"])(
    "at the minimum rate passes, however long it takes: %s",
    async (target) => {
      const piece = Buffer.alloc(RATE * (HEAD_S + 2));
      const steps = 8;
      received = [];
      const sender = send(target, `Content-Length: ${piece.length * (steps + 1)}`);
      for (let step = 0; step < steps; step++) {
        sender.socket.write(piece);
        await swept(HEAD_S + 1);
        expect([step, sender.seen(), sender.isClosed()]).toEqual([step, "", false]);
      }
      sender.socket.destroy();
    },
  );
});
