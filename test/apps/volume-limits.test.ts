import { afterAll, beforeAll, expect } from "bun:test";
import { type Database, openPostgres } from "../../db/client.ts";
import { runs, volumes } from "../../db/schema/index.ts";
import { VOLUME_WORK } from "../../src/features/apps/volumes/worker.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type Api, startApi } from "../helpers/api.ts";
import { type AppBench, benchApps, entryOf, isLive } from "../helpers/apps.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { Remote } from "../helpers/remote.ts";
import { StandInProvider } from "../helpers/stand-in-provider.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
const LIMIT = 1024 ** 2;
const MINUTE_MS = 60_000;

const provider = new StandInProvider();
const cluster = new StandInProvider("kubernetes");
const changes = new Changes();
const remotes: Remote[] = [];
let [size, ahead, failures] = [0, 0, 0];
const removed: string[] = [];
provider.volumes = {
  measure: async (_, enough) => Math.min(size, enough),
  async remove(id) {
    if (failures-- > 0) throw new Error("busy");
    removed.push(id);
  },
};

const servers: Api[] = [];
let bench: AppBench;
let database: Database;
const ENTRY = entryOf({ run: { command: "serve", port: 3000, volume: "/data" } });

async function serverOf(standIn: StandInProvider): Promise<[Api, AppBench]> {
  const clock = () => new Date(Date.now() + ahead);
  const deps = { sandboxes: standIn.sandboxesOf, ...(standIn === provider && { changes, clock }) };
  const api = await startApi({ env: { SVC_VOLUME_MAX_BYTES: String(LIMIT) }, deps });
  const remote = new Remote();
  servers.push(api);
  remotes.push(remote);
  remote.commit("main", { a: "1" });
  const { project_id: projectId } = await api.project(remote.url);
  const call = (method: string, path: string, body?: unknown) =>
    api.call(method, path, body === undefined ? {} : { body });
  return [api, benchApps({ url: () => api.url, projectId, remote, call })];
}

beforeAll(async () => {
  if (!POSTGRES) return;
  const [api, made] = await serverOf(provider);
  bench = made;
  database = await openPostgres(api.databaseUrl ?? "");
});
afterAll(async () => {
  await database?.close();
  for (const api of servers) await api.stop();
  for (const remote of remotes) remote.remove();
});

const rows = () => database.db.select().from(volumes);
/** A minute passes, and the worker finds a volume of this size. */
async function grows(to: number): Promise<void> {
  size = to;
  ahead += MINUTE_MS;
  changes.notify(VOLUME_WORK);
  await until("it is measured", async () => (await rows())[0]?.bytes === to);
}

test("a deployment whose volume is too large is stopped, and can be started again", async () => {
  await bench.merge({ a: "2" }, [ENTRY]);
  await bench.becomes("it is live", isLive(1));
  const [{ volumeId = "" } = {}] = await rows();
  expect([...provider.sandboxes.values()].map(({ spec }) => spec.volume)).toEqual([
    { id: volumeId, path: "/data" },
  ]);
  await grows(LIMIT);
  const { app } = await bench.get();
  expect(app).toMatchObject({ state: "live", volume: { path: "/data", bytes: LIMIT } });

  await grows(LIMIT * 1.5);
  const failed = await bench.becomes("it has failed", ({ state }) => state === "failed");
  expect(failed.app.error).toStartWith("The volume has 1.5 MiB; the limit is 1 MiB (SVC_VOLUME_MAX_BYTES).");
  expect(failed.deployments[0]).toMatchObject({ number: 1, state: "failed", error: failed.app.error });
  await until("its sandbox has ended", () => provider.sandboxes.size === 0);

  // it has a minute to make room
  const begun = new Date(Date.now() + ahead);
  expect((await bench.call("POST", "/web/deploy")).status).toBe(202);
  await bench.becomes("it is live again", isLive(2));
  expect((await rows())[0]?.measuredAt?.getTime()).toBeGreaterThanOrEqual(begun.getTime());
  await grows(LIMIT - 1);
  expect((await bench.get()).app.state).toBe("live");
});

test("the next deployment starts once the sandbox of the one before has ended", async () => {
  const { starts } = provider;
  const [{ runId: before = null } = {}] = await rows();
  let isStopping = false;
  const stopped = Promise.withResolvers<void>();
  const starting = Promise.withResolvers<void>();
  provider.onStart = () => starting.promise;
  provider.onCall = async (method) => {
    if (method !== "stop") return;
    isStopping = true;
    await stopped.promise;
  };
  const commit = await bench.merge({ a: "3" }, [ENTRY]);
  try {
    await until("one stops or starts", () => isStopping || provider.starts > starts);
    await bench.becomes("it waits", ({ next }) => next?.commit === commit);
    // it is asked to stop once, however often the job of the app runs
    const asked = async () =>
      (await database.db.select().from(runs)).find(({ runId }) => runId === before)?.updatedAt;
    const since = await asked();
    for (let round = 0; round < 20; round++) {
      changes.notify("apps");
      await bench.get();
    }
    expect(await asked()).toEqual(since);
    expect(provider.starts).toBe(starts);
    expect((await rows())[0]?.runId).toBe(before);
    stopped.resolve();
    const { app } = await bench.becomes("it is down", ({ state }) => state === "down");
    expect(app.error).toBe("Deployment 2 was stopped for deployment 3, which uses the same volume.");
  } finally {
    stopped.resolve();
    starting.resolve();
  }
  await bench.becomes("it is live", ({ live, next }) => live?.commit === commit && next === null);
  expect(provider.starts).toBe(starts + 1);
  expect(provider.sandboxes.size).toBe(1);
});

test("a volume is removed again if that has failed, and its row stays until then", async () => {
  const [volume] = await rows();
  expect((await bench.call("POST", "/web/stop")).status).toBe(202);
  failures = 1;
  await until("it can be removed", async () => (await bench.call("DELETE", "/web/volume")).status === 200);
  await until("it has failed once", () => failures === 0);
  expect(removed).toEqual([]);
  expect((await rows()).map(({ volumeId, appId }) => [volumeId, appId])).toEqual([
    [volume?.volumeId ?? "", null],
  ]);
  changes.notify(VOLUME_WORK);
  await until("its row is gone", async () => (await rows()).length === 0);
  expect(removed).toEqual([volume?.volumeId ?? ""]);
  expect((await bench.get()).app.volume).toEqual({ path: "/data", bytes: null });
});

test("an app with a volume fails at once on Kubernetes", async () => {
  const [, onCluster] = await serverOf(cluster);
  await onCluster.merge({ a: "2" }, [ENTRY]);
  const { app } = await onCluster.becomes("it has failed", ({ state }) => state === "failed");
  expect(app.error).toStartWith("Volumes are not supported on Kubernetes yet.");
  expect(cluster.starts).toBe(0);
});
