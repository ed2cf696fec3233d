import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { createApp } from "../../src/app.ts";
import type { Deps } from "../../src/deps.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

let api: Api;
let remote: Remote;
let project: { project_id: string; slug: string };
let other: { project_id: string; slug: string };
let projectToken: string;
let stranger: string;

beforeAll(async () => {
  api = await startApi();
  remote = new Remote();
  remote.commit("main", { a: "1\n" });
  remote.commit("work", { a: "2\n" }, { from: "main" });
  project = await api.project(remote.url, { name: "Shop Front" });
  other = await api.project(remote.url, { name: "Other" });
  projectToken = (await api.call("POST", `/v1/projects/${project.project_id}/cli-token`)).body.token;
  stranger = await api.mint("stranger@example.com");
});
afterAll(async () => {
  await api.stop();
  remote.remove();
});

test("SECURITY.md lists exactly the routes that need no credential", async () => {
  const security = readFileSync("SECURITY.md", "utf8");
  const [, section = ""] = /\n## Routes without a credential\n([\s\S]*?)\n## /.exec(security) ?? [];
  const listed = [...section.matchAll(/`([A-Z]+ \/\S*)`/g)].map(([, route = ""]) => route);
  // the table alone is read: no route is called, and so no part of the server is needed
  const { routes } = createApp({} as Deps);
  expect(routes.length).toBeGreaterThan(80);
  const open: string[] = [];
  for (const { method, path } of routes) {
    const target = path.replace(/:\w+|\*/g, "x");
    const answer = await api.call(method, target, { token: null });
    // a signature is required there, and no token
    const isSigned = path.startsWith("/v1/channels/slack/");
    if (isSigned) expect([path, answer.status]).toEqual([path, 401]);
    if (isSigned || answer.status !== 401) open.push(`${method} ${path}`);
    else if (!path.startsWith("/v1/webhooks/"))
      expect([path, answer.body?.code, answer.headers.get("www-authenticate")]).toEqual([
        path,
        "unauthorized",
        "Bearer",
      ]);
  }
  expect(open.sort()).toEqual(listed.filter((route) => route !== "GET /metrics").sort());
  for (const path of ["/v1/git/x.git/info/refs", `/v1/p/${crypto.randomUUID()}/8000/`]) {
    expect([path, (await api.call("GET", path, { token: null })).status]).toEqual([path, 401]);
  }
});

test("a slug of another account gets the same 404 as an unknown one", async () => {
  const ofNobody = "no-such-project";
  const answersTo = async (token: string, slug: string) => {
    const paths = ["", "/sessions", "/change-requests/1/diff"].map((path) => `/v1/projects/${slug}${path}`);
    const all = [...paths, `/v1/git/${slug}.git/info/refs?service=git-upload-pack`];
    return Promise.all(
      all.map(async (path) => {
        const { status, text } = await api.call("GET", path, { token });
        return [status, text.replaceAll(slug, "<slug>")];
      }),
    );
  };
  for (const token of [stranger, projectToken]) {
    const slug = token === stranger ? project.slug : other.slug;
    const answers = await answersTo(token, slug);
    expect(answers).toEqual(await answersTo(token, ofNobody));
    expect(answers.map(([status]) => status)).toEqual([404, 404, 404, 404]);
  }
});

describe("a token that is", () => {
  const rows: [string, Record<string, string>][] = [
    ["unknown", { Authorization: `Bearer svc_pat_${"a".repeat(43)}` }],
    ["a sandbox service key", { Authorization: `Bearer svc_sb_${"a".repeat(43)}` }],
    ["of another kind", { Authorization: "Bearer ghp_123" }],
    ["not a bearer token", { Authorization: "Basic eDp5" }],
    ["empty", { Authorization: "Bearer " }],
    ["far too long", { Authorization: `Bearer svc_pat_${"a".repeat(4000)}` }],
  ];
  test.each(rows)("%s is refused with 401", async (_, headers) => {
    const answer = await api.call("GET", "/v1/accounts/me", { token: null, headers });
    expect(answer.status).toBe(401);
    expect(answer.body.code).toBe("unauthorized");
  });

  test("revoked or expired is refused with 401", async () => {
    const soon = new Date(Date.now() + 5_000).toISOString();
    const short = await api.call("POST", "/v1/accounts/tokens", {
      body: { name: "short", expires_at: soon },
    });
    expect(short.status).toBe(201);
    expect((await api.call("GET", "/v1/accounts/me", { token: short.body.token })).status).toBe(200);
    await until("it has expired", async () => {
      const { status } = await api.call("GET", "/v1/accounts/me", { token: short.body.token });
      return status === 401;
    });

    const made = await api.call("POST", "/v1/accounts/tokens", { body: { name: "laptop" } });
    expect(made.body.token).toMatch(/^svc_pat_[0-9A-Za-z]{43}$/);
    const listed = await api.call("GET", "/v1/accounts/tokens");
    expect(listed.text).not.toContain(made.body.token);
    expect((await api.call("DELETE", `/v1/accounts/tokens/${made.body.token_id}`)).body).toEqual({
      ok: true,
    });
    expect((await api.call("GET", "/v1/accounts/me", { token: made.body.token })).status).toBe(401);
    expect((await api.call("DELETE", `/v1/accounts/tokens/${made.body.token_id}`)).status).toBe(404);
  });
});

test("another account's project is 403 by its id, and 404 by its slug", async () => {
  const callers = { member: api.token, project: projectToken, stranger };
  const mine = `/v1/projects/${project.project_id}`;
  const theirs = `/v1/projects/${other.project_id}`;
  const rows: [string, string, Record<keyof typeof callers, number>][] = [
    ["GET", mine, { member: 200, project: 200, stranger: 403 }],
    ["GET", `/v1/projects/${project.slug}`, { member: 200, project: 200, stranger: 404 }],
    ["GET", theirs, { member: 200, project: 403, stranger: 403 }],
    ["GET", `${theirs}/change-requests`, { member: 200, project: 403, stranger: 403 }],
    ["GET", `/v1/projects/${crypto.randomUUID()}`, { member: 404, project: 403, stranger: 404 }],
    ["DELETE", theirs, { stranger: 403, project: 403, member: 200 }],
  ];
  for (const [method, path, expected] of rows) {
    for (const [name, status] of Object.entries(expected)) {
      const token = callers[name as keyof typeof callers];
      const answer = await api.call(method, path, { token });
      expect([method, path, name, answer.status]).toEqual([method, path, name, status]);
    }
  }
});

test("a project token acts as the user who created it", async () => {
  const me = (await api.call("GET", "/v1/accounts/me")).body;
  const whoami = (await api.call("GET", "/v1/auth/whoami", { token: projectToken })).body;
  expect(whoami).toMatchObject({
    kind: "project",
    user_id: me.user_id,
    project_id: project.project_id,
    session_id: null,
  });
  const opened = await api.call("POST", `/v1/projects/${project.project_id}/change-requests`, {
    token: projectToken,
    body: { title: "by an agent", head_ref: "work" },
  });
  expect(opened.body.created_by).toBe(me.user_id);
});

test("a list of tokens has neither their values nor their hashes", async () => {
  const listed = await api.call("GET", `/v1/projects/${project.project_id}/cli-token`);
  expect(listed.body.tokens[0]).not.toHaveProperty("token");
  expect(listed.body.tokens[0]).not.toHaveProperty("hash");
});
