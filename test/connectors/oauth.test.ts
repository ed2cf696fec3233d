import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { svc } from "../helpers/cli-run.ts";
import { type ConnectorBench, startConnectors } from "../helpers/connectors.ts";
import { needs } from "../helpers/needs.ts";
import { type OauthService, startOauthService } from "../helpers/oauth-service.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { recordingOutbound } from "../helpers/recording-outbound.ts";
import { stored } from "../helpers/stored.ts";
import { until } from "../helpers/until.ts";

const withPostgres = needs("a real Postgres", POSTGRES);
let bench: ConnectorBench;
let service: OauthService;
const entry = (url: string) => `[[connectors]]\nslug = "hub"\ntype = "mcp"\nurl = "${url}"\nauth = "oauth"\n`;

beforeAll(async () => {
  bench = await startConnectors();
  service = startOauthService();
  await bench.have(entry(`${service.url}/mcp`));
});
afterAll(async () => {
  await bench?.stop();
  await service?.stop();
});
beforeEach(async () => {
  Object.assign(service, { alter: () => null, expiresIn: 3600, exchanges: [], announcesIssuer: false });
  await bench.call("DELETE", "/connectors/hub/connect");
});

const connect = () => bench.call("POST", "/connectors/hub/connect");
const listed = async () => (await bench.call("GET", "/connectors")).body.connectors[0];
/** What the page does to which the browser returns. */
const complete = (back: URL, more: Record<string, unknown> = {}, as: { token?: string } = {}) =>
  bench.call("POST", "/connector-consents", {
    body: { ...Object.fromEntries(back.searchParams), ...more },
    ...as,
  });
async function connected(): Promise<void> {
  const { body } = await connect();
  const done = await complete(service.consent(body.authorization_url));
  expect([done.status, done.body]).toEqual([200, { slug: "hub" }]);
}
async function anotherAdmin(email: string): Promise<string> {
  const token = await bench.api.mint(email);
  const { db, close } = await openPostgres(bench.api.databaseUrl ?? "");
  await db.execute(sql`insert into account_members (account_id, user_id, role)
    select p.account_id, u.user_id, 'admin' from projects p, users u
    where p.project_id = ${bench.projectId} and u.email = ${email}`);
  await close();
  return token;
}
const read = () => bench.agent.call("hub_read", {});

test("a person connects a connector, whose tools agents then call without its tokens", async () => {
  expect(await listed()).toMatchObject({ auth: "oauth", secret_missing: true, connected_by: null });
  expect((await bench.call("POST", "/connectors/hub/test")).body).toMatchObject({
    code: "secret_missing",
    error: expect.stringContaining("svc connectors connect hub"),
  });
  const { body } = await connect();
  const asked = new URL(body.authorization_url);
  expect(Object.fromEntries(asked.searchParams)).toMatchObject({
    response_type: "code",
    scope: "read write",
    resource: `${service.url}/mcp`,
    redirect_uri: `${bench.api.url.replace("127.0.0.1", "localhost")}/connectors/callback`,
  });
  const done = await complete(service.consent(body.authorization_url));
  expect(done.status).toBe(200);
  expect(await listed()).toMatchObject({
    secret_missing: false,
    connected_by: { name: "first" },
    connected_at: expect.any(String),
  });
  expect(await read()).toMatchObject({ isError: false, text: "done" });
  const { access, refresh } = service.issued;
  const texts = [
    body.authorization_url,
    done.text,
    (await bench.call("GET", "/connectors")).text,
    JSON.stringify(bench.provider.sandboxes.get(bench.session)?.environment),
    await stored(bench.api),
  ];
  for (const secret of [access, refresh]) for (const each of texts) expect(each).not.toContain(secret);
});

test("a token that expires is refreshed once, however many calls need it", async () => {
  await connected();
  for (let round = 1; round <= 5; round++) {
    const before = service.issued.access;
    bench.advance(3600);
    const results = await Promise.all(Array.from({ length: 8 }, read));
    expect(results.map(({ isError }) => isError)).toEqual(Array(8).fill(false));
    expect(service.issued.access).not.toBe(before);
    const refreshes = service.exchanges.filter(({ form }) => form["grant_type"] === "refresh_token");
    expect(refreshes.map(({ status }) => status)).toEqual(Array(round).fill(200));
  }
});

test("a token without a lifetime is used until it is refused", async () => {
  service.expiresIn = null;
  await connected();
  bench.advance(30 * 86_400);
  expect((await read()).isError).toBe(false);
  expect(service.exchanges).toHaveLength(1);
});

