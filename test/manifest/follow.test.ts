import { afterAll, beforeAll, beforeEach, expect } from "bun:test";
import { renameSync } from "node:fs";
import { eq } from "drizzle-orm";
import { type Database, openPostgres } from "../../db/client.ts";
import { projectManifests } from "../../db/schema/index.ts";
import { GIT_ENVIRONMENT } from "../../scripts/git-environment.ts";
import type { ManifestChange, ManifestFeature } from "../../src/features/manifest/feature.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { metricsOf } from "../helpers/metrics.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const GOOD = "svc_version = 1\n";
const BROKEN = "svc_version = \n";

let postgres: TestDatabase;
let database: Database;
let servers: { api: Api; changes: Changes }[];
/** What the features of both servers were handed, and what they throw instead. */
let handed: ManifestChange[] = [];
let fault: Error | null = null;
/** The database's clock. */
let now = Date.now();

beforeAll(async () => {
  if (!POSTGRES) return;
  postgres = await createDatabase();
  const env = { DATABASE_URL: postgres.url, SVC_MASTER_KEY: "ab".repeat(32) };
  const feature: ManifestFeature = async (_, change) => async () => {
    if (fault) throw fault;
    handed.push(change);
    return [];
  };
  servers = await Promise.all(
    [1, 2].map(async () => {
      const changes = new Changes();
      const deps = { changes, databaseTime: async () => new Date(now), manifestFeatures: [feature] };
      return { api: await startApi({ env, deps }), changes };
    }),
  );
  database = await openPostgres(postgres.url);
});
afterAll(async () => {
  await Promise.all((servers ?? []).map(({ api }) => api.stop()));
  await database?.close();
  await postgres?.drop();
});
beforeEach(() => {
  handed = [];
  fault = null;
});

const first = () => servers[0]?.api ?? expect.unreachable();
const wake = () => {
  for (const { changes } of servers) changes.notify("project");
};
const seen = async (projectId: string) => {
  const rows = database.db.select().from(projectManifests).where(eq(projectManifests.projectId, projectId));
  return (await rows)[0] ?? expect.unreachable();
};
const sees = (projectId: string, commit: string) =>
  until(`the project is seen at ${commit}`, async () => (await seen(projectId)).commit === commit);
/** Puts the database's clock forward, and waits until the look that is due then is over. */
const after = async (projectId: string, seconds: number) => {
  const { look } = await seen(projectId);
  now += seconds * 1000;
  wake();
  await until("a look was made", async () => {
    const row = await seen(projectId);
    return row.look > look && row.lookedAt?.getTime() === now;
  });
};
const listings = async () => {
  const pages = await Promise.all(servers.map(({ api }) => metricsOf(api)));
  return pages.reduce((sum, page) => sum + Number(/^svc_git_listings_total (\d+)$/m.exec(page)?.[1]), 0);
};
async function withRemote(use: (remote: Remote, projectId: string) => Promise<void>): Promise<void> {
  const remote = new Remote();
  try {
    const commit = remote.commit("main", { "svc.toml": GOOD });
    const { project_id } = await first().project(remote.url);
    await sees(project_id, commit);
    try {
      await use(remote, project_id);
    } finally {
      await first().call("DELETE", `/v1/projects/${project_id}`);
    }
  } finally {
    remote.remove();
  }
}

