import { afterAll, beforeAll, expect, test } from "bun:test";
import type { TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import {
  me,
  mintedProjectToken,
  mintedUserToken,
  projectToken,
  userToken,
} from "../../src/contract/account.ts";
import {
  changeRequest,
  changeRequestDiff,
  mergedChangeRequest,
  mergePreview,
} from "../../src/contract/change-request.ts";
import { changeRequestManifest, projectManifest } from "../../src/contract/manifest/wire.ts";
import { editedProject, project as projectSchema } from "../../src/contract/project.ts";
import { setFormats } from "../../src/http/formats.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { metricsOf } from "../helpers/metrics.ts";
import { rawRequest, sendRaw } from "../helpers/raw-http.ts";
import { Remote } from "../helpers/remote.ts";

let api: Api;

beforeAll(async () => {
  api = await startApi();
});
afterAll(() => api.stop());

test("health reports service and version without a credential", async () => {
  const database = api.databaseUrl === null ? "embedded" : "postgres";
  const { status, body } = await api.call("GET", "/v1/health", { token: null });
  expect([status, body]).toEqual([
    200,
    { status: "ok", service: "svc-api", version: expect.any(String), database },
  ]);
});

test("responses forbid type sniffing, and those of the API forbid caching: some hold tokens, links or credentials", async () => {
  const minted = await api.call("POST", "/v1/accounts/tokens", { body: { name: "kept by nobody" } });
  const answers = [
    minted,
    await api.call("GET", "/v1/health"),
    await api.call("GET", "/v1/openapi.json"),
    await api.call("GET", "/v1/nowhere"),
    await api.call("GET", "/v1/projects", { token: null }),
    await api.call("GET", "/v1/projects", { headers: { Accept: "text/html" }, token: null }),
    await api.call("POST", "/v1/auth/device", { body: { label: "test" } }),
    await api.call("GET", "/v1/p/x/8000/"),
    await api.call("BREW", "/v1/health"),
  ];
  expect(minted.status).toBe(201);
  for (const { status, headers } of answers)
    expect([status, headers.get("x-content-type-options"), headers.get("cache-control")]).toEqual([
      status,
      "nosniff",
      "no-store",
    ]);
  const git = await api.call("GET", `/v1/git/${crypto.randomUUID()}.git/info/refs`);
  expect(git.headers.get("x-content-type-options")).toBe("nosniff");
});

test.each([
  ["DELETE", "/v1/health", 405, "GET"],
  ["BREW", "/v1/health", 405, "GET"],
  ["BREW", "/v1/health?a=1", 405, "GET"],
  ["get", "/v1/health", 405, "GET"],
  ["TRACE", "/v1/health", 405, "GET"],
  ["PROPFIND", "/v1/projects/x", 405, "DELETE, GET, PATCH"],
  ["PUT", "/v1/projects/x", 405, "DELETE, GET, PATCH"],
  ["BREW", "/v1/git/x.git/info/refs", 405, "GET"],
  ["BREW", "/v1/git/x.git/git-receive-pack", 405, "POST"],
  ["BREW", "/login", 405, "GET"],
  ["BREW", "/v1/nowhere", 404, null],
  ["BREW", "/v1/git/x.git/HEAD", 404, null],
])("rejects a method that the path does not have: %s %s", async (method, path, status, allow) => {
  const { text } = await sendRaw(api.url, rawRequest(path, ["Host: localhost"], method));
  expect([Number(text.slice(9, 12)), /^allow: (.*)\r$/im.exec(text)?.[1] ?? null]).toEqual([status, allow]);
});

test("HEAD is answered like GET, without a body", async () => {
  const answer = await api.call("HEAD", "/v1/health", { token: null });
  expect([answer.status, answer.text]).toEqual([200, ""]);
});

test("the API document names every route of the specification", async () => {
  const { body } = await api.call("GET", "/v1/openapi.json", { token: null });
  const routes = Object.entries<object>(body.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const crs = "/v1/projects/{projectId}/change-requests";
  expect(routes).toEqual(
    expect.arrayContaining([
      `GET ${crs}`,
      `POST ${crs}`,
      `GET ${crs}/{crId}`,
      `PATCH ${crs}/{crId}`,
      `GET ${crs}/{crId}/diff`,
      `GET ${crs}/{crId}/merge-preview`,
      `GET ${crs}/{crId}/manifest`,
      "GET /v1/projects/{projectId}/manifest",
      `POST ${crs}/{crId}/merge`,
      `POST ${crs}/{crId}/close`,
      `POST ${crs}/{crId}/reopen`,
      "GET /v1/projects/{projectId}/branches",
      "GET /v1/projects/{projectId}/commits",
      "GET /v1/projects/{projectId}/files",
      "GET /v1/projects/{projectId}/contents",
      "POST /v1/projects/{projectId}/cli-token",
      "POST /v1/accounts/tokens",
      "GET /v1/accounts/me",
    ]),
  );
});

test("the metrics count requests by route and merges by outcome, and contain no names", async () => {
  const remote = new Remote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const { project_id } = await api.project(remote.url);
  const path = `/v1/projects/${project_id}/change-requests`;
  await api.call("POST", path, { body: { title: "t", head_ref: "work" } });
  await api.call("POST", `${path}/1/merge`);
  await api.call("POST", `${path}/1/merge`);
  const { headers } = await api.call("GET", "/metrics");
  expect(headers.get("content-type")).toStartWith("text/plain");
  const text = await metricsOf(api);
  expect(text).toContain('svc_merges_total{outcome="merged"} 1');
  expect(text).toContain('svc_merges_total{outcome="not_open"} 1');
  expect(text).toMatch(
    /svc_http_request_seconds_count\{method="POST",route="\/v1\/projects\/:projectId\/change-requests",status="201"\} 1/,
  );
  expect(text).toMatch(/svc_git_seconds_count\{operation="push",outcome="answered"\} 1/);
  expect(text).not.toContain(project_id);
  remote.remove();
});

test("if the metrics port is in use, the server exits with one line that names it", async () => {
  const { host } = new URL(api.url);
  const taken = host.replace("localhost", "127.0.0.1");
  await expect(startApi({ env: { SVC_METRICS_LISTEN: taken } })).rejects.toThrow("SVC_METRICS_LISTEN");
});

test("concurrent reads share one listing of a repository's branches", async () => {
  const remote = new Remote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const { project_id } = await api.project(remote.url);
  const path = `/v1/projects/${project_id}/change-requests`;
  await api.call("POST", path, { body: { title: "t", head_ref: "work" } });
  const listed = async () => {
    return Number(/svc_git_listings_total (\d+)/.exec(await metricsOf(api))?.[1]);
  };
  const before = await listed();
  // all of them at once: readers that come one after the other have nothing to share, however busy the machine is
  const answers = await Promise.all(Array.from({ length: 64 }, () => api.call("GET", path)));
  for (const { body } of answers) expect(body.change_requests).toHaveLength(1);
  expect((await listed()) - before).toBeLessThanOrEqual(answers.length / 10);
  remote.remove();
});

test("a browser gets an error page that escapes everything from the request", async () => {
  const browser = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const unknown = await api.call("GET", "/nowhere", { token: null, headers: browser });
  expect([unknown.status, unknown.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(unknown.headers.get("content-security-policy")).toBe("default-src 'none'");
  expect(unknown.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  const remote = new Remote();
  remote.commit("main", { a: "1\n" });
  const { project_id } = await api.project(remote.url);
  const path = `/v1/projects/${project_id}/change-requests`;
  const body = { title: "t", head_ref: "<script>alert(1)</script>" };
  const refused = await api.call("POST", path, { body, headers: browser });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain("&#60;script&#62;");
  expect(refused.text).not.toContain("<script>");
  const signedOut = await api.call("GET", path, { token: null, headers: browser });
  expect([signedOut.status, signedOut.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
  remote.remove();
});

test("every response matches the contract's schema exactly", async () => {
  setFormats();
  const remote = new Remote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n", "svc.toml": "typo = 1\n" }, { from: "main" });
  const made = await api.project(remote.url);
  const one = `/v1/projects/${made.project_id}`;
  const cr = `${one}/change-requests`;
  const ask = async (method: string, path: string, body?: unknown) =>
    (await api.call(method, path, body === undefined ? {} : { body })).body;
  const rows: [TSchema, unknown][] = [
    [projectSchema, made],
    [projectSchema, await ask("GET", one)],
    [editedProject, await ask("PATCH", one, { name: "n" })],
    [projectSchema, (await ask("GET", "/v1/projects")).projects[0]],
    [me, await ask("GET", "/v1/accounts/me")],
    [
      mintedUserToken,
      await ask("POST", "/v1/accounts/tokens", { name: "t", expires_at: "2099-01-01T00:00:00Z" }),
    ],
    [userToken, (await ask("GET", "/v1/accounts/tokens")).tokens[0]],
    [mintedProjectToken, await ask("POST", `${one}/cli-token`)],
    [projectToken, (await ask("GET", `${one}/cli-token`)).tokens[0]],
    [changeRequest, await ask("POST", cr, { title: "t", head_ref: "work", metadata: { a: 1 } })],
    [changeRequest, (await ask("GET", cr)).change_requests[0]],
    [changeRequest, (await ask("GET", `${cr}/1`)).change_request],
    [changeRequest, await ask("PATCH", `${cr}/1`, { title: "u" })],
    [changeRequestDiff, await ask("GET", `${cr}/1/diff`)],
    [mergePreview, await ask("GET", `${cr}/1/merge-preview`)],
    [changeRequestManifest, await ask("GET", `${cr}/1/manifest`)],
    [projectManifest, await ask("GET", `${one}/manifest`)],
    [changeRequest, await ask("POST", `${cr}/1/close`)],
    [changeRequest, await ask("POST", `${cr}/1/reopen`)],
    [mergedChangeRequest, await ask("POST", `${cr}/1/merge`)],
    [changeRequest, (await ask("GET", `${cr}/1`)).change_request],
  ];
  for (const [schema, answer] of rows) {
    expect([...Value.Errors(schema, answer)].map((error) => [error.path, error.message])).toEqual([]);
    // Nothing that the contract does not name leaves the server.
    expect(Value.Clean(schema, structuredClone(answer))).toEqual(answer);
  }
  remote.remove();
});
