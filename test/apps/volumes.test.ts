import { afterAll, beforeAll, expect } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { ManifestApp } from "../../src/contract/manifest/manifest.ts";
import { runBackup } from "../../src/edge/admin/backup.ts";
import { runRestore } from "../../src/edge/admin/restore.ts";
import { caller, makeFolder } from "../helpers/api.ts";
import { APP_PROGRAM, type AppBench, benchApps, entryOf, isLive, NODE_INSIDE } from "../helpers/apps.ts";
import { testConfig } from "../helpers/isolation.ts";
import { needs } from "../helpers/needs.ts";
import { createEmptyDatabase, POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres, and node below /usr", POSTGRES && NODE_INSIDE);

/** Records in its volume when it begins and, some time after SIGTERM, when it has ended. */
const PROGRAM = `
const fs = require("node:fs");
const version = fs.readFileSync("version", "utf8");
const note = (what) => fs.appendFileSync("/srv/data/log", what + " " + version + "\\n");
if (process.env.SVC_VOLUME !== "/srv/data") process.exit(9);
note("begin");
process.on("SIGTERM", () => setTimeout(() => { note("end"); process.exit(); }, 700));
require("node:http").createServer((_, response) => response.end(version)).listen(process.env.PORT, process.env.HOST);
`;
const RUN = { command: "node program.js", port: 3000, volume: "/srv/data" };
const entry = (change: Partial<ManifestApp> = {}) => entryOf({ run: RUN, previews: true, ...change });

let server: SessionServer;
let bench: AppBench;
const ask = (method: string, path: string, body?: unknown) =>
  caller(server.url(), server.token)(method, path, body === undefined ? {} : { body });

beforeAll(async () => {
  if (!POSTGRES) return;
  server = await startSessionServer();
  bench = benchApps({ ...server, call: ask });
});
afterAll(() => server?.stop());

/** The folders of volumes in the server's data folder. */
function folders(): string[] {
  const all = join(server.dataDir, "volumes");
  return existsSync(all) ? readdirSync(all).map((id) => join(all, id)) : [];
}

/** What the programs of an app have recorded, such as `begin 1`. */
const logOf = (folder = folders()[0] ?? "") => readFileSync(join(folder, "log"), "utf8").trim().split("\n");

/** Waits until a commit is live, and no other one is to be. */
const deployed = (commit: string) =>
  bench.becomes("it is live", ({ state, live, next }) => {
    return state === "live" && live?.commit === commit && next === null;
  });

let number = 0;
/** Merges the next version. @returns its commit */
async function next(change: Partial<ManifestApp> = {}): Promise<string> {
  number++;
  return await bench.merge({ "program.js": PROGRAM, version: String(number) }, [entry(change)]);
}

const expected: string[] = [];
/** The log is what it was, and these lines. */
async function records(...lines: string[]): Promise<void> {
  expected.push(...lines);
  await until(
    () => `the log has ${expected.join()}, and not ${logOf().join()}`,
    () => logOf().join() === expected.join(),
  );
}

test("a volume outlives deployments, and two of them never have it at once", async () => {
  await next();
  await bench.becomes("it is live", isLive(1));
  await records("begin 1");

  await next();
  await bench.becomes("the second is live", isLive(2));
  await records("end 1", "begin 2");

  // the one before is started again
  await next({ build: "exit 7" });
  await bench.becomes("the third has failed", ({ state, next }, [last]) => {
    return last?.state === "failed" && state === "live" && next === null;
  });
  await records("end 2", "begin 2");
  expect(folders()).toHaveLength(1);
});

/** Steps of a deployment that replaces another one: of the end of that one, and of its own start. */
const STEPS = ["deploy-started", "deploy-settled", "sandbox-ended", "end-recorded", "keys-issued"] as const;

test.each(sample(1, STEPS).map((step) => [step] as const))(
  "the server is killed at %s: the next deployment gets the volume once the one before has ended",
  async (step) => {
    const before = logOf();
    const reached = server.haltAt(step);
    const commit = await next();
    await reached;
    await server.kill();
    await server.start();
    const says = String(number);
    await deployed(commit);
    const added = logOf().slice(before.length);
    expect(added.at(-1)).toBe(`begin ${says}`);
    const what = logOf().map((line) => line.split(" ")[0]);
    expect(what).toEqual(what.map((_, index) => (index % 2 === 0 ? "begin" : "end")));
    expected.splice(0, expected.length, ...logOf());
  },
);

test("a preview has an empty volume of its own, which is removed with it", async () => {
  const [ofApp = ""] = folders();
  const at = `/v1/projects/${server.projectId}/change-requests`;
  server.remote.commit("other", { version: "preview" }, { from: "main" });
  const { body: cr } = await ask("POST", at, { title: "other", head_ref: "other" });
  const previews = benchApps({ ...server, call: ask }, `/change-requests/${cr.number}/apps`);
  await previews.becomes("it is live", isLive(1));
  const [ofPreview = "", ...others] = folders().filter((folder) => folder !== ofApp);
  expect(others).toEqual([]);
  expect(logOf(ofPreview)).toEqual(["begin preview"]);
  expect((await ask("POST", `${at}/${cr.number}/close`)).status).toBe(200);
  await until("its volume is removed", () => folders().length === 1);
  await records();
});

test("a backup has the volumes, except those that the rows do not have", async () => {
  mkdirSync(join(server.dataDir, "volumes", crypto.randomUUID()));
  const [ofApp = ""] = folders().filter((folder) => existsSync(join(folder, "log")));
  const out = join(server.dataDir, "backup.tar");
  const never = new AbortController().signal;
  const isolated = { SVC_DATA_DIR: server.dataDir, DATABASE_URL: server.databaseUrl };
  await runBackup(testConfig(isolated), { out, withKey: true }, never);
  const database = await createEmptyDatabase();
  const target = makeFolder();
  try {
    await runRestore(testConfig({ SVC_DATA_DIR: target, DATABASE_URL: database.url }), out, never);
    expect(readdirSync(join(target, "volumes"))).toEqual([basename(ofApp)]);
    expect(logOf(join(target, "volumes", basename(ofApp)))).toEqual(logOf(ofApp));
  } finally {
    rmSync(target, { recursive: true });
    await database.drop();
    for (const folder of folders()) if (folder !== ofApp) rmSync(folder, { recursive: true });
  }
});

test("a volume outlives its line in the manifest, and is removed when no deployment uses it", async () => {
  const remove = () => bench.call("DELETE", "/web/volume");
  expect((await bench.get()).app.volume).toEqual({ path: "/srv/data", bytes: null });
  expect(await remove()).toMatchObject({ status: 409, body: { code: "volume_in_use" } });

  const without = { run: { command: "node server.js", port: 3000 } };
  await deployed(await bench.merge({ "server.js": APP_PROGRAM, "says.txt": "x" }, [entryOf(without)]));
  expect((await bench.get()).app.volume).toEqual({ path: null, bytes: null });
  // the one before finishes its requests, and still has it
  expect(await remove()).toMatchObject({ status: 409, body: { code: "volume_in_use" } });

  expect((await bench.call("POST", "/web/stop")).status).toBe(202);
  await records(`end ${number}`);
  await until("it can be removed", async () => (await remove()).status === 200);
  await until("its folder is removed", () => folders().length === 0);
  expect(await remove()).toMatchObject({ status: 404, body: { code: "not_found" } });

  await next();
  expect((await bench.call("POST", "/web/deploy")).status).toBe(202);
  await bench.becomes("it is live", ({ state }) => state === "live");
  expected.length = 0;
  await records(`begin ${number}`);
});

test("the volume of a deleted project is removed", async () => {
  expect(folders()).toHaveLength(1);
  expect((await ask("DELETE", `/v1/projects/${server.projectId}`)).status).toBe(200);
  await until("its folder is removed", () => folders().length === 0);
});