test("a token that lives shorter than svc plans ahead is still used", async () => {
  service.expiresIn = 5;
  await connected();
  expect((await read()).isError).toBe(false);
});

test("access that has ended says how to connect again", async () => {
  await connected();
  service.issued.refresh = "revoked";
  bench.advance(3600);
  const { isError, value } = await read();
  expect([isError, value.code]).toEqual([true, "secret_missing"]);
  expect(value.error).toContain("svc connectors connect hub");
  expect((await listed()).secret_missing).toBe(true);
});

test("an authorization server that fails for a moment costs no access", async () => {
  await connected();
  bench.advance(3600);
  service.alter = (path) => (path === "/token" ? new Response("<html>", { status: 503 }) : null);
  expect((await read()).value.code).toBe("connector_failed");
  service.alter = () => null;
  expect((await read()).isError).toBe(false);
});

test("a disconnected connector has no access, and another connection replaces the first", async () => {
  await connected();
  const first = service.issued.access;
  await connected();
  expect(service.issued.access).not.toBe(first);
  expect((await read()).isError).toBe(false);
  expect((await bench.call("DELETE", "/connectors/hub/connect")).body).toEqual({ ok: true });
  expect((await read()).value.code).toBe("secret_missing");
  expect((await bench.call("DELETE", "/connectors/hub/connect")).body.code).toBe("not_found");
});

withPostgres(
  "a consent is completed once, by the person who asked, with its own state and issuer",
  async () => {
    const { body } = await connect();
    const back = service.consent(body.authorization_url);
    const other = await anotherAdmin("second@example.com");
    expect((await bench.call("POST", "/connectors/hub/connect", { token: other })).status).toBe(200);
    for (const [what, tried] of [
      ["another person", await complete(back, {}, { token: other })],
      ["another state", await complete(back, { state: `${bench.projectId}.x` })],
    ] as const)
      expect([what, tried.body.code]).toEqual([what, "not_found"]);
    expect(service.exchanges).toEqual([]);
    expect((await complete(back)).status).toBe(200);
    expect((await complete(back)).body.code).toBe("not_found");
    const second = service.consent((await connect()).body.authorization_url);
    const wrong = await complete(second, { iss: "https://evil.example" });
    expect([wrong.body.code, service.exchanges.length]).toEqual(["connector_failed", 1]);
    service.announcesIssuer = true;
    const third = service.consent((await connect()).body.authorization_url);
    const missing = await complete(third, { iss: undefined });
    expect([missing.body.code, service.exchanges.length]).toEqual(["connector_failed", 1]);
  },
);

test("a consent expires after ten minutes, and twenty may be open", async () => {
  const back = service.consent((await connect()).body.authorization_url);
  bench.advance(10 * 60);
  expect((await complete(back)).body.code).toBe("not_found");
  for (let i = 0; i < 20; i++) expect((await connect()).status).toBe(200);
  const refused = await connect();
  expect([refused.body.code, refused.headers.get("retry-after")]).toEqual(["rate_limited", "600"]);
  bench.advance(11 * 60);
  expect((await connect()).status).toBe(200);
});

test("a code that is not of this consent connects nothing", async () => {
  const one = service.consent((await connect()).body.authorization_url);
  const two = service.consent((await connect()).body.authorization_url);
  const mixed = await complete(one, { code: two.searchParams.get("code") });
  expect(mixed.body.code).toBe("connector_failed");
  expect((await listed()).secret_missing).toBe(true);
});

test("tokens are not sent to a URL that the connector has later", async () => {
  await connected();
  const pending = service.consent((await connect()).body.authorization_url);
  const other = startOauthService();
  try {
    await bench.have(entry(`${other.url}/mcp`));
    expect((await read()).value.code).toBe("secret_missing");
    expect((await listed()).secret_missing).toBe(true);
    expect((await complete(pending)).body.code).toBe("not_found");
    expect(other.got.filter(({ headers }) => "authorization" in headers)).toEqual([]);
  } finally {
    await bench.have(entry(`${service.url}/mcp`));
    await other.stop();
  }
});

