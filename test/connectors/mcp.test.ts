import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import {
  type ConnectorBench,
  mcpAnswer,
  type Service,
  startConnectors,
  startService,
  text,
  tool,
} from "../helpers/connectors.ts";
import { connectMcp } from "../helpers/mcp.ts";
import { until } from "../helpers/until.ts";

const SECRET = 'tok_"5up3r\\s3cret"/+=';

let bench: ConnectorBench;
let service: Service;
const usual = mcpAnswer({
  tools: [tool("get_issue"), tool("create_issue"), tool("delete_repo")],
  call: (name, args) => text(`${name} ${JSON.stringify(args)}`),
});

beforeAll(async () => {
  bench = await startConnectors();
  service = startService(usual);
  await bench.setSecret("HUB_TOKEN", SECRET, { for: ["connectors"] });
});
afterEach(() => {
  service.answer = usual;
});
afterAll(async () => {
  await bench?.stop();
  await service?.stop();
});

/** Each test's connector has a slug of its own, so that no list is cached. */
const entry = (slug: string, more = "") =>
  `[[connectors]]\nslug = "${slug}"\ntype = "mcp"\nurl = "${service.url}/mcp"\n${more}\n`;
const policy = (match: string, action: string) =>
  `[[connectors.policies]]\nmatch = "${match}"\naction = "${action}"\n`;
const namesOf = async (slug: string) =>
  (await bench.agent.names()).filter((name) => name.startsWith(`${slug}_`));

test("a connector's tools are the agent's, under its slug, and svc sends the credential", async () => {
  await bench.have(entry("hub", 'auth = "HUB_TOKEN"'));
  expect(await bench.agent.names()).toContain("list_change_requests");
  expect(await namesOf("hub")).toEqual(["hub_get_issue", "hub_create_issue", "hub_delete_repo"]);
  const answered = await bench.agent.call("hub_get_issue", { text: "1" });
  expect(answered).toMatchObject({ isError: false, text: 'get_issue {"text":"1"}' });
  expect(service.got.length).toBeGreaterThan(0);
  for (const { headers } of service.got) expect(headers["authorization"]).toBe(`Bearer ${SECRET}`);
  expect(await bench.lastCall()).toMatchObject({
    connector: "hub",
    tool: "get_issue",
    action: "allow",
    outcome: "ok",
    error: null,
    author: { kind: "agent", session_id: bench.session, name: "first" },
  });
});

test("the secret can be sent in another header, as it is; a server may answer in JSON", async () => {
  service.answer = mcpAnswer({ tools: [tool("one")], call: () => text("yes"), isStreamed: false });
  await bench.have(entry("key", 'auth = "HUB_TOKEN"\nauth_header = "X-Api-Key"'));
  expect(await bench.agent.call("key_one")).toMatchObject({ isError: false, text: "yes" });
  expect(service.got.at(-1)?.headers).toMatchObject({ "x-api-key": SECRET });
  expect(service.got.at(-1)?.headers["authorization"]).toBeUndefined();
});

test("a server with sessions of the protocol gets their id, and their end", async () => {
  let id = "";
  service.answer = async (got, request) => {
    if (got.method === "DELETE") {
      id = got.headers["mcp-session-id"] ?? "";
      return new Response(null, { status: 200 });
    }
    const response = await usual(got, request);
    if (got.body.includes('"initialize"')) response.headers.set("mcp-session-id", "s-1");
    return response;
  };
  await bench.have(entry("kept"));
  expect((await bench.agent.call("kept_get_issue")).isError).toBe(false);
  await until("the session is ended", () => id === "s-1");
});

