import { afterAll, beforeAll, describe, expect } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { type GatewayBench, type Place, type SessionOf, scratch, startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import type { Change } from "../helpers/remote.ts";

const test = needs("a real Postgres", POSTGRES);

let bench: GatewayBench;
let session: SessionOf;
const work = scratch();

beforeAll(async () => {
  if (!POSTGRES) return;
  bench = await startGateway();
  session = await bench.session(bench.external);
});
afterAll(async () => {
  await bench?.stop();
  work[Symbol.dispose]();
});

const ask = (token: string | null, place: Place = bench.external) =>
  fetch(`${bench.api.url}/v1/projects/${place.project.project_id}/git/agent-config`, {
    headers: token === null ? {} : { Authorization: `Bearer ${token}` },
  });

/** The files of the answer, as they are when it is unpacked. */
async function filesOf(answer: Response): Promise<Record<string, string>> {
  expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/x-tar"]);
  const folder = mkdtempSync(join(work.path, "tar-"));
  const ran = Bun.spawnSync(["tar", "-xf", "-", "-C", folder], { stdin: await answer.bytes() });
  expect(ran.exitCode).toBe(0);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => statSync(join(folder, path)).isFile())
    .map((path) => [path, readFileSync(join(folder, path), "utf8")]);
  rmSync(folder, { recursive: true });
  return Object.fromEntries(files);
}

/** Replaces what the default branch has. */
function merge(changes: Record<string, Change>): string {
  const gone = bench.remote.git("ls-tree", "-r", "--name-only", "main").split("\n").filter(Boolean);
  const all = { ...Object.fromEntries(gone.map((path) => [path, null])), "a.txt": "1\n", ...changes };
  return bench.remote.commit("main", all);
}

const MANIFEST = 'svc_version = 1\n[opencode]\nconfig_dir = "tools/agent"\n';

describe("the agents, skills and tools of a sandbox", () => {
  test("come from the default branch, not from the session's branch", async () => {
    const merged = { "agents/a.md": "merged\n", "skills/s/SKILL.md": "skill\n" };
    const commit = merge(
      Object.fromEntries(Object.entries(merged).map(([path, text]) => [`.svc/agentrt/${path}`, text])),
    );
    bench.remote.commit(
      session.branch,
      { ".svc/agentrt/agents/a.md": "changed\n", ".svc/agentrt/agents/b.md": "new\n", "svc.toml": MANIFEST },
      { from: "main" },
    );
    for (const token of [session.serviceKey, session.token]) {
      const answer = await ask(token);
      expect(answer.headers.get("x-svc-commit")).toBe(commit);
      expect(await filesOf(answer)).toEqual(merged);
    }
    bench.remote.branch("main", session.branch);
    expect((await ask(session.serviceKey)).status).toBe(204);
  });

  test.each<[string, Record<string, Change>, Record<string, string> | 204]>([
    ["no folder", {}, 204],
    ["a file in its place", { ".svc/agentrt": "x" }, 204],
    [
      "the folder that the manifest names",
      { "svc.toml": MANIFEST, "tools/agent/x.md": "x" },
      { "x.md": "x" },
    ],
    ["not the usual one then", { "svc.toml": MANIFEST, ".svc/agentrt/x.md": "x" }, 204],
    ["a bad entry beside it", { "svc.toml": `${MANIFEST}x = 1\n`, "tools/agent/x.md": "x" }, { "x.md": "x" }],
    ["a manifest that is not TOML", { "svc.toml": "[", ".svc/agentrt/x.md": "x" }, { "x.md": "x" }],
    [
      "the whole repository",
      { "svc.toml": 'svc_version = 1\n[opencode]\nconfig_dir = "."\n' },
      { "a.txt": "1\n", "svc.toml": 'svc_version = 1\n[opencode]\nconfig_dir = "."\n' },
    ],
  ])("%s", async (_, changes, wanted) => {
    merge(changes);
    const answer = await ask(session.serviceKey);
    if (wanted === 204) expect(answer.status).toBe(204);
    else expect(await filesOf(answer)).toEqual(wanted);
  });

  test("rejects a folder over the limits with an explanation", async () => {
    merge({ ".svc/agentrt/large.bin": "x".repeat(17 * 1024 * 1024) });
    const answer = await ask(session.serviceKey);
    const { code, error } = await answer.json();
    expect([answer.status, code]).toEqual([413, "payload_too_large"]);
    expect(error).toContain('".svc/agentrt" on the branch main');
    merge({});
  });

  test("an empty repository has none", async () => {
    const other = await bench.session(bench.hosted);
    expect((await ask(other.serviceKey, bench.hosted)).status).toBe(204);
  });

  test("is available only to the sandbox of a live session", async () => {
    const stopped = await bench.session(bench.external, "stopped");
    const elsewhere = await bench.session(bench.hosted);
    const answers: [string | null, number][] = [
      [null, 401],
      ["svc_sb_unknown", 401],
      [session.cloneCredential, 401],
      [bench.api.token, 403],
      [stopped.serviceKey, 403],
      [stopped.token, 403],
      [elsewhere.serviceKey, 403],
      [elsewhere.token, 403],
    ];
    for (const [token, status] of answers)
      expect([token, (await ask(token)).status]).toEqual([token, status]);
  });
});
