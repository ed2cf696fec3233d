import { afterAll, beforeAll, expect, test } from "bun:test";
import net from "node:net";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import type { Streamed } from "../../src/splice/answer.ts";
import { type Listener, listen } from "../../src/splice/listen.ts";
import { until } from "../helpers/until.ts";

let splice: Listener;
let gone = 0;
/** Pieces that a slow client has not made the handler wait for, and whether it waits. */
let written = 0;
let isWaiting = false;

const LARGE = new Uint8Array(200 * 1024).fill(0x62);

const BODIES: Record<string, Streamed["pump"]> = {
  "/words": async (write) => {
    for (const word of ["one ", "", "two"]) write(Buffer.from(word));
  },
  "/large": async (write) => void (await write(LARGE)),
  "/none": async () => {},
  "/cut": async (write) => {
    write(Buffer.from("begun"));
    throw new Error("it breaks");
  },
  "/broken": async () => {
    throw new Error("it breaks");
  },
  "/endless": async (write) => {
    for (;;) {
      written++;
      const full = write(LARGE);
      isWaiting = full !== null;
      if (full !== null) await full;
      if (gone > 0) return;
    }
  },
};

beforeAll(() => {
  splice = listen(
    { hostname: "127.0.0.1", port: 0 },
    ({ target }) => ({
      maxBytes: 10,
      async handle(body, client) {
        client.addEventListener("abort", () => void gone++);
        if (target === "/body") return { status: 200, body: `${body.length}` };
        if (target === "/hangs") await new Promise((resolve) => client.addEventListener("abort", resolve));
        if (target === "/throws") throw new Error("it breaks");
        const pump = BODIES[target] ?? (async () => {});
        return { status: 200, headers: { "content-type": "text/plain" }, pump };
      },
    }),
    (status, message) => ({ status, body: message }),
  );
});
afterAll(() => splice.stop(0));

/** Sends bytes as they are. @returns what comes until the connection ends */
async function raw(text: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let seen = "";
  const socket = net.connect(splice.port, "127.0.0.1", () => socket.write(text));
  socket.on("data", (bytes) => {
    seen += bytes.toString("latin1");
  });
  socket.on("error", () => {});
  socket.on("close", () => resolve(seen));
  return await promise;
}

const get = (path: string) => fetch(`http://127.0.0.1:${splice.port}${path}`);
const CLOSE = "Host: a\r\nConnection: close\r\n\r\n";

test("a response is written in chunks as it comes, and the connection is kept", async () => {
  const answer = await raw(`GET /words HTTP/1.1\r\nHost: a\r\n\r\nGET /none HTTP/1.1\r\n${CLOSE}`);
  const [words = "", none = ""] = answer.split(/(?=HTTP\/1\.1 200)/);
  expect(words).toMatch(/^HTTP\/1\.1 200 OK\r\ncontent-type: text\/plain\r\nTransfer-Encoding: chunked\r\n/);
  expect(words).toContain("Connection: keep-alive\r\n");
  expect(words).toEndWith("\r\n\r\n4\r\none \r\n3\r\ntwo\r\n0\r\n\r\n");
  expect(none).toContain("Connection: close\r\n");
  expect(none).toEndWith("\r\n\r\n0\r\n\r\n");
  expect(Buffer.from(await (await get("/large")).arrayBuffer()).equals(LARGE)).toBe(true);
});

test("HTTP/1.0 has no chunks: the end of the connection ends the response", async () => {
  const answer = await raw("GET /words HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  expect(answer).not.toContain("chunked");
  expect(answer).toContain("Connection: close\r\n");
  expect(answer).toEndWith("\r\n\r\none two");
});

test("a response that breaks is cut off if it has begun, and 500 otherwise", async () => {
  const cut = await raw(`GET /cut HTTP/1.1\r\n${CLOSE}`);
  expect(cut).toEndWith("5\r\nbegun\r\n");
  for (const path of ["/broken", "/throws"]) expect((await get(path)).status).toBe(500);
});

test("a body is read up to the most bytes, and the client may wait for 100 Continue", async () => {
  const post = (length: number, body: string) =>
    raw(`POST /body HTTP/1.1\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n${CLOSE}${body}`);
  expect(await post(10, "0123456789")).toEndWith("\r\n\r\n10");
  expect(await post(11, "")).toStartWith("HTTP/1.1 413 ");
  const chunked = `POST /body HTTP/1.1\r\nTransfer-Encoding: chunked\r\n${CLOSE}`;
  expect(await raw(`${chunked}5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n`)).toEndWith("\r\n\r\n10");
  expect(await raw(`${chunked}b\r\n0123456789a\r\n0\r\n\r\n`)).toStartWith("HTTP/1.1 413 ");
  const socket = net.connect(splice.port, "127.0.0.1");
  let seen = "";
  socket.on("data", (data) => {
    seen += data.toString();
  });
  socket.write(`POST /body HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n${CLOSE}`);
  await until("the client may go on", () => seen === "HTTP/1.1 100 Continue\r\n\r\n");
  socket.write("abc");
  await until("it is answered", () => seen.endsWith("\r\n\r\n3"));
  socket.destroy();
});

test("a client that goes before the response ends its handler; one that does not read makes it wait", async () => {
  const before = gone;
  const waiting = net.connect(splice.port, "127.0.0.1");
  waiting.write("GET /hangs HTTP/1.1\r\nHost: a\r\n\r\n");
  await until("it is accepted", () => splice.connections > 0);
  waiting.end();
  await until("the handler knows", () => gone === before + 1);
  waiting.destroy();

  gone = 0;
  const slow = net.connect(splice.port, "127.0.0.1");
  slow.pause();
  slow.write("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n");
  await until("the handler waits", () => isWaiting);
  const stopped = written;
  slow.resume();
  await until("it continues", () => written > stopped);
  slow.destroy();
  await until("it has ended", () => gone === 1);
});

test("a listener that stops ends event streams, and completes other responses", async () => {
  const letGo = Promise.withResolvers<void>();
  let ended = 0;
  const other = listen(
    { hostname: "127.0.0.1", port: 0 },
    ({ target }) => ({
      maxBytes: 0,
      async handle(_, client) {
        const isStream = target === "/events";
        const { promise, resolve } = Promise.withResolvers<void>();
        client.addEventListener("abort", () => {
          ended++;
          resolve();
        });
        const pump: Streamed["pump"] = async (write) => {
          write(Buffer.from("first"));
          await (isStream ? promise : letGo.promise);
          write(Buffer.from("last"));
        };
        return {
          status: 200,
          headers: { "content-type": isStream ? "text/event-stream" : "text/plain" },
          pump,
        };
      },
    }),
    (status, message) => ({ status, body: message }),
  );
  const open = async (path: string) => {
    const reader = (await fetch(`http://127.0.0.1:${other.port}${path}`)).body?.getReader();
    if (!reader) throw new Error("no body");
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toBe("first");
    return async () => {
      const rest = await reader.read().catch(() => null);
      return rest?.value === undefined ? "" : Buffer.from(rest.value).toString();
    };
  };
  const [events, plain] = [await open("/events"), await open("/plain")];
  const stopped = other.stop(WAIT_LIMIT_MS);
  await until("the stream has ended", () => ended === 1);
  expect(await events()).toBe("");
  letGo.resolve();
  expect(await plain()).toBe("last");
  await stopped;
  expect(ended).toBe(1);
});