describe("policies", () => {
  test("hide denied tools, refuse their calls, and record them", async () => {
    await bench.have(entry("pol", policy("get_*", "allow") + policy("create_*", "ask")));
    expect(await namesOf("pol")).toEqual(["pol_get_issue", "pol_create_issue"]);
    const before = service.got.length;
    expect(await bench.agent.call("pol_delete_repo")).toMatchObject({
      isError: true,
      value: { code: "tool_denied", error: expect.stringContaining('"pol" deny delete_repo') },
    });
    const sent = service.got.slice(before).filter(({ body }) => body.includes("tools/call"));
    expect(sent).toEqual([]);
    expect(await bench.lastCall()).toMatchObject({ tool: "delete_repo", action: "deny", outcome: "denied" });
    const tested = await bench.call("POST", "/connectors/pol/test");
    expect(tested.body.tools.map((each: { action: string }) => each.action)).toEqual([
      "allow",
      "ask",
      "deny",
    ]);
  });

  test("those of a branch are not in force until it is merged", async () => {
    await bench.have(entry("old", policy("get_*", "allow")));
    bench.remote.commit(
      "work",
      { "svc.toml": `svc_version = 1\n${entry("old")}${entry("new")}` },
      { from: "main" },
    );
    await bench.call("PATCH", "", { body: { name: "Again" } });
    const opened = await bench.call("POST", "/change-requests", { body: { title: "t", head_ref: "work" } });
    expect(await namesOf("new")).toEqual([]);
    expect(await namesOf("old")).toEqual(["old_get_issue"]);
    expect((await bench.call("GET", "/connectors")).body.connectors).toMatchObject([
      { slug: "old", policies: [{ match: "get_*", action: "allow" }] },
    ]);
    const byAgent = await bench.call("POST", `/change-requests/${opened.body.number}/merge`, {
      token: bench.token,
    });
    expect(byAgent.body.code).toBe("agent_merge_forbidden");
    const merged = await bench.call("POST", `/change-requests/${opened.body.number}/merge`);
    expect(merged.status).toBe(200);
    await until("the merge is in force", async () => (await namesOf("new")).length === 3);
    expect((await namesOf("old")).length).toBe(3);
  });
});

describe("callers", () => {
  test("a user's token has no connectors, a project token has its own project's", async () => {
    await bench.have(entry("who"));
    const user = await connectMcp(bench.api.url, bench.api.token);
    expect((await user.names()).filter((name) => name.startsWith("who_"))).toEqual([]);
    await expect(user.call("who_get_issue")).rejects.toThrow("not found");
    const made = await bench.call("POST", "/cli-token", { body: { name: "ci" } });
    const project = await connectMcp(bench.api.url, made.body.token);
    expect((await project.call("who_get_issue")).isError).toBe(false);
    expect(await bench.lastCall()).toMatchObject({ author: { kind: "token", name: "ci" } });
    const { project_id } = await bench.api.project(bench.remote.url);
    const other = await bench.api.call("POST", `/v1/projects/${project_id}/cli-token`, {
      body: { name: "x" },
    });
    const stranger = await connectMcp(bench.api.url, other.body.token);
    await until("the other project has its own connectors", async () =>
      (await stranger.names()).includes("who_get_issue"),
    );
    await stranger.call("who_delete_repo");
    expect(await bench.lastCall()).toMatchObject({ tool: "get_issue" });
  });

  test("agents cannot read the calls or answer questions", async () => {
    const as = { token: bench.token };
    expect((await bench.call("GET", "/connectors", as)).status).toBe(200);
    for (const path of ["/connector-calls", "/connector-asks"])
      expect((await bench.call("GET", path, as)).status).toBe(403);
  });

  test("an unknown tool, or one of an unknown connector, is not found", async () => {
    for (const name of ["who_unknown", "nobody_get_issue", "who", "_x"])
      await expect(bench.agent.call(name)).rejects.toThrow(`Tool "${name}" not found`);
  });
});

test("without the secret a call says which one to set, and other connectors work", async () => {
  await bench.have(entry("bare", 'auth = "NOT_SET"') + entry("fine"));
  expect((await bench.call("GET", "/connectors")).body.connectors).toMatchObject([
    { slug: "bare", secret_missing: true },
    { slug: "fine", secret_missing: false },
  ]);
  expect(await namesOf("bare")).toEqual([]);
  expect((await namesOf("fine")).length).toBe(3);
  expect((await bench.agent.call("bare_get_issue")).value).toMatchObject({
    code: "secret_missing",
    error: expect.stringContaining("svc secrets set NOT_SET --for connectors"),
  });
});

test("the record of a project is listed in pages, the newest first", async () => {
  await bench.have(entry("many", policy("none", "allow")));
  for (let i = 0; i < 5; i++) await bench.agent.call("many_get_issue");
  const first = (await bench.call("GET", "/connector-calls?limit=3")).body;
  const second = (await bench.call("GET", `/connector-calls?limit=3&cursor=${first.next_cursor}`)).body;
  const ids = [...first.calls, ...second.calls].map(({ call_id }: { call_id: string }) => call_id);
  expect(new Set(ids).size).toBe(6);
  expect(first.calls[0].created_at >= second.calls[0].created_at).toBe(true);
});
