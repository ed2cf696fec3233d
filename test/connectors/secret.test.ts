import { afterAll, beforeAll, expect, test } from "bun:test";
import { Writable } from "node:stream";
import pino from "pino";
import {
  type ConnectorBench,
  mcpAnswer,
  type Service,
  startConnectors,
  startService,
  text,
  tool,
} from "../helpers/connectors.ts";
import { untilStatus } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

const SECRET = 'tok_"5up3r\\s3cret"/+=';
/** A part that no escape changes. */
const NEEDLE = "s3cret";

let bench: ConnectorBench;
let service: Service;
let logged = "";
/** Everything that a client got. */
const seen: string[] = [];

beforeAll(async () => {
  const stream = new Writable({
    write(chunk, _, done) {
      logged += chunk;
      done();
    },
  });
  bench = await startConnectors({ deps: { log: pino({ level: "trace" }, stream) } });
  service = startService(() => new Response("no"));
  await bench.setSecret("HUB_TOKEN", SECRET);
  await bench.setSecret("OTHER", "plain-value");
});
afterAll(async () => {
  await bench?.stop();
  await service?.stop();
});

const entry = (slug: string, type = "mcp", more = "") =>
  `[[connectors]]\nslug = "${slug}"\ntype = "${type}"\nurl = "${service.url}/x"\nauth = "HUB_TOKEN"\n${more}\n`;
const environment = (session = bench.session) => bench.provider.sandboxes.get(session)?.environment ?? {};
async function start(): Promise<string> {
  const { session_id } = (await bench.call("POST", "/sessions", { body: {} })).body;
  await until("it has started", () => Object.keys(environment(session_id)).length > 0);
  return session_id;
}

test("a session before the merge has the secret, one after it does not, nor does it learn the name", async () => {
  expect(environment(await start())).toMatchObject({ HUB_TOKEN: SECRET, OTHER: "plain-value" });
  await bench.have(entry("hub"));
  const session = environment(await start());
  expect(session).toMatchObject({ OTHER: "plain-value", SVC_PROJECT_SECRET_NAMES: "OTHER" });
  expect(JSON.stringify(session)).not.toContain(NEEDLE);
});

test("a merge takes it from running sandboxes, also with an entry that has an error", async () => {
  await bench.have("");
  const session = await start();
  expect(environment(session)).toMatchObject({ HUB_TOKEN: SECRET });
  await untilStatus(async () => (await bench.call("GET", `/sessions/${session}`)).body, ["running"]);
  await bench.have('[[connectors]]\nslug = "bad"\ntype = "nonsense"\nauth = "HUB_TOKEN"');
  await until("the running sandbox has lost it", () => {
    const sent = bench.provider.sandboxes.get(session)?.envs.at(-1)?.body;
    return sent !== undefined && !JSON.stringify(sent).includes(NEEDLE);
  });
  expect(JSON.stringify(environment(await start()))).not.toContain(NEEDLE);
});

test("one that is for connectors only is in no sandbox, whatever the manifest says", async () => {
  await bench.setSecret("ONLY", "only-s3cret-value", { for: ["connectors"] });
  await bench.have("");
  expect(JSON.stringify(environment(await start()))).not.toContain("only-s3cret");
});

test("agents can neither change nor remove it", async () => {
  await bench.have(entry("hub"));
  const as = { token: bench.token };
  const put = await bench.call("PUT", "/secrets/HUB_TOKEN", { ...as, body: { value: "mine" } });
  expect([put.status, put.body.code]).toEqual([403, "forbidden"]);
  expect((await bench.call("DELETE", "/secrets/HUB_TOKEN", as)).status).toBe(403);
  expect((await bench.call("PUT", "/secrets/OTHER", { ...as, body: { value: "theirs" } })).status).toBe(200);
});

