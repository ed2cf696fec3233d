import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { type Api, makeFolder, startApi } from "../helpers/api.ts";
import { rawRequest, sendRaw } from "../helpers/raw-http.ts";

let api: Api;

beforeAll(async () => {
  const dataDir = makeFolder();
  // what a server leaves that was killed
  writeFileSync(join(dataDir, "api.sock"), "");
  api = await startApi({ dataDir });
});
afterAll(() => api.stop());

const HOST = "Host: localhost";
const send = (text: string) => sendRaw(api.url, text);

test("only the server's user can open the API's socket", () => {
  const { mode } = statSync(join(api.dataDir, "api.sock"));
  expect([(mode & 0o777).toString(8), (statSync(api.dataDir).mode & 0o777).toString(8)]).toEqual([
    "600",
    "700",
  ]);
});

const long = "x".repeat(40_000);
const BAD: [string, string, number, string][] = [
  ["no HTTP", "hello\r\n\r\n", 400, "validation_failed"],
  ["two hosts", rawRequest("/v1/health", [HOST, HOST]), 400, "validation_failed"],
  ["no host", rawRequest("/v1/health", []), 400, "validation_failed"],
  ["an absolute target", rawRequest("http://localhost/v1/health", [HOST]), 400, "validation_failed"],
  ["another authority", rawRequest("localhost:1", [HOST], "CONNECT"), 400, "validation_failed"],
  ["a length that is none", rawRequest("/v1/health", [HOST, "Content-Length: x"]), 400, "validation_failed"],
  [
    "a length and chunks",
    rawRequest("/", [HOST, "Content-Length: 1", "Transfer-Encoding: chunked"]),
    400,
    "validation_failed",
  ],
  [
    "chunks that are none",
    rawRequest("/v1/projects", [HOST, "Transfer-Encoding: chunked"], "POST", "zz\r\n"),
    400,
    "validation_failed",
  ],
  ["a long head", rawRequest("/v1/health", [HOST, `X: ${long}`]), 431, "head_too_large"],
  ["many fields", rawRequest("/v1/health", [HOST, ...Array(200).fill("X: 1")]), 431, "head_too_large"],
  ["another coding", rawRequest("/v1/health", [HOST, "Transfer-Encoding: gzip"]), 501, "not_implemented"],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, "version_not_supported"],
];

test.each(BAD)("explains why a request is invalid: %s", async (_, text, status, code) => {
  const answer = await send(text);
  expect(answer.status).toBe(status);
  expect(answer.text).toContain(`"code":"${code}"`);
  expect(answer.text).toMatch(/X-Request-Id: [0-9a-f-]{36}/);
  expect(answer.text).not.toContain(api.dataDir);
});

test("rejects an invalid request that follows a valid one", async () => {
  const head = rawRequest("/v1/health", [HOST], "HEAD").replace("Connection: close\r\n", "");
  const { text } = await send(`${head}nonsense\r\n\r\n`);
  expect(text).toMatch(/^HTTP\/1\.1 200[\s\S]*HTTP\/1\.1 400[\s\S]*"code":"validation_failed"/);
});

test.each(["a", "ab", "x.y", "evil.example", "[::1]:80", "P3000.localhost"])(
  "answers under any host name, with the path unchanged: %s",
  async (name) => {
    expect((await send(rawRequest("/v1/health", [`Host: ${name}`]))).text).toContain('"service":"svc-api"');
    expect((await send(rawRequest("/aa/v1/health", [`Host: ${name}`]))).status).toBe(404);
  },
);

test("answers HTTP/1.0, with and without a host", async () => {
  for (const lines of [[], [HOST]]) {
    const text = rawRequest("/v1/health", lines).replace("HTTP/1.1", "HTTP/1.0");
    expect((await send(text)).text).toContain('"service":"svc-api"');
  }
});

test("answers the requests of one connection in order", async () => {
  const health = rawRequest("/v1/health", [HOST]);
  const kept = health.replace("Connection: close\r\n", "");
  const upgrade = kept.replace("HTTP/1.1\r\n", "HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n");
  const { text } = await send(kept + kept.replace("GET", "HEAD") + upgrade + health);
  expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(4);
  expect(text.match(/"service":"svc-api"/g)).toHaveLength(3);
});

test("a client that disconnects during its request leaves nothing behind", async () => {
  for (const part of ["GET /v1/he", rawRequest("/v1/projects", [HOST, "Content-Length: 100"], "POST", "{")]) {
    const socket = net.connect(Number(new URL(api.url).port), "127.0.0.1");
    await new Promise<void>((resolve) => socket.write(part, () => resolve()));
    socket.destroy();
  }
  expect((await api.call("GET", "/v1/health", { token: null })).status).toBe(200);
});
