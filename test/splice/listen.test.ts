import { afterAll, beforeAll, expect, test } from "bun:test";
import http from "node:http";
import net from "node:net";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { type Listener, listen } from "../../src/splice/listen.ts";
import { until } from "../helpers/until.ts";

let origin: http.Server;
let port: number;
let splice: Listener;
/** What the origin saw of connections that ended early. */
const gone: string[] = [];
/** Answers a request for /slow, once there is one. */
let endSlow: (() => void) | null = null;

beforeAll(async () => {
  origin = http.createServer((request, response) => {
    const { url = "" } = request;
    if (url === "/sse") {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.flushHeaders();
      request.on("close", () => gone.push(url));
    } else if (url === "/slow") endSlow = () => response.end(`${request.method} ${url} undefined`);
    else if (url === "/echo") request.pipe(response);
    else if (url === "/empty") response.writeHead(204).end();
    else if (url === "/twice")
      response.writeHead(302, { Location: "/x", "Set-Cookie": ["a=1", "b=2"] }).end();
    else if (url === "/cut") {
      response.writeHead(200, { "Content-Length": "10" });
      response.write("12345", () => response.destroy());
    } else if (url === "/trailers") {
      response.writeHead(200, { Trailer: "X-End" });
      response.write("body");
      response.addTrailers({ "X-End": "yes" });
      response.end();
    } else response.end(`${request.method} ${url} ${request.headers["x-added"]}`);
  });
  origin.on("upgrade", (request, socket, rest) => {
    if (request.url === "/no")
      return void socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno");
    socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: raw\r\nConnection: Upgrade\r\n\r\nfirst");
    if (rest.length > 0) socket.write(rest);
    socket.on("data", (bytes) => socket.write(bytes));
    socket.on("end", () => socket.end());
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const address = origin.address();
  port = typeof address === "object" && address ? address.port : 0;
  splice = listen(
    { hostname: "127.0.0.1", port: 0 },
    (head) => {
      if (head.target === "/here") return { answer: { status: 200, body: "here" } };
      if (head.target === "/collect") {
        return { maxBytes: 100, handle: async (body) => ({ status: 200, body: `${body.length}` }) };
      }
      const lines = [
        `${head.method} ${head.target} HTTP/1.1`,
        ...head.fields.map(({ name, value }) => `${name}: ${value}`),
        "X-Added: yes",
      ];
      const to = { hostname: "127.0.0.1", port: head.target === "/down" ? 1 : port };
      return { to, head: `${lines.join("\r\n")}\r\n\r\n` };
    },
    (status, message) => ({ status, body: message }),
  );
});

afterAll(async () => {
  await splice.stop(0);
  origin.close();
  origin.closeAllConnections();
});

/** Sends bytes as they are, and reads until the connection ends or the text shows. */
function raw(text: string, until?: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(splice.port, "127.0.0.1", () => socket.write(text, "latin1"));
    let seen = "";
    const timer = setTimeout(
      () => socket.destroy(new Error(`never came: ${until}; but ${seen}`)),
      WAIT_LIMIT_MS,
    );
    const done = () => {
      clearTimeout(timer);
      resolve(seen);
    };
    socket.on("data", (bytes) => {
      seen += bytes.toString("latin1");
      if (until === undefined || !seen.includes(until)) return;
      socket.destroy();
      done();
    });
    socket.on("end", done);
    socket.on("error", reject);
  });
}

