import { afterAll, beforeAll, describe, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { eq } from "drizzle-orm";
import { accountMembers, previewLinks, projectSessions, runs } from "../../db/schema/index.ts";
import type { GatewayBench, SessionOf } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type Proxied, startProxied } from "../helpers/proxied.ts";
import { type RawAnswer, rawRequest, sendRaw } from "../helpers/raw-http.ts";
import { changeRun, type RunValues } from "../helpers/session-row.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);

let proxied: Proxied;
let bench: GatewayBench;
let session: SessionOf;
let port: number;

beforeAll(async () => {
  if (!POSTGRES) return;
  proxied = await startProxied();
  ({ bench, session, port } = proxied);
});

afterAll(() => proxied?.stop());

const PAGE = "Accept: text/html,*/*;q=0.8";
const hostOf = (of = port, id = session.id) => `p${of}-${id}.localhost:${new URL(bench.api.url).port}`;

/** Asks a preview; `lines` are more of the head. */
const visit = (path: string, lines: string[] = [], host = hostOf(), method = "GET", body = "") =>
  sendRaw(bench.api.url, rawRequest(path, [`Host: ${host}`, ...lines], method, body));

const link = (body: unknown = { port }, options: { token?: string | null; id?: string } = {}) =>
  bench.api.call(
    "POST",
    `/v1/projects/${bench.hosted.project.project_id}/sessions/${options.id ?? session.id}/preview`,
    { body, ...(options.token !== undefined && { token: options.token }) },
  );

/** Signs a browser in; the `Cookie` line that it sends from then on. */
async function signIn(of = port, token = bench.api.token, id = session.id): Promise<string> {
  const { url } = (await link({ port: of }, { token, id })).body;
  const answer = await visit(new URL(url).search.replace(/^/, "/"), [], hostOf(of, id));
  expect(answer.status).toBe(303);
  return `Cookie: ${/^Set-Cookie: ([^;]+)/m.exec(answer.text)?.[1]}`;
}

function seen({ text }: RawAnswer): { url: string; raw: string[] } {
  return JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
}

