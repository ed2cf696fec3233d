import { afterAll, expect, test } from "bun:test";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Listener, listen } from "../../src/splice/listen.ts";
import { openRelay } from "../../src/splice/relay.ts";
import { rawRequest, sendRaw } from "../helpers/raw-http.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-sockets-"));
const open: Listener[] = [];
afterAll(async () => {
  await Promise.all(open.map((listener) => listener.stop(0)));
  rmSync(folder, { recursive: true, force: true });
});

/** Passes everything on to a unix socket. @returns its URL */
function passingTo(unix: string): string {
  const listener = listen(
    { hostname: "127.0.0.1", port: 0 },
    (head) => ({ to: { unix }, head: `${head.method} ${head.target} HTTP/1.1\r\nHost: x\r\n\r\n` }),
    (status, message) => ({ status, body: message }),
  );
  open.push(listener);
  return `http://127.0.0.1:${listener.port}`;
}

test("a request for a missing unix socket is answered at once", async () => {
  const url = passingTo(join(folder, "none"));
  for (const method of ["GET", "POST"])
    expect(await sendRaw(url, rawRequest("/", ["Host: x"], method))).toMatchObject({ status: 502 });
});

test("forwards requests through a unix socket on both sides", async () => {
  const socket = join(folder, "own");
  const own = listen(
    { unix: socket },
    (head) => ({ answer: { status: 200, body: head.target } }),
    (status, message) => ({ status, body: message }),
  );
  open.push(own);
  expect((await sendRaw(passingTo(socket), rawRequest("/path", ["Host: x"]))).text).toEndWith("/path");
});

test("a relay forwards bytes both ways", async () => {
  const path = join(folder, "echo");
  const echo = Bun.serve({ unix: path, fetch: async (request) => new Response(await request.bytes()) });
  const relay = await openRelay({ host: "127.0.0.1", port: 0 }, () => ({ path }), 8);
  const body = new Uint8Array(4 * 1024 * 1024).fill(7);
  const url = `http://127.0.0.1:${relay.port}`;
  const answer = await fetch(url, { method: "POST", body, keepalive: false });
  expect(Buffer.compare(await answer.bytes(), body)).toBe(0);
  relay.close();
  await echo.stop(true);
});

test("a relay closes connections over its limit, and those whose other side is unreachable", async () => {
  const path = join(folder, "silent");
  const silent = Bun.listen({ unix: path, socket: { data() {} } });
  const relay = await openRelay({ host: "127.0.0.1", port: 0 }, () => ({ path }), 1);
  const open = async () => {
    const socket = connect(relay.port, "127.0.0.1");
    socket.on("error", () => {});
    await once(socket, "connect");
    return socket;
  };
  const first = await open();
  await once(await open(), "close");
  expect(first.destroyed).toBe(false);
  const gone = once(first, "close");
  silent.stop(true);
  await gone;
  await once(await open(), "close");
  relay.close();
});

test("closing a relay closes its connections, so that its process can end", async () => {
  const path = join(folder, "kept");
  const heard = Promise.withResolvers<void>();
  const silent = Bun.listen({ unix: path, socket: { data: () => heard.resolve() } });
  const relay = await openRelay({ host: "127.0.0.1", port: 0 }, () => ({ path }), 8);
  const socket = connect(relay.port, "127.0.0.1");
  socket.write("x");
  await heard.promise;
  const gone = once(socket, "close");
  relay.close();
  await gone;
  silent.stop(true);
});
