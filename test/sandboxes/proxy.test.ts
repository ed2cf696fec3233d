import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import { withProxy } from "../../src/sandboxes/egress/environment.ts";
import { createProxy } from "../../src/sandboxes/egress/proxy.ts";
import { listenRaw, type Relay } from "../../src/splice/relay.ts";
import { serveGit } from "../helpers/git-http.ts";
import { createRepository } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { type RawAnswer, sendRaw } from "../helpers/raw-http.ts";
import { gateOf } from "../helpers/sandbox-bench.ts";

/** Names of the tests, and what they resolve to. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  "private.test": ["10.0.0.7"],
  "loopback.test": ["127.0.0.1"],
  "metadata.test": ["169.254.169.254"],
  "azure.test": ["168.63.129.16"],
  "mixed.test": ["1.1.1.1", "192.168.0.1"],
  "six.test": ["2606:4700::1111"],
  "mapped.test": ["::ffff:127.0.0.1"],
  "allowed.test": ["127.0.0.1"],
  "nowhere.test": [],
};

let target: Bun.Server<undefined>;
let seen: { url: string; headers: Record<string, string> }[] = [];
let proxy: Relay;
let url: string;
const resolved: string[] = [];

beforeAll(async () => {
  target = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      seen.push({ url: request.url, headers: request.headers.toJSON() });
      return new Response(`${request.method} ${await request.text()}`);
    },
  });
  const take = createProxy({
    sessionId: "s",
    gate: {
      ...gateOf(),
      async resolve(host) {
        resolved.push(host);
        return [...(NAMES[host] ?? [])];
      },
    },
    exceptions: [`allowed.test:${target.port}`],
  });
  proxy = await listenRaw({ host: "127.0.0.1", port: 0 }, take, 64);
  url = `http://127.0.0.1:${proxy.port}`;
});
afterAll(async () => {
  proxy.close();
  await target.stop(true);
});

const tunnel = (host: string, port = target.port, inside = "") =>
  sendRaw(url, `CONNECT ${host}:${port} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n${inside}`);
const get = (host: string, port = target.port) =>
  sendRaw(url, `GET http://${host}:${port}/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`);

const CLOSED = [
  ...Object.keys(NAMES).filter((name) => !["allowed.test", "nowhere.test"].includes(name)),
  ...["127.0.0.1", "10.1.2.3", "169.254.169.254", "0.0.0.0", "2130706433", "0x7f.1", "017700000001"],
];

test.each(CLOSED)("a sandbox does not reach %s", async (host) => {
  seen = [];
  for (const answer of [await tunnel(host), await get(host)])
    expect(answer).toMatchObject({
      status: 403,
      text: expect.stringContaining("its address is not on the public internet"),
    });
  expect(seen).toEqual([]);
});

test("a port that the operator allows does not open other ports of the host", async () => {
  expect((await tunnel("allowed.test", 1)).status).toBe(403);
  expect((await tunnel("loopback.test")).status).toBe(403);
});

test("a tunnel forwards bytes both ways, also those that came with the request", async () => {
  seen = [];
  const inside = "POST /in HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello";
  const { text } = await tunnel("allowed.test", target.port, inside);
  expect(text).toStartWith("HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200");
  expect(text).toEndWith("POST hello");
});

test("forwards a plain request in origin form, without headers for the proxy", async () => {
  seen = [];
  const lines = [
    `POST http://allowed.test:${target.port}/path?q=1 HTTP/1.1`,
    "Host: allowed.test",
    "Proxy-Authorization: Basic c2VjcmV0",
    "Proxy-Connection: keep-alive",
    "Connection: keep-alive, X-Hop",
    "X-Own: kept",
    "X-Hop: removed",
    "Content-Length: 4",
  ];
  const { status, text } = await sendRaw(url, `${lines.join("\r\n")}\r\n\r\nbody`);
  expect(status).toBe(200);
  expect(text).toEndWith("POST body");
  expect(seen).toMatchObject([
    { url: `http://allowed.test:${target.port}/path?q=1`, headers: { "x-own": "kept" } },
  ]);
  expect(JSON.stringify(seen)).not.toMatch(/proxy-|x-hop/i);
});

test("the proxy resolves a name once per request, and connects to that address", async () => {
  resolved.length = 0;
  await tunnel("allowed.test", target.port, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  expect(resolved).toEqual(["allowed.test"]);
});

test.each<[string, string, Partial<RawAnswer>]>([
  ["origin form", "GET / HTTP/1.1\r\nHost: x\r\n\r\n", { status: 400 }],
  ["another scheme", "GET ftp://allowed.test/ HTTP/1.1\r\n\r\n", { status: 400 }],
  ["credentials in the URL", "GET http://u:p@allowed.test/ HTTP/1.1\r\n\r\n", { status: 400 }],
  ["IPv6 in brackets", "CONNECT [::1]:80 HTTP/1.1\r\n\r\n", { status: 400 }],
  ["no port", "CONNECT allowed.test HTTP/1.1\r\n\r\n", { status: 400 }],
  ["port 0", "CONNECT allowed.test:0 HTTP/1.1\r\n\r\n", { status: 400 }],
  ["a port that is none", "CONNECT allowed.test:70000 HTTP/1.1\r\n\r\n", { status: 400 }],
  ["a head without an end", `GET http://allowed.test/ HTTP/1.1\r\nX: ${"x".repeat(70_000)}`, { status: 400 }],
  ["an unknown name", "CONNECT nowhere.test:80 HTTP/1.1\r\n\r\n", { status: 502 }],
])("rejects a request with %s", async (_, text, answer) => {
  expect(await sendRaw(url, text)).toMatchObject(answer);
});

test("git clones through the proxy", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-clone-"));
  const repository = await createRepository(join(folder, "git", "a.git"));
  await repository.write([{ name: "first", branch: "main", files: { "a.txt": "1\n" } }]);
  using git = serveGit(join(folder, "git"));
  const port = Number(new URL(git.origin).port);
  const own = await listenRaw({ host: "127.0.0.1", port: 0 }, proxyTo(port), 64);
  const into = join(folder, "clone");
  const clone = Bun.spawn(
    ["git", "clone", "--quiet", "--branch=main", `http://allowed.test:${port}/a.git`, into],
    { env: { ...GIT_ENVIRONMENT, http_proxy: `http://127.0.0.1:${own.port}` }, stdio: ["ignore", 2, 2] },
  );
  expect(await clone.exited).toBe(0);
  expect(readFileSync(join(into, "a.txt"), "utf8")).toBe("1\n");
  own.close();
  rmSync(folder, { recursive: true, force: true });
});

needs("curl", Bun.which("curl") !== null).each([[["--proxytunnel"]], [[]]])(
  "curl %j gets a response through the proxy",
  async (flags: readonly string[]) => {
    const command = ["curl", "--silent", "--proxy", url, ...flags, `http://allowed.test:${target.port}/`];
    const curl = Bun.spawn(command, {
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: ["ignore", "pipe", 2],
    });
    expect(await new Response(curl.stdout).text()).toBe("GET ");
  },
);

const NPM = needs("npm", Bun.which("npm") !== null);

NPM("npm ci installs from a registry through the proxy", async () => {
  using project = makePackage();
  const { origin, paths, stop } = serveRegistry(project.tarball);
  const own = await listenRaw({ host: "127.0.0.1", port: 0 }, proxyTo(Number(new URL(origin).port)), 64);
  const { code, said } = await project.install(`${origin}/moved.tgz`, `http://127.0.0.1:${own.port}`);
  expect(said).toContain("added 1 package");
  expect(code).toBe(0);
  expect(paths).toEqual(["/moved.tgz", "/a.tgz"]);
  own.close();
  await stop();
});

NPM.each(["http", "https"])("npm ci says who refused an %s registry, and what to do", async (scheme) => {
  using project = makePackage();
  const { code, said } = await project.install(`${scheme}://private.test/a.tgz`, url);
  expect(said).toContain("svc: refused: private.test:");
  expect(said).toContain("check the DNS of svc's server");
  expect(code).toBe(1);
});

test("a refused name has advice about DNS, and a refused address has none", async () => {
  expect((await tunnel("private.test")).text).toContain("check the DNS of svc's server");
  expect((await tunnel("10.1.2.3")).text).not.toContain("DNS");
});

test("every refusal has its sentence in the status line, which clients print, and in the body", async () => {
  const asked = ["CONNECT private.test:443", "CONNECT nowhere.test:80", "GET http://private.test/", "GET /"];
  for (const request of asked) {
    const { text } = await sendRaw(url, `${request} HTTP/1.1\r\nHost: h\r\n\r\n`);
    const [, reason = "", body] = /^HTTP\/1\.1 \d{3} (svc: .+)\r\n(?:.+\r\n)+\r\n(.+)\n$/.exec(text) ?? [];
    expect(reason).not.toBe("");
    expect(body).toBe(reason);
  }
});

/** A package that depends on another one, without network access except by the proxy. */
function makePackage() {
  const folder = mkdtempSync(join(tmpdir(), "svc-npm-"));
  mkdirSync(join(folder, "package"));
  writeFileSync(join(folder, "package/package.json"), JSON.stringify({ name: "a", version: "1.0.0" }));
  const packed = Bun.spawnSync(["tar", "-czf", "-", "package"], { cwd: folder }).stdout;
  return {
    tarball: packed,
    async install(resolved: string, proxy: string) {
      const integrity = `sha512-${createHash("sha512").update(packed).digest("base64")}`;
      const root = { name: "p", version: "1.0.0", dependencies: { a: "1.0.0" } };
      const packages = { "": root, "node_modules/a": { version: "1.0.0", resolved, integrity } };
      writeFileSync(join(folder, "package.json"), JSON.stringify(root));
      writeFileSync(join(folder, "package-lock.json"), JSON.stringify({ lockfileVersion: 3, packages }));
      const npm = Bun.spawn(["npm", "ci", "--fetch-retries=0", "--replace-registry-host=never"], {
        cwd: folder,
        env: withProxy({ PATH: process.env["PATH"] ?? "", HOME: folder }, proxy),
        stdio: ["ignore", "pipe", "pipe"],
      });
      const [out, error] = await Promise.all([text(npm.stdout), text(npm.stderr)]);
      return { code: await npm.exited, said: out + error };
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Serves a package at `/a.tgz`, to which `/moved.tgz` redirects. */
function serveRegistry(tarball: Buffer) {
  const paths: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      const { pathname } = new URL(request.url);
      paths.push(pathname);
      return pathname === "/moved.tgz" ? Response.redirect("/a.tgz") : new Response(new Uint8Array(tarball));
    },
  });
  return { origin: `http://allowed.test:${server.port}`, paths, stop: () => server.stop(true) };
}

function proxyTo(port: number): ReturnType<typeof createProxy> {
  return createProxy({
    sessionId: "s",
    gate: { ...gateOf(), resolve: async (host) => [...(NAMES[host] ?? [])] },
    exceptions: [`allowed.test:${port}`],
  });
}