describe("a link", () => {
  test("has the preview's host, and expires after five minutes", async () => {
    const { status, body } = await link();
    expect(status).toBe(201);
    expect(body.url).toMatch(
      new RegExp(`^http://${hostOf().replaceAll(".", "\\.")}/\\?token=svc_pv_[\\w-]{43}$`),
    );
    const left = Date.parse(body.expires_at) - Date.now();
    expect(left).toBeGreaterThan(290_000);
    expect(left).toBeLessThan(301_000);
    expect((await link({})).body.url).toContain(`//p3000-${session.id}.`);
  });

  test("requires write access to the project", async () => {
    const stranger = await bench.api.mint("stranger@example.com");
    const other = await bench.session(bench.external);
    const rows: [string | null, string, unknown, number][] = [
      [null, session.id, {}, 401],
      [stranger, session.id, {}, 403],
      [other.token, session.id, {}, 403],
      [session.serviceKey, session.id, {}, 401],
      [session.token, session.id, {}, 201],
      [bench.api.token, crypto.randomUUID(), {}, 404],
      [bench.api.token, other.id, {}, 404],
      [bench.api.token, "main", {}, 400],
      [bench.api.token, session.id, { port: 0 }, 400],
      [bench.api.token, session.id, { port: 65_536 }, 400],
      [bench.api.token, session.id, { port: "3000" }, 400],
      [bench.api.token, session.id, { port: 8000 }, 403],
      [bench.api.token, session.id, { port: 4096 }, 403],
    ];
    for (const [token, id, body, status] of rows) {
      expect([id, body, (await link(body, { token, id })).status]).toEqual([id, body, status]);
    }
  });

  test("signs in one browser, once, and is removed from the address", async () => {
    const { url } = (await link()).body;
    const path = `/deep/er?a=1&${new URL(url).search.slice(1)}&b=%20`;
    const answers = await Promise.all(Array.from({ length: 8 }, () => visit(path, [PAGE])));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([303, 401, 401, 401, 401, 401, 401, 401]);
    const text = answers.find(({ status }) => status === 303)?.text ?? "";
    expect(text).toContain("\r\nLocation: /deep/er?a=1&b=%20\r\n");
    expect(text).toMatch(
      /\r\nSet-Cookie: svc_preview=[\w-]+\.[\w-]+; Path=\/; HttpOnly; SameSite=Lax; Max-Age=43200\r\n/,
    );
    expect(text).toMatch(/Cache-Control: no-store[\s\S]*Referrer-Policy: no-referrer/);
    const again = await visit(path, [PAGE]);
    expect(again.text).toMatch(/401[\s\S]*text\/html[\s\S]*default-src 'none'/);
    expect(again.text).toContain(`svc sessions preview ${session.id} ${port}`);
    expect(again.text).not.toContain("Set-Cookie");
    // who is signed in goes on
    expect((await visit(path, [await signIn()])).text).toMatch(/303[\s\S]*Location: \/deep\/er\?a=1&b=%20/);
  });

  test("is for one port of one session, and expires", async () => {
    const other = await bench.session(bench.hosted);
    for (const host of [hostOf(port + 1), hostOf(port, other.id)]) {
      const { url } = (await link()).body;
      expect((await visit(`/${new URL(url).search}`, [], host)).status).toBe(401);
    }
    const { url } = (await link()).body;
    await bench.db.update(previewLinks).set({ expiresAt: new Date(Date.now() - 1000) });
    expect((await visit(`/${new URL(url).search}`)).status).toBe(401);
  });

  test("is not used up by HEAD, and never redirects to another site", async () => {
    const { url } = (await link()).body;
    const { search } = new URL(url);
    expect((await visit(`/${search}`, [], hostOf(), "HEAD")).status).toBe(401);
    expect((await visit(`//evil.example/${search}`)).status).toBe(400);
    expect((await visit(`/\\evil.example/${search}`)).status).toBe(400);
    expect((await visit(`/${search}`)).status).toBe(303);
  });

  test("is limited in number", async () => {
    const { id } = await bench.session(bench.hosted);
    const made = await Promise.all(Array.from({ length: 101 }, () => link({}, { id })));
    expect(made.some(({ status }) => status === 429) || (await link({}, { id })).status === 429).toBe(true);
  });
});

