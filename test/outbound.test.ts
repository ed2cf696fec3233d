import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import { connectTo, type Target } from "../src/lib/connect.ts";
import { createOutbound, type Outbound, readOutboundUrl, readStart } from "../src/lib/outbound.ts";

/** A server on loopback that answers each request by its path, and records what it got. */
let receiver: Server;
let tlsReceiver: Server;
let certificate: string;
const received: string[] = [];
const names: string[] = [];
const sockets = new Set<Socket>();
const folder = mkdtempSync(join(tmpdir(), "svc-outbound-"));

beforeAll(async () => {
  receiver = createServer(answer);
  const [keyFile, certFile] = [join(folder, "key.pem"), join(folder, "cert.pem")];
  const made = Bun.spawnSync(
    ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"].concat(
      ["-keyout", keyFile, "-out", certFile, "-days", "30", "-subj", "/CN=hook.example"],
      ["-addext", "subjectAltName=DNS:hook.example"],
    ),
    { stderr: "ignore" },
  );
  expect(made.exitCode).toBe(0);
  certificate = readFileSync(certFile, "utf8");
  const identity = { cert: certificate, key: readFileSync(keyFile, "utf8") };
  tlsReceiver = createTlsServer(
    {
      ...identity,
      SNICallback(name, done) {
        names.push(name);
        done(null);
      },
    },
    answer,
  );
  for (const server of [receiver, tlsReceiver])
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
});

afterAll(() => {
  for (const socket of sockets) socket.destroy();
  receiver.close();
  tlsReceiver.close();
  rmSync(folder, { recursive: true });
});