const get = (path: string, more = "") => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`;
const CLOSE = "Connection: close\r\n";

test("answers the requests of one connection in order, for any upstreams", async () => {
  const text = await raw(get("/1") + get("/here") + get("/2") + get("/down") + get("/3"));
  const order = ["GET /1 yes", "here", "GET /2 yes", "502 Bad Gateway"].map((part) => text.indexOf(part));
  expect(order).toEqual(order.toSorted((a, b) => a - b));
  expect(order).not.toContain(-1);
  expect(text).not.toContain("GET /3");
});

test("forwards a body unchanged: with a length, chunked, split anywhere", async () => {
  expect(await raw(`POST /echo HTTP/1.1\r\nHost: a\r\n${CLOSE}Content-Length: 5\r\n\r\nhello`)).toEndWith(
    "hello\r\n0\r\n\r\n",
  );
  const chunked = `POST /echo HTTP/1.1\r\nHost: a\r\n${CLOSE}Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n`;
  expect(await raw(chunked)).toContain("he");
  for (const [path, body, answer] of [
    ["/collect", "x".repeat(100), "100"],
    ["/collect", "x".repeat(101), "413"],
  ] as const) {
    expect(
      await raw(`POST ${path} HTTP/1.1\r\nHost: a\r\n${CLOSE}Content-Length: ${body.length}\r\n\r\n${body}`),
    ).toContain(answer);
  }
});

test("forwards a response unchanged: HEAD, 204, redirects, repeated headers, trailers", async () => {
  expect(await raw(`HEAD /echo HTTP/1.1\r\nHost: a\r\n\r\n${get("/after", CLOSE)}`)).toContain(
    "GET /after yes",
  );
  expect(await raw(get("/empty") + get("/after", CLOSE))).toContain("GET /after yes");
  const twice = await raw(get("/twice", CLOSE));
  expect(twice).toMatch(/302 Found[\s\S]*Set-Cookie: a=1\r\nSet-Cookie: b=2/);
  expect(await raw(get("/trailers") + get("/after", CLOSE))).toMatch(
    /X-End: yes\r\n\r\nHTTP[\s\S]*GET \/after yes/,
  );
});

test("forwards an event stream's head at once, and closes it when the reader disconnects", async () => {
  await raw(get("/sse"), "text/event-stream");
  await until("the origin learns of it", () => gone.includes("/sse"));
});

test("an upgrade turns the connection into a tunnel; a rejected one does not", async () => {
  const upgrade = (path: string) => get(path, "Connection: Upgrade\r\nUpgrade: raw\r\n");
  expect(await raw(`${upgrade("/yes")}GET x`, "firstGET x")).toContain("101 Switching");
  expect(await raw(upgrade("/no") + get("/after", CLOSE))).toMatch(/403[\s\S]*no[\s\S]*GET \/after yes/);
});

test("forwards the client's bytes at any time after an upgrade", async () => {
  const socket = net.connect(splice.port, "127.0.0.1", () =>
    socket.write(get("/yes", "Connection: Upgrade\r\nUpgrade: raw\r\n")),
  );
  let seen = "";
  socket.on("data", (bytes) => {
    seen += bytes.toString("latin1");
  });
  await until("it is upgraded", () => seen.endsWith("first"));
  for (const word of ["one", "two"]) {
    socket.write(word);
    await until("it is echoed", () => seen.endsWith(word));
  }
  socket.destroy();
});

test("continues to read a connection after a rejected upgrade", async () => {
  const seen = await new Promise<string>((resolve, reject) => {
    const socket = net.connect(splice.port, "127.0.0.1");
    socket.write(get("/no", "Connection: Upgrade\r\nUpgrade: raw\r\n"));
    let text = "";
    socket.setTimeout(30_000, () => socket.destroy(new Error(`nothing more came: ${text}`)));
    socket.on("data", (bytes) => {
      const isFirst = text === "";
      text += bytes;
      if (isFirst) socket.write(get("/after", CLOSE));
    });
    socket.on("end", () => resolve(text));
    socket.on("error", reject);
  });
  expect(seen).toMatch(/403[\s\S]*GET \/after yes/);
});

test("a truncated response is truncated for the client, too", async () => {
  const cut = raw(get("/cut"));
  expect(
    await cut.then(
      (text) => text.endsWith("12345"),
      () => true,
    ),
  ).toBe(true);
});

test("an invalid request gets an error message, and the connection ends", async () => {
  expect(await raw("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")).toContain("400 Bad Request");
  expect(
    await raw(`POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n`),
  ).toContain("400");
});

test("forwards large bodies both ways in little memory, also to a slow reader", async () => {
  const before = process.memoryUsage().rss;
  const size = 64 * 1024 * 1024;
  const response = await fetch(`http://127.0.0.1:${splice.port}/echo`, {
    method: "POST",
    body: new ReadableStream({
      start() {
        this.left = size;
      },
      async pull(controller) {
        controller.enqueue(new Uint8Array(1 << 20));
        this.left -= 1 << 20;
        if (this.left === 0) controller.close();
      },
      left: 0,
    } as UnderlyingDefaultSource<Uint8Array> & { left: number }),
  });
  let bytes = 0;
  for await (const piece of response.body ?? []) {
    bytes += piece.length;
    if (bytes % 7 === 0) await Bun.sleep(1);
  }
  expect(bytes).toBe(size);
  expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
});

test("a listener that stops completes requests, and closes endless responses", async () => {
  const stopping = listen(
    { hostname: "127.0.0.1", port: 0 },
    ({ fields, method, target }) => {
      const lines = fields.map(({ name, value }) => `${name}: ${value}`);
      const head = `${[`${method} ${target} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`;
      return { to: { hostname: "127.0.0.1", port }, head };
    },
    (status, message) => ({ status, body: message }),
  );
  const ends = await Promise.all(
    [get("/sse"), get("/slow"), get("/yes", "Connection: Upgrade\r\nUpgrade: raw\r\n"), ""].map(
      async (text) => {
        const socket = net.connect(stopping.port, "127.0.0.1");
        let seen = "";
        socket.on("data", (bytes) => {
          seen += bytes;
        });
        const end = new Promise<string>((resolve) => socket.on("close", () => resolve(seen)));
        await new Promise<void>((resolve) => socket.on("connect", resolve));
        socket.write(text);
        if (text !== "" && !text.includes("/slow")) await until("it is answered", () => seen !== "");
        return { end };
      },
    ),
  );
  await until("the slow one is under way", () => endSlow !== null);
  // it does not wait as long as it may: that would be a hang
  const stopped = stopping.stop(3_600_000);
  endSlow?.();
  await stopped;
  const [events, slow, raw, silent] = await Promise.all(ends.map(({ end }) => end));
  expect(events).toContain("text/event-stream");
  expect(slow).toEndWith("GET /slow undefined");
  expect(raw).toEndWith("first");
  expect(silent).toBe("");
});
