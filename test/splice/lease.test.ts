import { afterAll, beforeAll, expect, test } from "bun:test";
import net from "node:net";
import type { Decision, Lease } from "../../src/splice/connection.ts";
import { type Listener, listen } from "../../src/splice/listen.ts";
import { rawRequest, sendRaw } from "../helpers/raw-http.ts";
import { until } from "../helpers/until.ts";

/** A lease, and what has happened to it. */
interface Watched extends Lease {
  begun: number;
  ended: number;
  cut(): void;
}

let origin: net.Server;
let splice: Listener;
let url: string;
let upstreams = 0;
let leases: Watched[] = [];
/** Called with the request that waits for a decision. */
let decideLate: ((decide: () => void) => void) | null = null;

beforeAll(async () => {
  origin = net.createServer((socket) => {
    upstreams++;
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const [, target = ""] = bytes.toString("latin1").split(" ");
      if (target === "/gone") socket.destroy();
      else if (target === "/endless") socket.write("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nbegins");
      else if (target === "/socket")
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nbegins",
        );
      else socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    });
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const address = origin.address();
  const port = typeof address === "object" && address ? address.port : 0;
  splice = listen(
    { hostname: "127.0.0.1", port: 0 },
    ({ target, method, upgrade }) => {
      const lines = upgrade === null ? [] : ["Connection: Upgrade", "Upgrade: websocket"];
      const head = `${[`${method} ${target} HTTP/1.1`, "Content-Length: 0", ...lines].join("\r\n")}\r\n\r\n`;
      const lease = watched();
      const decision: Decision = { to: { hostname: "127.0.0.1", port }, head, maxBytes: 10, lease };
      if (target !== "/late") return decision;
      const { promise, resolve } = Promise.withResolvers<Decision>();
      decideLate?.(() => resolve(decision));
      return promise;
    },
    (status, message) => ({ status, body: message }),
  );
  url = `http://127.0.0.1:${splice.port}`;
});
afterAll(async () => {
  await splice.stop(0);
  origin.close();
});

function watched(): Watched {
  let cut = () => {};
  const lease: Watched = {
    begun: 0,
    ended: 0,
    begin(given) {
      lease.begun++;
      cut = given;
    },
    end: () => void lease.ended++,
    cut: () => cut(),
  };
  leases.push(lease);
  return lease;
}

function connect(text: string): { socket: net.Socket; seen(): string; isClosed(): boolean } {
  const socket = net.connect(splice.port, "127.0.0.1", () => socket.write(text));
  let [seen, isClosed] = ["", false];
  socket.on("data", (bytes) => {
    seen += bytes.toString("latin1");
  });
  socket.on("close", () => {
    isClosed = true;
  });
  socket.on("error", () => {});
  return { socket, seen: () => seen, isClosed: () => isClosed };
}

const counts = () => leases.map(({ begun, ended }) => [begun, ended]);
const get = (target: string, ...lines: string[]) =>
  `${[`GET ${target} HTTP/1.1`, "Host: a", ...lines].join("\r\n")}\r\n\r\n`;

test.each([
  ["a response", rawRequest("/", ["Host: a"]), 200],
  ["an upstream that is gone", rawRequest("/gone", ["Host: a"]), 502],
  ["a body that is too large", rawRequest("/", ["Host: a", "Content-Length: 99"], "POST"), 413],
])("a lease ends once with %s", async (_, request, status) => {
  leases = [];
  expect((await sendRaw(url, request)).status).toBe(status);
  await until("it has ended", async () => counts().toString() === "1,1");
});

test("each request of a connection has its lease, and its own connection to the upstream", async () => {
  leases = [];
  const before = upstreams;
  const { socket, seen } = connect(get("/1") + get("/2"));
  await until("both are answered", async () => seen().split("ok").length === 3);
  await until("both have ended", async () => counts().toString() === "1,1,1,1");
  expect(upstreams - before).toBe(2);
  socket.destroy();
});

const SOCKET = get("/socket", "Connection: Upgrade", "Upgrade: websocket");

test.each([
  ["a response", get("/endless")],
  ["a WebSocket", SOCKET],
])("%s that goes on can be cut off, and ends with its client", async (_, request) => {
  leases = [];
  const first = connect(request);
  const second = connect(request);
  await until("both go on", async () => [first, second].every(({ seen }) => seen().includes("begins")));
  expect(counts()).toEqual([
    [1, 0],
    [1, 0],
  ]);
  for (const lease of leases.slice(0, 1)) lease.cut();
  await until("one is cut off", async () => first.isClosed() !== second.isClosed());
  for (const { socket } of [first, second]) socket.destroy();
  await until("both have ended", async () => counts().toString() === "1,1,1,1");
});

test("a lease ends also if the client has gone before the decision", async () => {
  leases = [];
  const { promise, resolve } = Promise.withResolvers<() => void>();
  decideLate = resolve;
  const { socket } = connect(get("/late"));
  const decide = await promise;
  socket.destroy();
  decide();
  await until("it has ended", async () => leases[0]?.ended === 1);
});
