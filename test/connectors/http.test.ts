import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConnectorBench, type Service, startConnectors, startService } from "../helpers/connectors.ts";

let bench: ConnectorBench;
let service: Service;

beforeAll(async () => {
  bench = await startConnectors();
  service = startService((got) => Response.json({ got: `${got.method} ${got.path}` }));
  await bench.setSecret("KEY", "key-1", { for: ["connectors"] });
  const policies = [
    ["GET /repos/*", "allow"],
    ["DELETE *", "deny"],
    ["POST /repos/*", "allow"],
  ].map(([match, action]) => `[[connectors.policies]]\nmatch = "${match}"\naction = "${action}"\n`);
  await bench.have(
    `[[connectors]]\nslug = "api"\ntype = "http"\nurl = "${service.url}/base/"\nauth = "KEY"\n${policies.join("")}
[[connectors]]\nslug = "open"\ntype = "http"\nurl = "${service.url}"\n`,
  );
});
afterAll(async () => {
  await bench?.stop();
  await service?.stop();
});

const send = (args: Record<string, unknown>) => bench.agent.call("api_request", args);

test("a request goes below the address, with the query, the body as JSON and the credential", async () => {
  const answered = await send({
    method: "POST",
    path: "/repos/a b?c#d%2e",
    query: { q: "x&y=z", page: 2, all: true },
    body: { title: "é" },
  });
  const path = "/base/repos/a%20b%3Fc%23d%252e?q=x%26y%3Dz&page=2&all=true";
  expect(answered).toMatchObject({ isError: false, text: `HTTP 200\n{"got":"POST ${path}"}` });
  expect(service.got.at(-1)).toMatchObject({
    body: '{"title":"é"}',
    headers: { authorization: "Bearer key-1", "content-type": "application/json" },
  });
  expect(await bench.lastCall()).toMatchObject({ tool: "POST /repos/a b?c#d%2e", outcome: "ok" });
});

describe("policies", () => {
  test.each([
    ["DELETE", "/repos/a"],
    ["GET", "/users"],
    ["GET", "/"],
    ["PUT", "/repos/a"],
  ])("%s %s is denied, and nothing is sent", async (method, path) => {
    const before = service.got.length;
    expect((await send({ method, path })).value).toMatchObject({ code: "tool_denied" });
    expect(service.got.length).toBe(before);
    expect(await bench.lastCall()).toMatchObject({ tool: `${method} ${path}`, outcome: "denied" });
  });

  test.each([
    "/repos/../users",
    "/repos/./a",
    "/repos//a",
    "//evil.example/a",
    "/repos/..",
    "/repos\\..\\users",
    "/repos/a\nb",
    "repos/a",
    "",
    "https://evil.example/",
    `/${"a".repeat(2_000)}`,
  ])("the path %j is refused: it could be read as another one", async (path) => {
    const before = service.got.length;
    for (const name of ["api_request", "open_request"])
      expect((await bench.agent.call(name, { method: "GET", path })).value).toMatchObject({
        code: "validation_failed",
      });
    expect(service.got.length).toBe(before);
  });

  test("escapes of a path stay escapes", async () => {
    await send({ method: "GET", path: "/repos/%2e%2e/users" });
    expect(service.got.at(-1)?.path).toBe("/base/repos/%252e%252e/users");
  });
});

test.each([
  { method: "TRACE", path: "/repos/a" },
  { method: "GET" },
  { method: "GET", path: "/repos/a", query: { a: {} } },
  { method: "GET", path: "/repos/a", headers: { host: "x" } },
])("wrong arguments are refused: %j", async (args) => {
  expect((await send(args)).value).toMatchObject({ code: "validation_failed" });
});

test("an error of the API is a result with its status; a file is an error", async () => {
  service.answer = () => Response.json({ message: "no" }, { status: 404 });
  expect(await send({ method: "GET", path: "/repos/a" })).toMatchObject({
    isError: true,
    text: 'HTTP 404\n{"message":"no"}',
  });
  expect(await bench.lastCall()).toMatchObject({ outcome: "failed" });
  service.answer = () => new Response("\u0000PNG", { headers: { "content-type": "image/png" } });
  expect((await send({ method: "GET", path: "/repos/a" })).value).toMatchObject({ code: "connector_failed" });
});
