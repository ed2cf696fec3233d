import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import net from "node:net";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { signedPath, signUserContext, type UserContext } from "../../src/contract/user-context.ts";
import { createOrigin } from "../helpers/behaviour-origin.ts";
import { CLI_TOKEN, type Sandbox, SERVICE_KEY, startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

let sandbox: Sandbox;
let port: number;
const origin = createOrigin();

beforeAll(async () => {
  sandbox = await startSandbox();
  await sandbox.untilHealth("the runtime is ready", ({ runtime }) => runtime === "ok");
  await new Promise<void>((done) => origin.listen(0, "127.0.0.1", done));
  const address = origin.address();
  port = typeof address === "object" && address ? address.port : 0;
});

afterAll(async () => {
  origin.closeAllConnections();
  origin.close();
  await sandbox[Symbol.asyncDispose]();
});

/** Sends a request's bytes as they stand, and reads the whole answer. */
function raw(text: string): Promise<{ status: number; text: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; text: string }>();
  const socket = net.connect(Number(new URL(sandbox.url).port), "127.0.0.1", () =>
    socket.write(text, "latin1"),
  );
  let seen = "";
  socket.setTimeout(WAIT_LIMIT_MS, () => socket.destroy(new Error(`no end: ${seen}`)));
  socket.on("data", (bytes) => {
    seen += bytes.toString("latin1");
  });
  socket.on("close", () => resolve({ status: Number(seen.slice(9, 12)), text: seen }));
  socket.on("error", reject);
  return promise;
}

