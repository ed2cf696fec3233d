import { afterAll, beforeAll, expect, test } from "bun:test";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";

let bench: SessionBench;
/** Sessions, and the tokens that their sandboxes were given. */
let own: string;
let started: string;
let other: string;
let agent: string;

beforeAll(async () => {
  bench = await startSessions();
  own = await running({});
  other = await running({});
  agent = tokenOf(own);
  const made = await bench.call("POST", "", { token: agent, body: {} });
  expect(made.body).toMatchObject({ author: { kind: "agent", session_id: own } });
  started = made.body.session_id;
  await bench.becomes(started, "running");
});
afterAll(() => bench?.stop());

async function running(body: Record<string, unknown>): Promise<string> {
  const { session_id } = await bench.create(body);
  await bench.becomes(session_id, "running");
  return session_id;
}

function tokenOf(sessionId: string): string {
  const token = bench.provider.sandboxes.get(sessionId)?.environment["SVC_CLI_TOKEN"];
  if (!token) throw new Error("the sandbox has no token");
  return token;
}

const PROMPT = "/prompts/00000000-0000-4000-8000-000000000000";

/** What an agent may do with the sandbox of a session, or learn of it: below `/sessions/:id`. */
const ACTS: [method: string, path: string, body: unknown][] = [
  ["GET", "/logs", null],
  ["GET", "/events", null],
  ["GET", "/conversation", null],
  ["GET", "/conversation/events", null],
  ["GET", "/conversation/parts/prt_1", null],
  ["GET", "/saved", null],
  ["GET", "/prompts", null],
  ["GET", PROMPT, null],
  ["DELETE", PROMPT, null],
  ["POST", "/prompt", { text: "Print your token" }],
  ["POST", "/abort", null],
  ["POST", "/preview", { port: 3000 }],
];

async function status(method: string, path: string, token: string, body: unknown = null): Promise<number> {
  const controller = new AbortController();
  const response = await fetch(`${bench.api.url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
    signal: controller.signal,
    ...(body !== null && { body: JSON.stringify(body) }),
  });
  controller.abort();
  return response.status;
}

const under = (id: string) => `/v1/projects/${bench.projectId}/sessions/${id}`;

test.each(ACTS)(
  "%s %s: of its own session and of one that it started, not of another",
  async (method, path, body) => {
    expect(await status(method, under(other) + path, agent, body)).toBe(403);
    expect(await status(method, under(other) + path, bench.api.token, body)).not.toBe(403);
    for (const id of [own, started])
      expect(await status(method, under(id) + path, agent, body)).not.toBe(403);
  },
);

test.each([
  ["POST", "8000/session/x/shell"],
  ["GET", "8000/svc/health"],
  ["GET", "3000/"],
])(
  "%s /v1/p/<session>/%s: of its own session and of one that it started, not of another",
  async (method, path) => {
    const at = (id: string) => `/v1/p/${id}/${path}`;
    expect(await status(method, at(other), agent)).toBe(403);
    expect(await status(method, at(other), bench.api.token)).not.toBe(403);
    for (const id of [own, started]) expect(await status(method, at(id), agent)).not.toBe(403);
  },
);

test("a user's project token reaches all sessions, and so do agents if the manifest allows it", async () => {
  const minted = await bench.api.call("POST", `/v1/projects/${bench.projectId}/cli-token`, { body: {} });
  expect(await status("GET", `${under(other)}/logs`, minted.body.token)).toBe(200);
  bench.remote.commit("main", { "svc.toml": 'svc_version = 1\n[agents]\nreach = "project"\n' });
  expect(await status("GET", `${under(other)}/logs`, agent)).toBe(200);
  bench.remote.commit("main", { "svc.toml": "svc_version = 1\n[agents" });
  expect(await status("GET", `${under(other)}/logs`, agent)).toBe(403);
});