describe("a cookie", () => {
  test("opens its preview, and is not forwarded to the app, nor is any token of svc", async () => {
    const cookie = await signIn();
    const answer = await visit(`/headers?token=app&x=1`, [
      `${cookie}; theirs=1`,
      "Authorization: Bearer the-app's",
      "X-Svc-User-Context: forged",
    ]);
    const { url, raw } = seen(answer);
    expect(url).toBe("/headers?token=app&x=1");
    expect(raw).toContain("Bearer the-app's");
    expect(raw).toContain("theirs=1");
    expect(raw[raw.indexOf("Host") + 1]).toBe(hostOf());
    expect(JSON.stringify(raw)).not.toMatch(/svc_preview|forged|x-svc/i);
    for (const value of [`Bearer ${bench.api.token}`, `Basic ${btoa(`x:${bench.api.token}`)}`]) {
      const text = JSON.stringify(seen(await visit("/headers", [cookie, `Authorization: ${value}`])).raw);
      expect(text).not.toMatch(/authorization/i);
    }
    const { body } = await link();
    const posted = await visit(
      `/headers?a=1&${new URL(body.url).search.slice(1)}`,
      [cookie],
      hostOf(),
      "POST",
    );
    expect(seen(posted).url).toBe("/headers?a=1");
  });

  test("is for one port of one session", async () => {
    const cookie = await signIn();
    const other = await bench.session(bench.hosted);
    for (const host of [hostOf(port + 1), hostOf(port, other.id)]) {
      expect((await visit("/", [cookie], host)).status).toBe(401);
    }
  });

  const forged: [string, (value: string) => string][] = [
    ["none", () => ""],
    ["cut off", (value) => value.slice(0, -2)],
    ["without a signature", (value) => value.split(".")[0] ?? ""],
    ["of other claims", (value) => `${value.slice(5)}`],
    ["of another purpose", (value) => sign(value.split(".")[0] ?? "", "clone-credential")],
    ["expired", (value) => sign(claims(value, { 4: Math.floor(Date.now() / 1000) - 1 }))],
    ["of another port", (value) => sign(claims(value, { 1: 3000 }))],
    ["of an unknown user", (value) => sign(claims(value, { 2: crypto.randomUUID() }))],
  ];
  test.each(forged)("that is %s is rejected", async (_, forge) => {
    const value = (await signIn()).replace("Cookie: svc_preview=", "");
    const { status } = await visit("/", [`Cookie: svc_preview=${forge(value)}`]);
    expect([401, 403]).toContain(status);
  });

  test("works beside a cookie that another host set", async () => {
    const cookie = await signIn();
    const [name = "", value = ""] = cookie.replace("Cookie: ", "").split("=");
    const both = `Cookie: ${name}=tossed.in; ${name}=${value}`;
    expect((await visit("/", [both])).status).toBe(200);
  });

  function claims(value: string, change: Record<number, unknown>): string {
    const old: unknown[] = JSON.parse(Buffer.from(value.split(".")[0] ?? "", "base64url").toString());
    return Buffer.from(JSON.stringify(old.map((item, at) => change[at] ?? item))).toString("base64url");
  }

  function sign(body: string, purpose = "preview cookie"): string {
    return `${body}.${bench.keys.mac(purpose, body).toString("base64url")}`;
  }

  test("is rejected once its user is no longer a member, or the session is deleted", async () => {
    const token = await bench.api.mint("second@example.com");
    const { user_id: userId } = (await bench.api.call("GET", "/v1/accounts/me", { token })).body;
    const { account_id: accountId } = bench.hosted.project;
    await bench.db.insert(accountMembers).values({ accountId, userId, role: "member" });
    const cookie = await signIn(port, token);
    expect((await visit("/", [cookie])).status).toBe(200);
    await bench.db.delete(accountMembers).where(eq(accountMembers.userId, userId));
    await until("it is refused", async () => (await visit("/", [cookie])).status === 403);
    const short = await bench.session(bench.hosted);
    const last = await signIn(port, bench.api.token, short.id);
    await bench.end(short.id);
    expect((await visit("/", [last], hostOf(port, short.id))).status).toBe(404);
  });
});

