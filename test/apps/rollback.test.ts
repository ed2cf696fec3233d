import { afterAll, beforeAll, expect } from "bun:test";
import { type Database, openPostgres } from "../../db/client.ts";
import { apps } from "../../db/schema/index.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { type AppBench, benchApps, entryOf, isLive } from "../helpers/apps.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const SITE = entryOf({ run: null, static: { dir: "public" } });

const remote = new Remote();
let api: Api;
let database: Database;
let bench: AppBench;
const commits: string[] = [];

/** Three deployments of a site: 1, 2 and 3 are live one after the other. */
beforeAll(async () => {
  if (!POSTGRES) return;
  api = await startApi();
  database = await openPostgres(api.databaseUrl ?? "");
  remote.commit("main", { a: "1\n" });
  const { project_id: projectId } = await api.project(remote.url);
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, path, body === undefined ? {} : { body });
  bench = benchApps({ url: () => api.url, projectId, remote, call });
  for (const said of ["one", "two", "three"]) {
    commits.push(await bench.merge({ "public/index.html": said }, [SITE]));
    await bench.becomes(`${said} is live`, isLive(commits.length));
  }
});
afterAll(async () => {
  await database?.close();
  await api?.stop();
  remote.remove();
});

/** Visitors get a new deployment within a second. */
const serves = async (said: string) => {
  const signedIn = await bench.signIn();
  await until(`it serves ${said}`, async () => (await bench.visit("/", signedIn)).text.endsWith(said));
};
const rollBack = (deployment?: number) =>
  bench.call("POST", "/web/rollback", deployment === undefined ? {} : { deployment });

test("a deployment has the commit that was live before it, and the diff from there", async () => {
  const { body } = await bench.call("GET", "/web/deployments");
  expect(body.deployments).toMatchObject([
    { number: 3, commit: commits[2], previous_commit: commits[1], author: null },
    { number: 2, commit: commits[1], previous_commit: commits[0] },
    { number: 1, commit: commits[0], previous_commit: null, reason: "created" },
  ]);
  const diff = (await bench.call("GET", "/web/deployments/3/diff")).body;
  expect(diff).toMatchObject({ base_sha: commits[1], head_sha: commits[2], files_changed: 1, additions: 1 });
  expect(diff.patch).toContain("-two\n");
  expect(diff.patch).toContain("+three\n");
  for (const number of [1, 99]) {
    const refused = await bench.call("GET", `/web/deployments/${number}/diff`);
    expect(refused).toMatchObject({ status: 404, body: { code: "not_found" } });
  }
});

test("the history is read in pages", async () => {
  const first = (await bench.call("GET", "/web/deployments?limit=2")).body;
  expect(first.deployments.map(({ number }: { number: number }) => number)).toEqual([3, 2]);
  const rest = (await bench.call("GET", `/web/deployments?limit=2&cursor=${first.next_cursor}`)).body;
  expect(rest.deployments.map(({ number }: { number: number }) => number)).toEqual([1]);
  expect(rest.next_cursor).toBeUndefined();
});

test("a rollback deploys what was live before, and again the one before that", async () => {
  const { status, body } = await rollBack();
  expect(status).toBe(202);
  expect(body).toMatchObject({ auto_deploy: false, next: { number: 4, reason: "rollback", rollback_to: 2 } });
  expect(body.next).toMatchObject({ commit: commits[1], previous_commit: commits[2] });
  expect(body.next.author).toMatchObject({ kind: "user", user_id: body.next.created_by });
  await bench.becomes("two is live again", isLive(4));
  await serves("two");
  expect((await rollBack()).body.next).toMatchObject({ number: 5, rollback_to: 1, commit: commits[0] });
  await bench.becomes("one is live again", isLive(5));
  await serves("one");
  expect(await rollBack()).toMatchObject({ status: 409, body: { code: "nothing_to_roll_back" } });
});

test("an app that was rolled back is not deployed by a commit, until it is deployed on demand", async () => {
  const commit = await bench.merge({ "public/index.html": "four" }, [SITE]);
  await until("its job is done", async () => {
    const [app] = await database.db.select().from(apps);
    return app?.consideredCommit === commit;
  });
  expect((await bench.get()).app).toMatchObject({ auto_deploy: false, live: { number: 5 }, next: null });
  const { body } = await bench.call("POST", "/web/deploy");
  expect(body).toMatchObject({ auto_deploy: true, next: { number: 6, rollback_to: null } });
  await bench.becomes("four is live", isLive(6));
  await bench.merge({ "public/index.html": "five" }, [SITE]);
  await bench.becomes("five is live", isLive(7));
  await serves("five");
});

test("a rollback names a deployment that was live, of an enabled app", async () => {
  await bench.merge({}, [{ ...SITE, static: { dir: "nowhere" } }]);
  await bench.becomes("it has failed", (_, [last]) => last?.number === 8 && last.state === "failed");
  expect(await rollBack(8)).toMatchObject({ status: 409, body: { code: "nothing_to_roll_back" } });
  expect(await rollBack(99)).toMatchObject({ status: 404, body: { code: "not_found" } });
  expect((await rollBack(3)).body.next).toMatchObject({ commit: commits[2], rollback_to: 3 });
  await bench.becomes("three is live", isLive(9));
  await serves("three");

  await bench.merge({}, [{ ...SITE, enabled: false }]);
  await bench.becomes("it is disabled", ({ state }) => state === "disabled");
  expect((await rollBack(3)).body.code).toBe("app_disabled");
  // its rollback has ended, too
  await bench.merge({}, [SITE]);
  await bench.becomes("it is live", ({ state, auto_deploy }) => state === "live" && auto_deploy);
  await serves("five");
});
