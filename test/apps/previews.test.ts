import { afterAll, beforeAll, expect } from "bun:test";
import { eq } from "drizzle-orm";
import { type Database, openPostgres } from "../../db/client.ts";
import { appDeployments, apps } from "../../db/schema/index.ts";
import type { App } from "../../src/contract/app.ts";
import { caller } from "../helpers/api.ts";
import { APP_PROGRAM, type AppBench, benchApps, entryOf, isLive, NODE_INSIDE } from "../helpers/apps.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres, and node below /usr", POSTGRES && NODE_INSIDE);

/** An hour ago, nobody has used it since. */
const LONG_AGO = () => new Date(Date.now() - 60 * 60_000);
const WITH_PREVIEWS = entryOf({ previews: true });

let server: SessionServer;
let bench: AppBench;
let database: Database;

beforeAll(async () => {
  if (!POSTGRES) return;
  server = await startSessionServer({ SVC_PREVIEW_CAP: "1", SVC_APP_CAP: "1" });
  database = await openPostgres(server.databaseUrl);
  bench = benchApps({ ...server, call: ask });
  await bench.merge({ "server.js": APP_PROGRAM, "says.txt": "main" }, [WITH_PREVIEWS]);
  await bench.becomes("the app is live", isLive(1));
});
afterAll(async () => {
  await database?.close();
  await server?.stop();
});

const ask = (method: string, path: string, body?: unknown) =>
  caller(server.url(), server.token)(method, path, body === undefined ? {} : { body });
const project = (rest: string) => `/v1/projects/${server.projectId}${rest}`;

/** Commits to a branch, and has svc notice that. */
async function push(branch: string, files: Record<string, string>): Promise<string> {
  const from = server.remote.has(branch) ? branch : "main";
  const commit = server.remote.commit(branch, files, { from });
  expect((await ask("PATCH", project(""), { default_branch: "main" })).status).toBe(200);
  return commit;
}