test("rejects requests from pages of other sites", async () => {
  const cookie = await signIn();
  const own = `Origin: http://${hostOf()}`;
  const sibling = `Origin: http://${hostOf(port + 1)}`;
  const upgrade = [
    "Upgrade: websocket",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Version: 13",
  ];
  const rows: [string, string[], number][] = [
    ["GET", [], 200],
    ["GET", ["Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: cors"], 200],
    ["GET", ["Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"], 200],
    ["GET", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"], 200],
    ["GET", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], 403],
    ["GET", ["Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: cors", sibling], 403],
    ["POST", [], 200],
    ["POST", [own], 200],
    ["POST", [own, "Sec-Fetch-Site: same-origin"], 200],
    ["POST", [sibling], 403],
    ["POST", ["Origin: https://evil.example"], 403],
    ["POST", ["Origin: null"], 403],
    ["POST", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate"], 403],
    ["DELETE", ["Origin: https://evil.example"], 403],
  ];
  for (const [method, lines, status] of rows) {
    const answer = await visit("/headers", [cookie, ...lines], hostOf(), method);
    expect([method, lines, answer.status]).toEqual([method, lines, status]);
  }
  const socket = (lines: string[]) =>
    sendRaw(
      bench.api.url,
      `GET /ws/refused HTTP/1.1\r\nHost: ${hostOf()}\r\nConnection: Upgrade, close\r\n${[cookie, ...upgrade, ...lines].join("\r\n")}\r\n\r\n`,
    );
  // the origin's own refusal says that it was asked
  expect((await socket([own])).text).toEndWith("no");
  expect((await socket([sibling])).text).toContain('"code":"forbidden"');
  expect((await socket(["Origin: https://evil.example"])).text).toContain('"code":"forbidden"');
});

test("a host that is not a preview's serves the API, not a sandbox", async () => {
  const cookie = await signIn();
  const api = new URL(bench.api.url).port;
  const names = [
    `p0${port}-${session.id}.localhost:${api}`,
    `p70000-${session.id}.localhost:${api}`,
    `p-${session.id}.localhost:${api}`,
    `p${port}-${session.id.replaceAll("-", "")}.localhost:${api}`,
    `p${port}-${session.id}.localhost.:${api}`,
    `p${port}-${session.id}.localhost.evil.example`,
    `p${port}-${session.id}.evil.localhost`,
    `x.p${port}-${session.id}.localhost`,
    `p${port}-${session.id}`,
  ];
  for (const name of names)
    expect([name, (await visit("/headers", [cookie], name)).status]).toEqual([name, 404]);
  for (const name of [
    hostOf().toUpperCase(),
    `p${port}-${session.id}.localhost:9`,
    `p${port}-${session.id}.localhost`,
  ]) {
    expect([name, (await visit("/headers", [cookie], name)).status]).toEqual([name, 200]);
  }
  expect((await visit("/svc/health", [cookie], hostOf(8000))).status).toBe(403);
  expect((await visit("/v1/health", [cookie])).text).not.toContain("svc-api");
});

describe("a session that is not running", () => {
  const of = async ({ name, ...run }: RunValues & { name?: string }) => {
    const { id } = await bench.session(bench.hosted);
    const cookie = await signIn(port, bench.api.token, id);
    // it is assigned to this server, which cannot start it: the repository does not have the branch
    const place = readFileSync(join(bench.api.dataDir, "server-id"), "utf8").trim();
    await changeRun(bench.db, id, { place, ...run });
    if (name !== undefined)
      await bench.db.update(projectSessions).set({ name }).where(eq(projectSessions.sessionId, id));
    const ask = (lines: string[], method = "GET") => visit("/", [cookie, ...lines], hostOf(port, id), method);
    // an admission is remembered for a moment
    await until("it is seen", async () => (await ask([])).status === 503);
    const status = async () =>
      (await bench.db.select().from(projectSessions).where(eq(projectSessions.sessionId, id)))[0]?.status;
    return { id, ask, status };
  };

  test("shows its start on a page without scripts", async () => {
    const name = `<script>alert("1")</script>`;
    // a server that nobody runs starts it, and so it stays as it is
    const { ask } = await of({ status: "provisioning", step: "clone", name, place: "nobody's" });
    const { text } = await ask([PAGE]);
    expect(text).toMatch(/503 Service Unavailable[\s\S]*Retry-After: \d/);
    expect(text).toContain("Content-Security-Policy: default-src 'none'");
    expect(text).toContain('<meta http-equiv="refresh" content="3">');
    expect(text).toContain("cloning the repository");
    expect(text).toContain("&#60;script&#62;");
    expect(text).not.toContain("<script");
    const json = await ask([]);
    expect(json.text).toMatch(/503[\s\S]*Retry-After: \d[\s\S]*"code":"not_running","status":"provisioning"/);
  });

  test("shows why it failed, and stays failed", async () => {
    const { ask, status, id } = await of({ status: "failed", error: "The image <b>could</b> not be built." });
    const { text } = await ask([PAGE, "Sec-Fetch-Mode: navigate"]);
    expect(text).toContain("The image &#60;b&#62;could&#60;/b&#62; not be built.");
    expect(text).toContain(`svc sessions restart ${id}`);
    expect(text).not.toContain("http-equiv");
    expect(await status()).toBe("failed");
  });

  test("is restarted when a person navigates to it, but not by requests of an open page", async () => {
    const { ask, status } = await of({ status: "stopped", goal: "stopped" });
    for (const lines of [
      ["Accept: */*"],
      ["Accept: text/event-stream", "Sec-Fetch-Mode: cors"],
      [PAGE, "Sec-Fetch-Mode: no-cors"],
      ["Sec-Fetch-Mode: websocket", "Upgrade: websocket"],
    ]) {
      expect((await ask(lines)).text).toMatch(/503[\s\S]*stopped/);
      expect((await ask(lines, "HEAD")).status).toBe(503);
      expect(await status()).toBe("stopped");
    }
    expect((await ask([PAGE, "Sec-Fetch-Mode: navigate"])).text).toMatch(/503[\s\S]*The session is starting/);
    expect(await status()).not.toBe("stopped");
  });

  test("is restarted once by requests at the same time", async () => {
    const { id, ask } = await of({ status: "stopped", goal: "stopped" });
    const generation = async () =>
      (await bench.db.select().from(runs).where(eq(runs.runId, id)))[0]?.generation ?? 0;
    const before = await generation();
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => ask([PAGE, "Sec-Fetch-Mode: navigate"])),
    );
    for (const { status } of answers) expect(status).toBe(503);
    expect(await generation()).toBe(before + 1);
  });

  test("is restarted by a POST through the API's proxy, too", async () => {
    const { id, status } = await of({ status: "stopped", goal: "stopped" });
    expect((await bench.api.call("GET", `/v1/p/${id}/8000/session`)).body.status).toBe("stopped");
    const answer = await bench.api.call("POST", `/v1/p/${id}/8000/session`);
    expect([answer.status, answer.body.code]).toEqual([503, "not_running"]);
    expect(await status()).not.toBe("stopped");
  });
});