const METADATA = "/.well-known/oauth-authorization-server";
const described = (more: Record<string, unknown>) => ({
  ...{ issuer: "https://a.example", authorization_endpoint: "https://a.example/authorize" },
  ...{ token_endpoint: "https://a.example/token", registration_endpoint: "https://a.example/register" },
  ...{ response_types_supported: ["code"], code_challenge_methods_supported: ["S256"] },
  ...more,
});
test.each<[string, Record<string, () => Response>, string]>([
  [
    "does not describe itself",
    { [METADATA]: () => new Response(null, { status: 404 }) },
    "does not publish its metadata",
  ],
  ["describes itself in HTML", { [METADATA]: () => new Response("<html>") }, "OAuth 2.1"],
  [
    "registers nobody",
    { [METADATA]: () => Response.json(described({ registration_endpoint: undefined })) },
    "does not register clients",
  ],
  [
    "has a script as its page",
    { [METADATA]: () => Response.json(described({ authorization_endpoint: "javascript:alert(1)" })) },
    "OAuth 2.1",
  ],
  ["refuses the registration", { "/register": () => Response.json({}, { status: 400 }) }, "OAuth 2.1"],
  ["fails", { "/register": () => new Response("<html>", { status: 500 }) }, "OAuth 2.1"],
  [
    "is for another resource",
    {
      "/.well-known/oauth-protected-resource/mcp": () =>
        Response.json({ resource: "https://b.example/mcp", authorization_servers: [service.url] }),
    },
    "another resource",
  ],
  ["sends too much", { [METADATA]: () => new Response("x".repeat(2 * 1024 * 1024)) }, ""],
])("an authorization server that %s is an error", async (_, answers, words) => {
  service.alter = (path) => answers[path]?.() ?? null;
  const { status, body } = await connect();
  expect([status, body.code]).toEqual([502, "connector_failed"]);
  expect(body.error).toContain(words);
});

test("a token that no header can carry is refused, and repeated nowhere", async () => {
  const back = service.consent((await connect()).body.authorization_url);
  const token = "at_evil\r\nX-Injected: 1";
  service.alter = (path) =>
    path === "/token" ? Response.json({ access_token: token, token_type: "Bearer" }) : null;
  const { body, text } = await complete(back);
  expect([body.code, text.includes("at_evil")]).toEqual(["connector_failed", false]);
  expect((await listed()).secret_missing).toBe(true);
});

test("only a connector with auth = oauth is connected, and only owners and admins do it", async () => {
  await bench.have(`[[connectors]]\nslug = "plain"\ntype = "mcp"\nurl = "${service.url}/mcp"\n`);
  expect((await bench.call("POST", "/connectors/plain/connect")).body.code).toBe("validation_failed");
  for (const slug of ["none", "%00", "a%00", "A", "a".repeat(25)])
    for (const method of ["POST", "DELETE"])
      expect([slug, (await bench.call(method, `/connectors/${slug}/connect`)).body.code]).toEqual([
        slug,
        "not_found",
      ]);
  await bench.have(entry(`${service.url}/mcp`));
  const { status } = await bench.call("POST", "/connectors/hub/connect", { token: bench.token });
  expect(status).toBe(403);
});

test("private addresses of an authorization server are not called", async () => {
  const { outbound, connected } = recordingOutbound(() => ["10.0.0.7"]);
  const guarded = await startConnectors({ deps: { outbound } });
  try {
    await guarded.have(entry("https://mcp.example/mcp"));
    const { body } = await guarded.call("POST", "/connectors/hub/connect");
    expect([body.code, connected]).toEqual(["url_not_allowed", []]);
  } finally {
    await guarded.stop();
  }
});

const svcConnectors = (...args: string[]) =>
  svc(["connectors", ...args], {
    env: {
      SVC_API_URL: `${bench.api.url}/v1`,
      SVC_CLI_TOKEN: bench.api.token,
      SVC_PROJECT_ID: bench.projectId,
    },
  });

test("svc connectors connect prints the page, and waits until a person has consented", async () => {
  expect((await svcConnectors("ls")).stderr).toContain("Next: svc connectors connect hub");
  const registrations = () => service.got.filter(({ path }) => path === "/register").length;
  const before = registrations();
  const waiting = svcConnectors("connect", "hub");
  await until("it has asked for the page", () => registrations() > before);
  await connected();
  const { code, stdout, stderr } = await waiting;
  expect([code, stdout]).toEqual([0, "Connected hub.\n"]);
  expect(stderr).toContain(`Open ${service.url}/authorize?`);
  const shown = await svcConnectors("connect", "hub", "--no-wait");
  expect((await complete(service.consent(shown.stdout.trim()))).status).toBe(200);
  expect((await svcConnectors("disconnect", "hub")).stdout).toBe("Disconnected hub.\n");
  expect((await svcConnectors("connect", "none")).code).toBe(1);
});