/** Opens a change request from a new branch, which says something else. */
async function open(branch: string, more: { files?: Record<string, string>; draft?: boolean } = {}) {
  const commit = await push(branch, { "says.txt": branch, ...more.files });
  const draft = more.draft ?? false;
  const opened = await ask("POST", project("/change-requests"), { title: branch, head_ref: branch, draft });
  expect(opened.status).toBe(201);
  const number: number = opened.body.number;
  const at = (rest: string) => project(`/change-requests/${number}${rest}`);
  const previews = benchApps({ ...server, call: ask }, `/change-requests/${number}/apps`);
  const list = async (): Promise<App[]> => (await ask("GET", at("/apps"))).body.apps;
  return { number, commit, at, previews, list };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Ends a change request, and waits until nothing is left of its previews. */
async function close({ at, list }: Opened): Promise<void> {
  expect((await ask("POST", at("/close"))).status).toBe(200);
  await until("it has no previews", async () => (await list()).length === 0);
}

const says = async ({ previews }: Opened) => (await previews.visit("/", await previews.signIn())).text;

const AUDIENCES = {
  OF_PREVIEWS: ["previews"],
  OF_BOTH: ["apps", "previews"],
  OF_APPS: ["apps", "builds"],
  OF_THE_APP: ["apps:web"],
  OF_BUILDS: undefined,
  OF_CHECKS: ["checks"],
};
/** The manifest of a head: with commands and a variable of its own, and with what it cannot choose. */
const OF_HEAD = `svc_version = 1
[[apps]]
slug = "web"
access = "public"
build = { command = "env > built.txt" }
run = { command = "exec node server.js", port = 3000 }
env = { MINE = "yes" }
[[apps]]
slug = "mine"
previews = true
run = { command = "exec node server.js", port = 3000 }
`;

/** One change request for all: its preview takes a second to start. */
let first: Opened;

test("an open change request has a preview of its head, with its commands and the secrets for previews only", async () => {
  for (const [name, audience] of Object.entries(AUDIENCES)) {
    const body = { value: "hush", ...(audience && { for: audience }) };
    expect((await ask("PUT", project(`/secrets/${name}`), body)).status).toBe(200);
  }
  first = await open("one", { files: { "svc.toml": OF_HEAD } });
  const { previews, commit, number, list } = first;
  const { app } = await previews.becomes("it is live", isLive(1));
  expect(app).toMatchObject({ slug: "web", change_request: number, live: { commit, reason: "created" } });
  expect(new URL(app.url).hostname).toMatch(new RegExp(`^web-cr${number}-[0-9a-f]{6}--p\\.localhost$`));
  expect(await says(first)).toEndWith("one");
  const ofProject: App[] = (await ask("GET", project("/apps"))).body.apps;
  expect(ofProject).toMatchObject([{ slug: "web", change_request: null, state: "live" }]);
  expect(ofProject[0]?.url).not.toBe(app.url);
  expect((await bench.visit("/", await bench.signIn())).text).toEndWith("main");
  // the default branch gives the other one no previews
  expect((await list()).map(({ slug }) => slug)).toEqual(["web"]);

  const hushed = (names: string[]) => names.filter((name) => name.startsWith("OF_")).sort();
  const signedIn = await previews.signIn();
  const visit = async (path: string) =>
    (await previews.visit(path, signedIn)).text.split("\r\n\r\n")[1] ?? "";
  const env = JSON.parse(await visit("/env"));
  expect(env).toMatchObject({ MINE: "yes" });
  expect(hushed(Object.keys(env))).toEqual(["OF_BOTH", "OF_PREVIEWS"]);
  const built = (await visit("/built")).split(/\r?\n/).map((line) => line.split("=")[0] ?? "");
  expect(hushed(built)).toEqual(["OF_BOTH", "OF_PREVIEWS"]);
});

test("a preview is for members only, also if its head says public, and has a sign-in of its own", async () => {
  expect((await first.list())[0]).toMatchObject({ access: "members", public_url: null });
  const [ofApp, ofPreview] = [await bench.signIn(), await first.previews.signIn()];
  const visits = [
    [ofApp.host, ofApp.cookie, 200],
    [ofPreview.host, ofPreview.cookie, 200],
    [ofApp.host, ofPreview.cookie, 401],
    [ofPreview.host, ofApp.cookie, 401],
    [ofPreview.host, "none=1", 401],
  ] as const;
  for (const [host, cookie, status] of visits)
    expect((await bench.visit("/", { host, cookie })).status).toBe(status);
});

test("a preview follows pushes, ends with its change request, and is there again when that is reopened", async () => {
  const { previews, list } = first;
  const next = await push("one", { "says.txt": "another" });
  await previews.becomes("the push is live", ({ live }) => live?.commit === next);
  await until("the push answers", async () => (await says(first)).endsWith("another"));

  const { deployments } = await previews.get();
  const signedIn = await previews.signIn();
  await close(first);
  await until("its link is dead", async () => (await previews.visit("/", signedIn)).status === 401);
  const processes = () => deployments.flatMap(({ deployment_id: id }) => server.processes(id));
  await until("its sandboxes have ended", () => processes().length === 0);
  const ids = deployments.map(({ deployment_id: id }) => id);
  const left = async () => (await database.db.select().from(appDeployments)).map((row) => row.deploymentId);
  expect((await left()).filter((id) => ids.includes(id))).toEqual([]);

  expect((await ask("POST", first.at("/reopen"))).status).toBe(200);
  await previews.becomes("it is live again", ({ live }) => live?.commit === next);
  expect(await list()).toHaveLength(1);
});

test("over the limit a preview waits, until one is idle or has ended", async () => {
  const second = await open("second");
  const { app } = await second.previews.becomes("it waits", ({ error }) => error !== null);
  expect(app).toMatchObject({ state: "waiting", live: null, next: null });
  expect(app.error).toContain("until another preview ends");
  expect((await first.previews.get()).app.state).toBe("live");

  const { db } = database;
  const idle = eq(apps.crNumber, first.number);
  await db.update(apps).set({ visitedAt: LONG_AGO() }).where(idle);
  const [{ liveId } = { liveId: null }] = await db.select().from(apps).where(idle);
  await db
    .update(appDeployments)
    .set({ liveAt: LONG_AGO() })
    .where(eq(appDeployments.deploymentId, liveId ?? ""));
  await second.previews.becomes("it has room", ({ state }) => state === "live");
  const stopped = (await first.previews.get()).app;
  expect(stopped.state).toBe("stopped");
  expect(stopped.error).toContain(`svc cr apps ${first.number} web --deploy`);

  const asked = await ask("POST", first.at("/apps/web/deploy"));
  expect([asked.status, asked.body.state]).toEqual([202, "waiting"]);
  await close(second);
  await first.previews.becomes("it starts again", ({ state }) => state === "live");
});

test("drafts, and apps that the default branch gives no previews, have none", async () => {
  const draft = await open("draft", { draft: true });
  await bench.merge({}, [entryOf()]);
  await until("without previews in the manifest it ends", async () => (await first.list()).length === 0);
  await bench.merge({}, [WITH_PREVIEWS]);
  await until("it is back", async () => (await first.list()).length === 1);

  const toDraft = await ask("PATCH", first.at(""), { draft: true });
  expect(toDraft.status).toBe(200);
  await until("a draft's preview ends", async () => (await first.list()).length === 0);
  // rounds prepare all that is due: the one that prepared the other is over, and has left out the draft
  expect(await draft.list()).toEqual([]);
  await close(first);
  expect((await ask("PATCH", draft.at(""), { draft: false })).status).toBe(200);
  await draft.previews.becomes("it is ready", ({ state }) => state === "live");
  await close(draft);
});

test("a preview that fails says why, and is deployed again on demand", async () => {
  const broken = `svc_version = 1
[[apps]]
slug = "web"
build = { command = "echo of the build && exit 7" }
run = { command = "exec node server.js", port = 3000 }
`;
  const opened = await open("broken", { files: { "svc.toml": broken } });
  const { app, deployments } = await opened.previews.becomes("it fails", ({ state }) => state === "failed");
  expect(app.error).toContain("7");
  expect(deployments).toMatchObject([{ number: 1, state: "failed" }]);
  const log = await ask("GET", opened.at("/apps/web/logs?tail=50"));
  expect(log.body.lines).toContainEqual(expect.objectContaining({ source: "build", text: "of the build" }));
  expect((await ask("POST", opened.at("/apps/web/deploy"))).status).toBe(202);
  await opened.previews.becomes(
    "it fails again",
    ({ state }, [last]) => state === "failed" && last?.number === 2,
  );
  expect((await ask("POST", opened.at("/apps/other/deploy"))).body).toMatchObject({
    code: "not_found",
    error: expect.stringContaining(`svc cr apps ${opened.number}`),
  });
  await close(opened);
});
