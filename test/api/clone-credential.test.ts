import { afterAll, beforeAll, describe, expect } from "bun:test";
import { type GatewayBench, type Place, runClient, scratch, startGateway } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

const test = needs("a real Postgres", POSTGRES);

let bench: GatewayBench;
const work = scratch();

beforeAll(async () => {
  if (POSTGRES) bench = await startGateway({ SVC_SANDBOX_API_URL: "http://svc.internal:9000/v1" });
});
afterAll(async () => {
  await bench?.stop();
  work[Symbol.dispose]();
});

const ask = (place: Place, token: string | null) =>
  bench.api.call("GET", `/v1/projects/${place.project.project_id}/git/clone-credential`, { token });

const fetches = async (place: Place, credential: string) =>
  (await runClient(work.path, "ls-remote", bench.url(place, credential))).code === 0;

describe("clone credentials", () => {
  test("are issued for a sandbox's key and for its session's project token, for the sandbox's own address", async () => {
    const session = await bench.session(bench.external);
    for (const token of [session.serviceKey, session.token]) {
      const { status, body } = await ask(bench.external, token);
      expect(status).toBe(200);
      expect(body).toMatchObject({
        repo_url: `http://svc.internal:9000/v1/git/${bench.external.project.project_id}.git`,
        auth: { type: "basic", username: "x-access-token" },
      });
      const life = Date.parse(body.expires_at) - Date.now();
      expect(life).toBeGreaterThan(14 * 60_000);
      expect(life).toBeLessThanOrEqual(15 * 60_000);
      expect(await fetches(bench.external, body.auth.token)).toBe(true);
    }
  });

  test("are issued to no other caller", async () => {
    const session = await bench.session(bench.hosted);
    const stopped = await bench.session(bench.hosted, "stopped");
    const elsewhere = await bench.session(bench.external);
    const { project_id } = bench.hosted.project;
    const loose = await bench.api.call("POST", `/v1/projects/${project_id}/cli-token`, { body: {} });
    const answers: [string | null, number][] = [
      [null, 401],
      ["svc_sb_unknown", 401],
      ["svc_pat_unknown", 401],
      [session.cloneCredential, 401],
      [bench.api.token, 403],
      [await bench.api.mint("stranger@example.com"), 403],
      [loose.body.token, 403],
      [stopped.token, 403],
      [stopped.serviceKey, 403],
      [elsewhere.token, 403],
      [elsewhere.serviceKey, 403],
    ];
    for (const [token, status] of answers) {
      expect([token, (await ask(bench.hosted, token)).status]).toEqual([token, status]);
    }
  });

  test("work only for their own project's git gateway", async () => {
    const { cloneCredential } = await bench.session(bench.hosted);
    expect(await fetches(bench.hosted, cloneCredential)).toBe(true);
    expect(await fetches(bench.external, cloneCredential)).toBe(false);
    const { project_id } = bench.hosted.project;
    const routes = ["", "/change-requests", "/cli-token", "/git/clone-credential"];
    for (const route of routes) {
      const answer = await bench.api.call("GET", `/v1/projects/${project_id}${route}`, {
        token: cloneCredential,
      });
      expect([route, answer.status]).toEqual([route, 401]);
    }
  });

  test("cannot be changed, and are revoked with their session", async () => {
    const session = await bench.session(bench.hosted);
    const [head = "", signature = ""] = session.cloneCredential.split(".");
    const claims = JSON.parse(Buffer.from(head.slice("svc_git_".length), "base64url").toString());
    for (const [index, value] of [
      [1, bench.external.project.project_id] as const,
      [2, "main"] as const,
      [3, 9e9] as const,
    ]) {
      const changed = Buffer.from(JSON.stringify(claims.with(index, value))).toString("base64url");
      expect(await fetches(bench.hosted, `svc_git_${changed}.${signature}`)).toBe(false);
    }
    expect(await fetches(bench.hosted, session.cloneCredential)).toBe(true);
    await bench.end(session.id);
    expect(await fetches(bench.hosted, session.cloneCredential)).toBe(false);
    expect(await fetches(bench.hosted, session.token)).toBe(false);
  });
});