const request = (target: string, lines: string[] = [], method = "GET") =>
  `${method} ${target} HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
const signed = (change: Partial<UserContext> = {}, target = "/session/status", method = "GET") =>
  `X-Svc-User-Context: ${sandbox.sign({ method, path: signedPath(target), ...change })}`;
const now = () => Math.floor(Date.now() / 1000);

describe("authorization", () => {
  const context = (): UserContext => ({
    user_id: "u",
    session_id: sandbox.sessionId,
    role: "user",
    scopes: [],
    iat: now(),
    exp: now() + 60,
    method: "GET",
    path: "/session/status",
  });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  /** Each with one thing wrong, for the place that it is sent to. */
  const refused: [string, number, (target: string) => string[]][] = [
    ["no header", 401, () => []],
    ["an empty one", 401, () => ["X-Svc-User-Context:"]],
    ["another key", 401, () => [`X-Svc-User-Context: ${signUserContext("svc_sb_other", context())}`]],
    ["an empty key", 401, () => [`X-Svc-User-Context: ${signUserContext("", context())}`]],
    ["an expired one", 401, (at) => [signed({ iat: now() - 120, exp: now() - 60 }, at)]],
    ["one of the future", 401, (at) => [signed({ iat: now() + 60, exp: now() + 90 }, at)]],
    ["a long life", 401, (at) => [signed({ exp: now() + 3600 }, at)]],
    ["another session's", 401, (at) => [signed({ session_id: crypto.randomUUID() }, at)]],
    ["an unknown role", 401, (at) => [signed({ role: "root" as UserContext["role"] }, at)]],
    ["a cut one", 401, (at) => [signed({}, at).slice(0, -2)]],
    ["one with padding", 401, (at) => [`${signed({}, at)}=`]],
    [
      "a re-encoded one",
      401,
      (at) => [
        signed({}, at).replace(/\.(.*)$/, (_, mac) => `.${mac.replaceAll("-", "+").replaceAll("_", "/")}=`),
      ],
    ],
    [
      "another body under the same signature",
      401,
      () => [
        `X-Svc-User-Context: ${part({ ...context(), role: "platform" })}.${sandbox.sign().split(".")[1]}`,
      ],
    ],
    [
      "the service key itself",
      401,
      () => [`X-Svc-User-Context: ${SERVICE_KEY}`, `Authorization: Bearer ${SERVICE_KEY}`],
    ],
    ["one for another method", 401, (at) => [signed({}, at, "POST")]],
    ["one for another path", 401, (at) => [signed({}, `${at}/x`)]],
    [
      "one for a path of another case",
      401,
      (at) => [signed({}, at.toUpperCase().replace("/PROXY/", "/Proxy/"))],
    ],
    ["one without a path", 401, (at) => [signed({ path: undefined as unknown as string }, at)]],
    ["two of them", 400, (at) => [signed({}, at), signed({}, at)]],
    ["two, one of them forged", 400, (at) => [signed({}, at), "X-Svc-User-Context: x.y"]],
    ["two in one line", 401, (at) => [`${signed({}, at)}, ${sandbox.sign()}`]],
  ];
  const places: [string, () => string][] = [
    ["the runtime", () => "/session/status"],
    ["a port", () => `/proxy/${port}/`],
    ["the controls", () => "/svc/env"],
    ["an unknown path", () => "/svc/other"],
  ];
  for (const [place, target] of places) {
    test.each(refused)(`%s is refused at ${place}`, async (_, status, lines) => {
      const answer = await raw(request(target(), lines(target())));
      expect(answer.status).toBe(status);
      expect(answer.text).toContain('"code":"');
    });
  }

  test("an accepted context is rejected once it has expired", async () => {
    const header = signed({ iat: now() - 58, exp: now() + 1 });
    expect((await raw(request("/session/status", [header], "POST"))).status).toBe(401);
    expect((await raw(request("/session/status", [header]))).status).toBe(200);
    await until(
      "it is refused",
      async () => (await raw(request("/session/status", [header]))).status === 401,
    );
  });

  test.each(["user", "agent", "platform"] as const)("accepts a %s", async (role) => {
    expect((await raw(request("/session/status", [signed({ role })]))).status).toBe(200);
  });

  test.each(["user", "agent"] as const)("the control routes reject a %s", async (role) => {
    for (const path of ["/svc/refresh", "/svc/abort", "/svc/env"])
      expect((await sandbox.call("POST", path, role)).status).toBe(403);
  });

  test("health needs no credential, and contains no secret", async () => {
    const answer = await raw(request("/svc/health"));
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain(SERVICE_KEY);
    expect((await raw(request("/svc/health?x=1"))).status).toBe(200);
    expect((await raw(request("/svc/health", [], "HEAD"))).text).toEndWith("\r\n\r\n");
    expect((await raw(request("/svc/health", [], "POST"))).status).toBe(405);
  });

  test("the daemon's paths never reach the runtime", async () => {
    for (const [method, path, status] of [
      ["GET", "/svc", 404],
      ["GET", "/svc/", 404],
      ["GET", "/svc/other", 404],
      ["GET", "/svc/health/x", 404],
      ["GET", "/svc/env", 405],
    ] as const)
      expect([path, (await sandbox.call(method, path, "platform")).status]).toEqual([path, status]);
  });
});

test("the caller's identity and credentials of svc are not forwarded", async () => {
  const header = (text: string) => JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  const lines = (authorization: string) => [
    signed({}, `/proxy/${port}/headers`),
    `authorization: ${authorization}`,
    "X-Other: stays",
  ];
  const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`;
  for (const [authorization, stays] of [
    [`Bearer ${CLI_TOKEN}`, false],
    [`bearer ${SERVICE_KEY}`, false],
    [basic(`x:${CLI_TOKEN}`), false],
    [basic("app:password"), true],
    ["Bearer app", true],
  ] as const) {
    const seen = header((await raw(request(`/proxy/${port}/headers?a=1`, lines(authorization)))).text);
    const text = JSON.stringify(seen.raw);
    expect(text.toLowerCase()).not.toContain("x-svc-user-context");
    expect(text.includes(authorization)).toBe(stays);
    expect(text).toContain("stays");
  }
  const queries: [string, string][] = [
    ["?auth_token=svc_pat_x&b=2", "?b=2"],
    ["?b=2&%61uth_token=svc_sb_x", "?b=2"],
    ["?auth_token=svc_pat_x", ""],
    ["?auth_token=the+app%27s", "?auth_token=the+app%27s"],
    ["?", "?"],
    ["", ""],
  ];
  for (const [query, passed] of queries) {
    const target = `/proxy/${port}/headers`;
    const seen = header((await raw(request(target + query, [signed({}, target)]))).text);
    expect(seen.url).toBe(`/headers${passed}`);
    const atRuntime = header(
      (await raw(request(`/headers${query}`, [signed({}, "/headers"), "Authorization: Bearer x"]))).text,
    );
    expect(atRuntime.url).not.toContain("auth_token");
    expect(JSON.stringify(atRuntime.raw)).not.toContain("Bearer x");
  }
});

test("ports", async () => {
  const at = async (path: string) => (await raw(request(path, [signed({}, path)]))).status;
  const own = Number(new URL(sandbox.url).port);
  for (const bad of [
    "0",
    "00",
    "08",
    "65536",
    "99999",
    "123456",
    "-1",
    "+80",
    "8e1",
    "80a",
    "",
    "0x50",
    "１",
    "%38%30",
  ])
    expect([bad, await at(encodeURI(`/proxy/${bad}/`).replaceAll("%25", "%"))]).toEqual([bad, 400]);
  expect(await at("/proxy")).toBe(400);
  for (const path of [`/proxy/${own}/svc/health`, `/proxy/${own}`, `/proxy/${sandbox.runtimePort}/config`])
    expect(await at(path)).toBe(403);
  expect(await at("/proxy/1/")).toBe(502);
  expect(await at(`/proxy/${port}`)).toBe(200);
  expect(await at(`/proxy/${port}/`)).toBe(200);
});