const FORMS: [string, (bearer: string) => string][] = [
  ["plain", (value) => value],
  ["in JSON", (value) => JSON.stringify({ headers: { authorization: value } })],
  ["in JSON in JSON", (value) => JSON.stringify(JSON.stringify(value))],
  ["in a URL", (value) => `https://a.example/?t=${encodeURIComponent(value)}`],
  ["in Base64", (value) => Buffer.from(value).toString("base64")],
  ["as Basic", (value) => Buffer.from(`:${value.slice("Bearer ".length)}`).toString("base64")],
];

test.each(FORMS)("a service that repeats it does not give it to the agent: %s", async (name, write) => {
  const slug = `echo-${FORMS.findIndex(([each]) => each === name)}`;
  service.answer = async (got, request) => {
    const said = write(got.headers["authorization"] ?? "");
    const answer = mcpAnswer({ tools: [tool("a", { description: `${said} A` })], call: () => text(said) });
    return await answer(got, request);
  };
  await bench.have(entry(slug) + entry(`${slug}h`, "http"));
  const lists = JSON.stringify(await bench.agent.client.listTools());
  const called = JSON.stringify(await bench.agent.client.callTool({ name: `${slug}_a`, arguments: {} }));
  service.answer = (got) => new Response(write(got.headers["authorization"] ?? ""), { status: 418 });
  const api = await bench.agent.call(`${slug}h_request`, { method: "GET", path: "/a" });
  expect([lists, called, api.text].filter((each) => each.includes("[redacted]")).length).toBe(3);
  seen.push(lists, called, api.text);
});

test("nor in an error of the protocol, or an answer of another one", async () => {
  service.answer = (got) =>
    Response.json({
      jsonrpc: "2.0",
      id: JSON.parse(got.body || "{}").id ?? null,
      error: { code: -32000, message: `bad token ${got.headers["authorization"]}` },
    });
  await bench.have(entry("err"));
  const tested = await bench.call("POST", "/connectors/err/test");
  expect(tested).toMatchObject({ status: 502, body: { code: "connector_failed" } });
  expect(tested.text).toContain("[redacted]");
  service.answer = (got) => new Response(`<p>${got.headers["authorization"]}`, { status: 401 });
  const refused = await bench.call("POST", "/connectors/err/test");
  expect(refused.body.error).toBe('The connector "err" failed: it answered 401.');
  seen.push(tested.text, refused.text);
});

test("a secret that is no header value is refused without its text", async () => {
  await bench.setSecret("LINES", "first-s3cret\nsecond-s3cret");
  await bench.have(`[[connectors]]\nslug = "lines"\ntype = "http"\nurl = "${service.url}"\nauth = "LINES"`);
  const called = await bench.agent.call("lines_request", { method: "GET", path: "/a" });
  expect(called.value).toMatchObject({ code: "secret_missing" });
  seen.push(called.text);
});

test("it is sent to the connector's origin only, and never after a redirect", async () => {
  const other = startService(() => new Response("{}"));
  service.answer = () => new Response(null, { status: 307, headers: { location: other.url } });
  await bench.have(entry("moved") + entry("movedh", "http"));
  expect((await bench.call("POST", "/connectors/moved/test")).body.error).toContain(
    "it answered 307, and redirects are not followed",
  );
  const called = await bench.agent.call("movedh_request", { method: "POST", path: "/a", body: {} });
  expect(called.value).toMatchObject({ code: "connector_failed" });
  expect(other.got).toEqual([]);
  await other.stop();
});

test("it is in no log, answer, record or question", async () => {
  service.answer = () => new Response("{}");
  await bench.have(entry("end", "http", '[[connectors.policies]]\nmatch = "*"\naction = "allow"'));
  await bench.agent.call("end_request", { method: "GET", path: "/a" });
  for (const path of ["/connectors", "/connector-calls?limit=200", "/connector-asks", "/secrets"])
    seen.push((await bench.call("GET", path)).text);
  expect(seen.length).toBeGreaterThan(15);
  expect(seen.filter((each) => each.includes(NEEDLE))).toEqual([]);
  expect(logged).toContain("tool called");
  expect(logged).not.toContain(NEEDLE);
});
