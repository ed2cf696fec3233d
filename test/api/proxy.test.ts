import { afterAll, beforeAll, describe, expect } from "bun:test";
import { eq } from "drizzle-orm";
import { accountMembers, sessionSandboxes } from "../../db/schema/index.ts";
import { freePort } from "../../scripts/free-port.ts";
import type { GatewayBench, SessionOf } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type Proxied, startProxied } from "../helpers/proxied.ts";
import { rawRequest, sendRaw } from "../helpers/raw-http.ts";
import { type Sandbox, SERVICE_KEY } from "../helpers/sandbox.ts";
import { changeRun } from "../helpers/session-row.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);

let proxied: Proxied;
let bench: GatewayBench;
let sandbox: Sandbox;
let session: SessionOf;
let port: number;

beforeAll(async () => {
  if (!POSTGRES) return;
  proxied = await startProxied();
  ({ bench, sandbox, session, port } = proxied);
});

afterAll(() => proxied?.stop());

/** `/v1/p/<session>/<port>` and what follows. */
const at = (path: string, of: number | string = port, id = session.id) => `/v1/p/${id}/${of}${path}`;
const bearer = (token = bench.api.token) => `Authorization: Bearer ${token}`;
const ask = (path: string, init: RequestInit = {}) =>
  fetch(bench.api.url + at(path), {
    redirect: "manual",
    ...init,
    headers: { Authorization: `Bearer ${bench.api.token}`, ...init.headers },
  });
const raw = (target: string, lines: string[] = [], method = "GET", body = "") =>
  sendRaw(bench.api.url, rawRequest(target, ["Host: localhost", bearer(), ...lines], method, body));
/** What the origin was asked, as it saw it. */
async function seen(lines: string[] = [], query = ""): Promise<{ url: string; raw: string[] }> {
  const { text } = await raw(at(`/headers${query}`), lines);
  return JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
}

describe("access", () => {
  const rows: [string, () => { token: string | null; id?: string; of?: string }, number, string][] = [
    ["nobody", () => ({ token: null }), 401, "unauthorized"],
    ["an unknown token", () => ({ token: "svc_pat_unknown" }), 401, "unauthorized"],
    ["the sandbox's own key", () => ({ token: SERVICE_KEY }), 401, "unauthorized"],
    ["a clone credential", () => ({ token: session.cloneCredential }), 401, "unauthorized"],
    [
      "a stranger at an unknown session",
      () => ({ token: null, id: crypto.randomUUID() }),
      401,
      "unauthorized",
    ],
    [
      "a member at an unknown session",
      () => ({ token: bench.api.token, id: crypto.randomUUID() }),
      404,
      "not_found",
    ],
    ["a name instead of an id", () => ({ token: bench.api.token, id: "main" }), 400, "validation_failed"],
    ["a port that is none", () => ({ token: bench.api.token, of: "70000" }), 400, "validation_failed"],
    ["the runtime's own port", () => ({ token: bench.api.token, of: "4096" }), 403, "forbidden"],
    ["a member", () => ({ token: bench.api.token }), 200, ""],
    ["the session's own token", () => ({ token: session.token }), 200, ""],
    ["a session in capitals", () => ({ token: session.token, id: session.id.toUpperCase() }), 200, ""],
  ];
  test.each(rows)("%s", async (_, made, status, code) => {
    const { token, id = session.id, of = port } = made();
    const answer = await bench.api.call("GET", at("/", of, id), { token });
    expect([answer.status, answer.body?.code ?? ""]).toEqual([status, code]);
    if (status === 200) return;
    expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
    expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  });

  test("rejects non-members and tokens of other projects", async () => {
    const stranger = await bench.api.mint("stranger@example.com");
    const other = await bench.session(bench.external);
    for (const token of [stranger, other.token]) {
      const answer = await bench.api.call("GET", at("/"), { token });
      expect([answer.status, answer.body.code]).toEqual([403, "forbidden"]);
    }
  });

  test("a revoked token and a lost membership apply within five seconds, also on a keep-alive connection", async () => {
    const token = await bench.api.mint("second@example.com");
    const me = (await bench.api.call("GET", "/v1/accounts/me", { token })).body;
    const { account_id: accountId } = bench.hosted.project;
    const join = () =>
      bench.db.insert(accountMembers).values({ accountId, userId: me.user_id, role: "member" });
    const status = async () => (await bench.api.call("GET", at("/"), { token })).status;
    await join();
    expect(await status()).toBe(200);
    await bench.db.delete(accountMembers).where(eq(accountMembers.userId, me.user_id));
    await until("it is refused", async () => (await status()) === 403);
    await join();
    await until("it is let in", async () => (await status()) === 200);
    const { tokens } = (await bench.api.call("GET", "/v1/accounts/tokens", { token })).body;
    for (const { token_id } of tokens) {
      await bench.api.call("DELETE", `/v1/accounts/tokens/${token_id}`, { token });
    }
    await until("it is refused", async () => (await status()) === 401);
  });
});