test("a browser gets a page, which reloads if that may help", async () => {
  const page = (target: string, lines: string[] = [signed({}, target)]) =>
    raw(request(target, ["Accept: text/html,*/*", ...lines]));
  const soon = await page("/proxy/1/");
  expect(soon.text).toMatch(
    /content-type: text\/html[\s\S]*http-equiv="refresh"[\s\S]*No program responds on port 1/i,
  );
  for (const answer of [await page("/", []), await page("/proxy/0/"), await page("/config")]) {
    expect(answer.text).toMatch(/content-type: text\/html/i);
    expect(answer.text).not.toContain("refresh");
  }
});

test.each([
  "/proxy/PORT/../../svc/env",
  "/proxy/PORT/./x",
  "/proxy/PORT/%2e%2e/%2e%2e/svc/env",
  "/proxy/PORT/..%2f..%2fsvc/env",
  "/proxy/PORT/%252e%252e/x",
  "/proxy/PORT/..\\..\\svc\\env",
  "/proxy%2fPORT/",
  "/proxy/PORT%2f/x",
  "/proxy%5cPORT/",
  "/proxy\\PORT\\x",
  "/proxy/..;/svc/env/../x",
  "/svc%2fhealth",
  "/svc\\health",
  "/%73vc/health",
  "/SVC/health",
  "/pr%6fxy/PORT/",
  "//svc/health",
  "//proxy/PORT/",
  "/x/../svc/health",
  "/x/%2e./svc/health",
  "/./svc/health",
  "/a%5c..%5csvc/health",
  "/session#/svc/health",
  "http://sandbox/svc/health",
  "http://sandbox/session/status",
  "*",
  "svc/health",
])("rejects a target that is not normalized: %s", async (target) => {
  const at = target.replace("PORT", String(port));
  const text = request(at, [signed({ role: "platform" }, at)]);
  expect((await raw(text)).status).toBe(400);
});

test("forwards encoded slashes and dots unchanged", async () => {
  const get = async (target: string) => await raw(request(target, [signed({}, target)]));
  const answer = await get(`/proxy/${port}/@scope%2fname//x%20y?z=%2F..`);
  expect(answer.status).toBe(404);
  const seen = await get(`/proxy/${port}/headers?x=/../%2e%2e`);
  expect(seen.text).toContain('"url":"/headers?x=/../%2e%2e"');
});

test("rejects ambiguous requests", async () => {
  const post = (lines: string[], body: string) =>
    request("/echo", [signed({}, "/echo", "POST"), ...lines], "POST") + body;
  for (const text of [
    post(["Content-Length: 3", "Transfer-Encoding: chunked"], "0\r\n\r\n"),
    post(["Content-Length: 3", "Content-Length: 4"], "abc"),
    post(["Host: other"], ""),
    post(["Transfer-Encoding: chunked", "Transfer-Encoding: identity"], "0\r\n\r\n"),
    "GET / HTTP/1.1\r\n\r\n",
  ])
    expect((await raw(text)).status).toBe(400);
});

const PRIVATE = [
  "/config",
  "/config/providers",
  "/global/config",
  "/auth/x",
  "/auth",
  "/global/upgrade",
  "/global/dispose",
  "/tui/x",
  "/tui",
];
const spellings = (path: string): string[] => [
  path,
  `${path}/`,
  `${path}?x=1`,
  path.toUpperCase(),
  path.replace(/(?<=.)\//g, "//"),
  `${path}//`,
  path.replace(/[a-z]/, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
  path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`),
  path.replace(/[a-z]/, (letter) => `%25${letter.charCodeAt(0).toString(16)}`),
];

test.each(PRIVATE)("a chat client cannot reach %s, in any spelling", async (path) => {
  for (const role of ["user", "agent"] as const)
    for (const spelt of spellings(path))
      expect([spelt, (await raw(request(spelt, [signed({ role }, spelt)]))).status]).toEqual([spelt, 403]);
});

test("a path that only begins with such a name is allowed, and svc itself can reach all of them", async () => {
  for (const path of ["/configuration", "/author", "/tuition"])
    expect((await sandbox.call("GET", path)).status).toBe(404);
  expect((await sandbox.call("GET", "/config", "platform")).status).toBe(200);
});