function answer(socket: Socket): void {
  sockets.add(socket);
  socket.on("error", () => {});
  socket.on("close", () => sockets.delete(socket));
  let text = "";
  socket.on("data", (data) => {
    text += data;
    const [head = "", body = ""] = text.split("\r\n\r\n", 2);
    const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
    if (!text.includes("\r\n\r\n") || body.length < length) return;
    received.push(text);
    const path = head.split(" ")[1] ?? "";
    socket.write(ANSWERS[path] ?? "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
  });
}

const ANSWERS: Record<string, string> = {
  "/redirect": "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n",
  "/silent": "",
  "/stalled": "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nabc",
  "/long": `HTTP/1.1 200 OK\r\ncontent-length: 2000\r\n\r\n${"x".repeat(2000)}`,
  "/head": `HTTP/1.1 200 OK\r\nx: ${"x".repeat(20_000)}\r\ncontent-length: 0\r\n\r\n`,
  "/none": "HTTP/1.1 204 No Content\r\n\r\n",
  "/garbage": "SSH-2.0-OpenSSH_9.2\r\n\r\n",
  "/upgrade": "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n",
};

/** A client whose resolver gives these answers in turn; connections to any address reach the receiver. */
function client(...answers: string[][]) {
  const resolved: string[] = [];
  const targets: Target[] = [];
  const outbound = createOutbound({
    allowPrivate: false,
    async resolve(host) {
      resolved.push(host);
      return answers.shift() ?? [];
    },
    connect(target, signal) {
      targets.push(target);
      return connectTo({ ...target, address: "127.0.0.1", port: portOf(tlsReceiver) }, signal, certificate);
    },
  });
  return { outbound, resolved, targets };
}

/** A client that may reach loopback. */
const local: Outbound = createOutbound({ allowPrivate: true });

function url(path: string): string {
  return `http://127.0.0.1:${portOf(receiver)}${path}`;
}

function portOf(server: Server): number {
  const address = server.address();
  return typeof address === "object" && address ? address.port : 0;
}

test("connects to the address that was checked, with the name for TLS and Host, and resolves once", async () => {
  const { outbound, resolved, targets } = client(["1.1.1.1"], ["127.0.0.1"]);
  const response = await outbound("https://hook.example:8443/a?b=c#d", { method: "POST", body: "{}" });
  expect(await response.text()).toBe("ok");
  expect(resolved).toEqual(["hook.example"]);
  expect(targets).toEqual([{ address: "1.1.1.1", port: 8443, tlsName: "hook.example" }]);
  expect(names.at(-1)).toBe("hook.example");
  const head = received.at(-1) ?? "";
  expect(head).toStartWith("POST /a?b=c HTTP/1.1\r\n");
  expect(head.toLowerCase()).toContain("\r\nhost: hook.example:8443\r\n");
  expect(head).toEndWith("\r\n\r\n{}");
});

test.each([
  ["http://hook.example/", "not_allowed"],
  ["https://localhost/", "not_allowed"],
  ["https://a.localhost./", "not_allowed"],
  ["https://127.0.0.1/", "not_allowed"],
  ["https://0x7f.1/", "not_allowed"],
  ["https://2130706433/", "not_allowed"],
  ["https://169.254.169.254/latest/meta-data/", "not_allowed"],
  ["https://168.63.129.16/", "not_allowed"],
  ["https://[::1]/", "not_allowed"],
  ["https://[::ffff:7f00:1]/", "not_allowed"],
  ["https://[fd00::1]:8443/", "not_allowed"],
  ["https://name:word@hook.example/", "invalid_url"],
  ["https://hook.example:0/", "invalid_url"],
  ["ftp://hook.example/", "invalid_url"],
  ["file:///etc/passwd", "invalid_url"],
  ["hook.example", "invalid_url"],
  [`https://hook.example/${"a".repeat(2048)}`, "invalid_url"],
  ["", "invalid_url"],
] as const)("does not resolve or connect to %s", async (address, reason) => {
  const { outbound, resolved, targets } = client(["1.1.1.1"]);
  expect(() => readOutboundUrl(address, false)).toThrow(expect.objectContaining({ reason }));
  expect(outbound(address)).rejects.toMatchObject({ reason });
  expect([...resolved, ...targets]).toEqual([]);
});

test.each(["10.0.0.1", "1.1.1.1 127.0.0.1", "::1 1.1.1.1", "1.1.1.1 ::ffff:1.1.1.1"])(
  "does not connect to a host with the addresses %s",
  async (addresses) => {
    const { outbound, targets } = client(addresses.split(" "));
    expect(outbound("https://hook.example/")).rejects.toMatchObject({ reason: "not_allowed" });
    expect(targets).toEqual([]);
  },
);

test("a certificate of another name is refused", async () => {
  const { outbound } = client(["1.1.1.1"]);
  const before = received.length;
  const failure = await outbound("https://other.example/secret-path").catch((error: unknown) => error);
  expect(failure).toMatchObject({ reason: "unreachable" });
  expect(String(failure)).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
  expect(String(failure)).not.toContain("secret-path");
  expect(received.length).toBe(before);
});

test("tries the next address, IPv4 first, and no more than four", async () => {
  const tried: string[] = [];
  const outbound = createOutbound({
    allowPrivate: false,
    resolve: async () => ["2606:4700::1", "1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"],
    async connect({ address }) {
      tried.push(address);
      throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
    },
  });
  expect(outbound("https://hook.example/")).rejects.toThrow(
    "The request to hook.example failed (ECONNREFUSED).",
  );
  expect(tried).toEqual(["1.1.1.1", "1.1.1.2", "1.1.1.3", "1.1.1.4"]);
});

test("an unknown host is an error", async () => {
  const { outbound } = client([]);
  expect(outbound("https://hook.example/")).rejects.toThrow("The host hook.example was not found.");
});

test("returns a redirect without following it", async () => {
  const before = received.length;
  const response = await local(url("/redirect"));
  expect([response.status, response.headers.get("location")]).toEqual([302, "http://127.0.0.1/"]);
  expect(received.length).toBe(before + 1);
});

test("ignores proxies of the environment", async () => {
  const saved = process.env["HTTP_PROXY"];
  process.env["HTTP_PROXY"] = "http://127.0.0.1:1";
  try {
    expect(await (await local(url("/plain"))).text()).toBe("ok");
  } finally {
    if (saved === undefined) delete process.env["HTTP_PROXY"];
    else process.env["HTTP_PROXY"] = saved;
  }
});

test("headers of the connection are its own", async () => {
  const headers = { host: "evil", "transfer-encoding": "chunked", "content-length": "99", "X-Own": "1" };
  await local(url("/plain"), { method: "POST", body: "abc", headers });
  const head = (received.at(-1) ?? "").toLowerCase();
  expect(head).toContain(`\r\nhost: 127.0.0.1:${portOf(receiver)}\r\n`);
  expect(head).toContain("\r\ncontent-length: 3\r\n");
  expect(head).toContain("\r\nx-own: 1\r\n");
  expect(head).not.toMatch(/evil|chunked|: 99\r/);
});

const NEVER = new Promise<never>(() => {});

test.each([
  ["a host that is not resolved", "connectMs", { resolve: () => NEVER }],
  ["a connection that is not made", "connectMs", { resolve: async () => ["1.1.1.1"], connect: () => NEVER }],
] as const)("%s has a limit", async (_, limit, changes) => {
  const outbound = createOutbound({ allowPrivate: true, ...changes });
  expect(outbound("http://hook.example/", { limits: { [limit]: 20 } })).rejects.toMatchObject({
    reason: "timeout",
  });
});

test.each([
  ["/silent", { firstByteMs: 20 }, "timeout"],
  ["/silent", { totalMs: 20 }, "timeout"],
  ["/stalled", { idleMs: 20 }, "timeout"],
  ["/stalled", { totalMs: 100 }, "timeout"],
  ["/long", { responseBytes: 1999 }, "too_large"],
  ["/head", {}, "unreachable"],
  ["/garbage", {}, "unreachable"],
  ["/upgrade", {}, "unreachable"],
] as const)("%s with the limits %j fails with %s", async (path, limits, reason) => {
  const body = async () => await (await local(url(path), { limits })).text();
  expect(await body().catch((error: unknown) => error)).toMatchObject({ name: "OutboundError", reason });
});

test("bodies up to the limits pass", async () => {
  const limits = { responseBytes: 2000, requestBytes: 3 };
  const response = await local(url("/long"), { method: "POST", body: "abc", limits });
  expect((await response.text()).length).toBe(2000);
  expect(local(url("/long"), { method: "POST", body: "abcd", limits })).rejects.toMatchObject({
    reason: "too_large",
  });
});

test("a response without a body", async () => {
  const response = await local(url("/none"));
  expect([response.status, response.body]).toEqual([204, null]);
});

test("an abort ends the request, before and within the body", async () => {
  const early = AbortSignal.abort();
  expect(local(url("/plain"), { signal: early })).rejects.toMatchObject({ reason: "aborted" });
  const later = new AbortController();
  const response = await local(url("/stalled"), { signal: later.signal });
  const body = response.text();
  later.abort();
  expect(await body.catch((error: unknown) => error)).toMatchObject({ reason: "aborted" });
});

test("the beginning of a body is read, and the connection closed", async () => {
  const start = await readStart(await local(url("/long")), 100);
  expect(Buffer.from(start).toString()).toBe("x".repeat(100));
  const stalled = await readStart(await local(url("/stalled"), { limits: { idleMs: 20 } }), 100);
  expect(Buffer.from(stalled).toString()).toBe("abc");
  expect((await readStart(await local(url("/none")), 100)).byteLength).toBe(0);
});