describe("the forwarded request", () => {
  test("has no headers of svc, and no forged proxy headers", async () => {
    const sent = [
      "X-Svc-User-Context: forged.forged",
      "X-Svc-Anything: 1",
      "X-Request-Id: mine",
      "X-Forwarded-For: 1.2.3.4",
      "X-Forwarded-Host: evil",
      "Forwarded: for=1.2.3.4",
      "X-Real-IP: 1.2.3.4",
      "Cookie: a=1; svc_session=x; svc=u; __Host-svc=v; __Host-svc_preview=y; SVC_X=z; b=2",
      "X-Named: 1",
      "Connection: X-Named",
      "X-Own: stays",
    ];
    const text = JSON.stringify((await seen(sent)).raw);
    expect(text).not.toMatch(/forged|anything|mine|1\.2\.3\.4|evil|svc_|SVC_|X-Named/i);
    expect(text).not.toContain(bench.api.token);
    expect(text).toContain('"a=1; b=2"');
    expect(text).toContain('"X-Own","stays"');
    expect(text).toContain('"X-Forwarded-For","127.0.0.1"');
    expect(text).toContain(`"Host","localhost:${port}"`);
    const alone = JSON.stringify((await seen(["Cookie: svc_a=1"])).raw);
    expect(alone).not.toMatch(/cookie/i);
  });

  test("has the path and query unchanged", async () => {
    expect((await seen([], "?a=%2F..&b=/../c&d=\\")).url).toBe("/headers?a=%2F..&b=/../c&d=\\");
    expect((await raw(at("/@scope%2fname//x%20y"))).text).toContain("no such path");
    expect((await raw(`/v1/p/${session.id}/${port}`)).text).toEndWith("ok");
    expect((await raw(`/v1/p/${session.id}/${port}?x=1`)).text).toEndWith("ok");
  });

  test("port 8000 reaches the daemon and the runtime, but not the platform's own routes", async () => {
    const health = await bench.api.call("GET", at("/svc/health", 8000));
    expect(health.body).toMatchObject({ daemon: "ok", runtime: "ok" });
    expect((await bench.api.call("GET", at("/session/status", 8000))).status).toBe(200);
    for (const token of [bench.api.token, session.token]) {
      for (const path of ["/svc/refresh", "/svc/abort", "/svc/env", "/svc"]) {
        const answer = await bench.api.call("POST", at(path, 8000), { token });
        expect([path, answer.status, answer.body.code]).toEqual([path, 403, "forbidden"]);
      }
      for (const path of ["/config", "/auth/x", "/tui"]) {
        expect((await bench.api.call("GET", at(path, 8000), { token })).status).toBe(403);
      }
    }
    expect((await bench.api.call("GET", at(`/proxy/${port}/`, 8000))).text).toBe("ok");
  });
});

