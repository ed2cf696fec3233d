import { afterAll, beforeAll, expect } from "bun:test";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type ReviewBench, startReviews } from "../helpers/reviewers.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: ReviewBench;
let member: string;
let agent: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startReviews();
  bench.remote.branch("x", "main");
  bench.remote.branch("feature/y", "main");
  member = await bench.member("member@example.com");
  agent = await bench.agent();
});
afterAll(() => bench?.stop());

const OWNER = null;
const patch = (token: string | null, body: unknown) =>
  bench.call("PATCH", "", { body, ...(token !== null && { token }) });
const shown = async () => (await bench.call("GET", "")).body;

test("only owners and admins change a project's protection; members read and rename the project", async () => {
  const before = await shown();
  const rows: [token: string | null, method: string, path: string, body: unknown, status: number][] = [
    [member, "PATCH", "", { default_branch: "x" }, 403],
    [member, "PATCH", "", { repo_url: bench.remote.url }, 403],
    [member, "PATCH", "", { name: "Renamed", default_branch: "x" }, 403],
    [member, "PUT", "/git-credential", { token: "t" }, 403],
    [member, "DELETE", "/protected/main", undefined, 403],
    [agent, "PATCH", "", { default_branch: "x" }, 403],
    [agent, "PATCH", "", { name: "Renamed" }, 403],
    [agent, "PUT", "/git-credential", { token: "t" }, 403],
    [agent, "DELETE", "/protected/main", undefined, 403],
    [member, "GET", "", undefined, 200],
  ];
  for (const [token, method, path, body, status] of rows) {
    const answer = await bench.call(method, path, {
      ...(token !== null && { token }),
      ...(body !== undefined && { body }),
    });
    expect([method, path, body, answer.status]).toEqual([method, path, body, status]);
  }
  expect(await shown()).toEqual(before);
  expect((await patch(member, { name: before.name })).status).toBe(200);
});

test("a former default branch stays protected until an admin unprotects it", async () => {
  const both = await Promise.all([
    patch(OWNER, { default_branch: "x" }),
    patch(OWNER, { default_branch: "x" }),
  ]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect((await shown()).protected_branches).toEqual(["x", "main"]);
  expect((await patch(OWNER, { default_branch: "feature/y" })).body.protected_branches).toEqual([
    "feature/y",
    "main",
    "x",
  ]);
  const drop = (name: string) => bench.call("DELETE", `/protected/${name}`);
  expect((await drop("feature/y")).body.error).toContain("is the default branch");
  expect((await drop("other")).status).toBe(404);
  expect((await drop("main%ff")).status).toBe(404);
  expect((await drop("x")).body.protected_branches).toEqual(["feature/y", "main"]);
  expect((await patch(OWNER, { default_branch: "main" })).body.protected_branches).toEqual([
    "main",
    "feature/y",
  ]);
  expect((await drop("feature%2Fy")).body.protected_branches).toEqual(["main"]);
});

test("required approvals apply to a former default branch, whatever the default was in between", async () => {
  bench.rule("svc_version = 1\n[change_requests]\nrequired_approvals = 1\n");
  bench.remote.branch("plain", "x");
  const cr = await bench.open();
  expect((await patch(member, { default_branch: "plain" })).status).toBe(403);
  const merged = await bench.call("POST", `/change-requests/${cr.number}/merge`, { token: member });
  expect([merged.status, merged.body.code]).toEqual([409, "approval_required"]);
});
