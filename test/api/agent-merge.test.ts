import { afterAll, beforeAll, expect } from "bun:test";
import { type GatewayBench, type SessionOf, startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

const test = needs("a real Postgres", POSTGRES);

let bench: GatewayBench;
let session: SessionOf;
let script: string;

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway();
  session = await bench.session(bench.external);
  script = (await call("POST", "/cli-token", null, { name: "ci" })).body.token;
});
afterAll(() => bench?.stop());

const call = (method: string, path: string, token: string | null, body?: unknown) =>
  bench.api.call(method, `/v1/projects/${bench.external.project.project_id}${path}`, {
    ...(token !== null && { token }),
    ...(body !== undefined && { body }),
  });

let opened = 0;

/** Opens a change request with these files, onto a main with that manifest. */
async function open(manifest: string | null, files: Record<string, string | null>): Promise<number> {
  const { remote } = bench;
  remote.commit("main", { "svc.toml": manifest, ".svc/agentrt/agent.md": "old\n" });
  const head = `head-${++opened}`;
  remote.commit(head, files, { from: "main" });
  return (await call("POST", "/change-requests", session.token, { title: "t", head_ref: head })).body.number;
}

const ALLOWED = "svc_version = 1\n[change_requests]\nagent_merge = true\n";
const OTHER = `${ALLOWED}[opencode]\nconfig_dir = "agents"\n`;
const PLAIN = { file: "1\n" };

test.each<[what: string, manifest: string | null, files: Record<string, string | null>, agent: boolean]>([
  ["no manifest", null, PLAIN, false],
  ["no setting", "svc_version = 1\n", PLAIN, false],
  ["allowed", ALLOWED, PLAIN, true],
  ["forbidden", "[change_requests]\nagent_merge = false\n", PLAIN, false],
  ["unreadable", "[change_requests", PLAIN, false],
  ["neither true nor false", '[change_requests]\nagent_merge = "true"\n', PLAIN, false],
  ["the head allows it", null, { "svc.toml": ALLOWED }, false],
  ["it changes svc.toml", ALLOWED, { "svc.toml": `${ALLOWED}# more\n` }, false],
  ["it deletes svc.toml", ALLOWED, { "svc.toml": null }, false],
  ["it changes an agent", ALLOWED, { ".svc/agentrt/agent.md": "new\n" }, false],
  ["it adds an agent", ALLOWED, { ".svc/agentrt/more/deep.md": "new\n" }, false],
  ["it deletes the agents", ALLOWED, { ".svc/agentrt/agent.md": null, ".svc/other": "1\n" }, false],
  ["it puts a link in the place of .svc", ALLOWED, { ".svc/agentrt/agent.md": null, ".svc": "1\n" }, false],
  ["a folder beside that of the agents", ALLOWED, { ".svc/agentrt-2/agent.md": "1\n" }, true],
  ["the folder is another", OTHER, { "agents/a.md": "1\n" }, false],
  ["what was the folder", OTHER, { ".svc/agentrt/agent.md": "2\n" }, true],
])("%s: by the agent %p", async (_, manifest, files, agent) => {
  const number = await open(manifest, files);
  const before = bench.remote.sha("main");
  const answer = await call("POST", `/change-requests/${number}/merge`, session.token);
  if (agent) {
    expect(answer).toMatchObject({
      status: 200,
      body: { merger: { kind: "agent", session_id: session.id }, author: { kind: "agent" } },
    });
    return;
  }
  expect([answer.status, answer.body.code]).toEqual([403, "agent_merge_forbidden"]);
  expect(bench.remote.sha("main")).toBe(before);
  // a person, and a script of one's own, may
  const token = opened % 2 ? script : null;
  const merged = await call("POST", `/change-requests/${number}/merge`, token);
  expect(merged).toMatchObject({
    status: 200,
    body: { merger: token ? { kind: "token", name: "ci", session_id: null } : { kind: "user" } },
  });
});

test("closing, opening and prompting record the author", async () => {
  const number = await open(null, PLAIN);
  const path = `/change-requests/${number}`;
  expect((await call("GET", path, null)).body.change_request.author).toMatchObject({
    kind: "agent",
    session_id: session.id,
    name: expect.stringMatching(/\w/),
  });
  const closed = await call("POST", `${path}/close`, session.token);
  expect(closed.body.closer).toMatchObject({ kind: "agent", session_id: session.id });
  expect((await call("POST", `${path}/reopen`, null)).body.closer).toBeNull();
  expect((await call("POST", `${path}/close`, null)).body.closer).toMatchObject({ kind: "user" });
  const set = await call("PUT", "/secrets/KEY", session.token, { value: "x" });
  expect(set.body).toMatchObject({ for: ["sessions", "builds"], set_by: { kind: "agent" } });
});

test("a session's token cannot create tokens", async () => {
  expect((await call("POST", "/cli-token", session.token, {})).status).toBe(403);
});