test("follows a new project, a push through the gateway, a merge and a new default branch at once", () =>
  withRemote(async (remote, projectId) => {
    const tip = remote.sha("main");
    const pushed = remote.commit("elsewhere", { a: "1\n" }, { from: "main" });
    const url = new URL(`${first().url}/v1/git/${projectId}.git`);
    url.username = "x-access-token";
    url.password = first().token;
    const push = Bun.spawn(
      ["git", "-C", remote.path, "push", "--quiet", url.href, `${pushed}:refs/heads/main`],
      { env: GIT_ENVIRONMENT },
    );
    expect(await push.exited).toBe(0);
    await sees(projectId, pushed);

    remote.commit("work", { b: "1\n" }, { from: "main" });
    const path = `/v1/projects/${projectId}/change-requests`;
    const { body } = await first().call("POST", path, { body: { title: "T", head_ref: "work" } });
    expect((await first().call("POST", `${path}/${body.number}/merge`, { body: {} })).status).toBe(200);
    await sees(projectId, remote.sha("main"));

    remote.branch("other", tip);
    await first().call("PATCH", `/v1/projects/${projectId}`, { body: { default_branch: "other" } });
    await sees(projectId, tip);
    expect(handed.map(({ commit }) => commit)).toEqual([tip, pushed, remote.sha("main"), tip]);
  }));

test("lists a repository on a git host once a minute, with any number of servers", () =>
  withRemote(async (remote, projectId) => {
    const before = await listings();
    for (let minute = 1; minute <= 10; minute++) {
      await after(projectId, 61);
      wake();
    }
    expect(handed).toHaveLength(1);
    const commit = remote.commit("main", { "svc.toml": `${GOOD}[project]\nname = "Other"\n` });
    await after(projectId, 61);
    expect((await listings()) - before).toBe(11);
    expect(await seen(projectId)).toMatchObject({ commit, failure: null, errors: [] });
    expect(handed.at(-1)).toMatchObject({ commit, manifest: { project: { name: "Other" } } });
  }));

test("polls an unreachable repository with backoff up to an hour, and follows it once it is back", () =>
  withRemote(async (remote, projectId) => {
    const away = `${remote.path}.away`;
    renameSync(remote.path, away);
    const pauses: number[] = [];
    await after(projectId, 61);
    for (let failures = 1; failures <= 8; failures++) {
      const row = await seen(projectId);
      expect(row.failures).toBe(failures);
      expect(row.failure ?? "").toMatch(/^[A-Z].+\.$/s);
      expect(row.failure ?? "").not.toContain(remote.path);
      pauses.push((row.nextLookAt.getTime() - now) / 1000);
      await after(projectId, pauses.at(-1) ?? 0);
    }
    expect(pauses).toEqual([120, 240, 480, 960, 1920, 3600, 3600, 3600]);
    renameSync(away, remote.path);
    const commit = remote.commit("main", { a: "2\n" });
    await after(projectId, 3600);
    expect(await seen(projectId)).toMatchObject({ commit, failures: 0, failure: null });
  }));

test("reports an invalid manifest, and keeps the features unchanged", () =>
  withRemote(async (remote, projectId) => {
    const broken = remote.commit("main", { "svc.toml": BROKEN });
    await after(projectId, 61);
    expect(await seen(projectId)).toMatchObject({ commit: broken, errors: [{ line: 1, severity: "error" }] });
    const large = remote.commit("main", { "svc.toml": `#${"x".repeat(256 * 1024)}` });
    await after(projectId, 61);
    expect(await seen(projectId)).toMatchObject({
      commit: large,
      errors: [{ message: "The file is larger than 256 KiB, the limit, and is not read." }],
    });
    expect(handed).toHaveLength(1);
    const gone = remote.commit("main", { "svc.toml": null });
    await after(projectId, 61);
    expect(handed.at(-1)).toMatchObject({ commit: gone, manifest: { project: { name: null } } });
  }));

test("a commit whose features fail does not count as seen", () =>
  withRemote(async (remote, projectId) => {
    const before = remote.sha("main");
    const commit = remote.commit("main", { a: "2\n" });
    fault = new Error("select secret from somewhere");
    await after(projectId, 61);
    expect(await seen(projectId)).toMatchObject({
      commit: before,
      failures: 1,
      failure: expect.not.stringContaining("select"),
    });
    fault = null;
    await after(projectId, 120);
    expect(await seen(projectId)).toMatchObject({ commit, failures: 0 });
    expect(handed.map((change) => change.commit)).toEqual([before, commit]);
  }));