const TWICE = "X-Svc-User-Context: a.b";
const ODD: [string, (good: string) => string, string[]][] = [
  ["dot segments", (good) => `${good}/../../svc/env`, []],
  ["encoded dot segments", (good) => `${good}/%2e%2E/x`, []],
  ["a half encoded one", (good) => `${good}/.%2e/x`, []],
  ["a dot segment before the session", () => `/v1/p/../p/${session.id}/${port}/`, []],
  ["a backslash", (good) => `${good}/..\\x`, []],
  ["a fragment", (good) => `${good}/x#y`, []],
  ["an encoded slash before the port", () => `/v1/p/${session.id}%2f${port}/`, []],
  ["an encoded id", () => `/v1/p/%30${session.id.slice(1)}/${port}/`, []],
  ["an encoded port", () => `/v1/p/${session.id}/%38000/`, []],
  ["a port with a zero before it", () => `/v1/p/${session.id}/08000/`, []],
  ["no port", () => `/v1/p/${session.id}/`, []],
  ["nothing", () => "/v1/p/", []],
  ["an absolute target", (good) => `http://localhost${good}/`, []],
  ["the signature header twice", (good) => `${good}/`, [TWICE, TWICE]],
  ["two hosts", (good) => `${good}/`, ["Host: other"]],
  ["a length and chunks", (good) => `${good}/`, ["Content-Length: 3", "Transfer-Encoding: chunked"]],
  ["two lengths", (good) => `${good}/`, ["Content-Length: 3", "Content-Length: 3"]],
  ["a folded header", (good) => `${good}/`, ["X: 1\r\n y"]],
];

test.each(ODD)("rejects an ambiguous request: %s", async (_, target, lines) => {
  const answer = await raw(target(at("").replace(/\/$/, "")), lines, "POST", "abc");
  expect(answer.status).toBe(400);
  expect(answer.text).toMatch(/"code":"validation_failed"/);
  expect(answer.text).toMatch(/X-Request-Id: [0-9a-f-]{36}/);
});

test("authorizes each request of a connection separately", async () => {
  const two = rawRequest(at("/"), ["Host: localhost", bearer()]).replace("Connection: close\r\n", "");
  const { text } = await sendRaw(bench.api.url, two + rawRequest(at("/"), ["Host: localhost"]));
  expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 200", "HTTP/1.1 401"]);
  const away = two + rawRequest("/v1/health", ["Host: localhost"]);
  expect((await sendRaw(bench.api.url, away)).text).toContain('"service":"svc-api"');
});

test("only WebSocket can upgrade a connection", async () => {
  const lines = ["Host: a", bearer(), "HTTP2-Settings: AAMAAABkAAQAAP__"];
  const { text } = await sendRaw(
    bench.api.url,
    `${rawRequest(at("/headers"), lines).replace("Connection: close", "Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c")}`,
  );
  expect(text).toContain("200 OK");
  expect(text).not.toMatch(/h2c|http2-settings/i);
});

describe("a sandbox that does not answer", () => {
  test("a port where nothing listens is 502", async () => {
    const answer = await bench.api.call("GET", at("/", 1));
    expect([answer.status, answer.body.code]).toEqual([502, "nothing_listening"]);
  });

  test("a daemon that has exited is 502", async () => {
    const {
      host,
      port: daemonPort,
      serviceKey,
    } = { host: "127.0.0.1", port: freePort(), serviceKey: "svc_sb_gone" };
    const gone = await bench.session(bench.hosted, "running", {
      sessionId: crypto.randomUUID(),
      host,
      port: daemonPort,
      serviceKey,
    });
    const answer = await bench.api.call("GET", at("/", 3000, gone.id));
    expect([answer.status, answer.body.code]).toEqual([502, "sandbox_unreachable"]);
  });

  test.each(["provisioning", "stopped", "failed"] as const)("a session that is %s is 503", async (status) => {
    const { id } = await bench.session(bench.hosted);
    await changeRun(bench.db, id, { status });
    const answer = await bench.api.call("GET", at("/", 3000, id));
    expect([answer.status, answer.body.code, answer.body.status]).toEqual([503, "not_running", status]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  });

  test("finds a sandbox at its new address", async () => {
    const move = (at: number) =>
      bench.db.update(sessionSandboxes).set({ port: at }).where(eq(sessionSandboxes.runId, session.id));
    const { port: here } = new URL(sandbox.url);
    await move(freePort());
    await until("it is away", async () => (await ask("/")).status === 502);
    await move(Number(here));
    await until("it is back", async () => (await ask("/")).status === 200);
  });
});