test("a proxy may request certificates only for the names of sessions and apps", async () => {
  const check = (domain: string) =>
    bench.api.call("GET", `/v1/preview-hosts/check?domain=${encodeURIComponent(domain)}`, { token: null });
  const name = hostOf().replace(/:\d+$/, "");
  expect((await check(name)).status).toBe(200);
  const others = [
    name.replace(session.id, crypto.randomUUID()),
    name.replace("localhost", "example.com"),
    name.replace("p", "q"),
    `x.${name}`,
    "unknown--app.localhost",
    "localhost",
    "*.localhost",
  ];
  for (const other of others) expect([other, (await check(other)).status]).toEqual([other, 404]);
  expect((await check("a".repeat(300))).status).toBe(400);
});

test("with a preview domain, cookies are secure, and apps get requests for localhost", async () => {
  const other = await startProxied({
    SVC_PREVIEW_HOST: "preview.example.net",
    SVC_PUBLIC_URL: "https://svc.example.com",
  });
  try {
    const path = `/v1/projects/${other.bench.hosted.project.project_id}/sessions/${other.session.id}/preview`;
    const { url } = (await other.bench.api.call("POST", path, { body: { port: other.port } })).body;
    const { host, search, protocol } = new URL(url);
    expect([protocol, host]).toEqual(["https:", `p${other.port}-${other.session.id}.preview.example.net`]);
    const ask = (target: string, lines: string[]) =>
      sendRaw(other.bench.api.url, rawRequest(target, [`Host: ${host}`, ...lines]));
    const { text } = await ask(`/${search}`, []);
    const cookie = /^Set-Cookie: (__Host-svc_preview=[^;]+);.*; Secure/m.exec(text)?.[1] ?? "";
    const told = async (origin: string) => {
      const { raw } = seen(await ask("/headers", [`Cookie: ${cookie}`, `Origin: ${origin}`]));
      return [raw[raw.indexOf("Host") + 1], raw[raw.indexOf("Origin") + 1]];
    };
    const local = `localhost:${other.port}`;
    expect(await told(`https://${host}`)).toEqual([local, `http://${local}`]);
    expect(await told("https://elsewhere.example")).toEqual([local, "https://elsewhere.example"]);
    expect((await ask("/headers", [`Cookie: ${cookie.replace("__Host-", "")}`])).status).toBe(401);
  } finally {
    await other.stop();
  }
});
