import { afterAll, beforeAll, expect } from "bun:test";
import {
  DEPLOY_STEPS,
  type DeployStep,
  PREVIEW_STEPS,
  SESSION_STEPS,
  type SessionStep,
} from "../../src/deps.ts";
import { caller } from "../helpers/api.ts";
import { APP_PROGRAM, type AppBench, benchApps, entryOf, NODE_INSIDE } from "../helpers/apps.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { killAll } from "../helpers/processes.ts";
import { sample } from "../helpers/random.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres, and node below /usr", POSTGRES && NODE_INSIDE);

const ENTRIES = [entryOf({ previews: true })];

let server: SessionServer;
let bench: AppBench;
let version = 0;

beforeAll(async () => {
  if (!POSTGRES) return;
  server = await startSessionServer();
  bench = benchApps({ ...server, call: ask });
  await bench.merge({ "server.js": APP_PROGRAM, "says.txt": "v0" }, ENTRIES);
  await bench.becomes("the first is live", ({ state }) => state === "live");
});
afterAll(() => server?.stop());

const ask = (method: string, path: string, body?: unknown) =>
  caller(server.url(), server.token)(method, path, body === undefined ? {} : { body });

/** An app has no branch of its own; the last two belong to the end of a sandbox. */
const START_STEPS = SESSION_STEPS.filter(
  (step) => !["branch-created", "sandbox-ended", "end-recorded"].includes(step),
);
const STEPS: readonly (SessionStep | DeployStep)[] = [
  "deploy-started",
  ...START_STEPS,
  ...DEPLOY_STEPS.slice(1),
];
/** From then on there is a sandbox whose processes can be killed, and until then the deployment is on its way. */
const ALIVE = START_STEPS.slice(START_STEPS.indexOf("sandbox-started"), -1);

/** Merges a next version, and waits until its deployment has come to a step. */
async function haltedAt(step: SessionStep | DeployStep): Promise<string> {
  const reached = server.haltAt(step);
  const commit = await bench.merge({ "says.txt": `v${++version}` }, ENTRIES);
  await reached;
  return commit;
}

/** What is served is this version, and nothing else is to be served. */
async function settles(commit: string, says: string): Promise<void> {
  const { deployments } = await bench.becomes(
    "it is live",
    ({ state, live, next }) => state === "live" && live?.commit === commit && next === null,
  );
  const signedIn = await bench.signIn();
  await until("it answers", async () => (await bench.visit("/", signedIn)).text.endsWith(says));
  expect(deployments.filter(({ state }) => ["building", "starting", "live"].includes(state))).toHaveLength(1);
}

test.each(sample(1, STEPS).map((step) => [step] as const))(
  "the server is killed at %s of a deployment: it still goes live, once",
  async (step) => {
    const commit = await haltedAt(step);
    await server.kill();
    await server.start();
    await settles(commit, `v${version}`);
  },
);

test.each(sample(1, ALIVE).map((step) => [step] as const))(
  "the sandbox of a deployment is killed at %s: it fails with the reason, and the one before stays live",
  async (step) => {
    const { app: before } = await bench.get();
    const commit = await haltedAt(step);
    const id = (await bench.get()).app.next?.deployment_id ?? "";
    killAll(server.processes(id));
    server.go();
    const { app, deployments } = await bench.becomes(
      "it is over",
      ({ next }, [last]) => next === null && last?.commit === commit,
    );
    const last = deployments[0];
    if (last?.state === "failed") {
      expect(last.error).toMatch(/killed by signal 9|gone|ended|exited/);
      expect(app).toMatchObject({ state: "live", live: { deployment_id: before.live?.deployment_id } });
      expect((await bench.visit("/", await bench.signIn())).status).toBe(200);
      // what failed can be deployed again
      expect((await bench.call("POST", "/web/deploy")).status).toBe(202);
    }
    await settles(commit, `v${version}`);
  },
);

/** A preview is a deployment like any other once it is prepared: `--full` kills it at each step from then on, too. */
const [PREPARED, ENDED] = PREVIEW_STEPS;
const PREVIEW_STARTS = [PREPARED, ...sample(0, ["deploy-started", ...ALIVE] as const)];

test("the server is killed when a preview starts and ends: it goes live, once, and ends with its change request", async () => {
  const crs = "/change-requests";
  const at = (rest: string) => `/v1/projects/${server.projectId}${crs}${rest}`;
  const ids: string[] = [];
  for (const step of PREVIEW_STARTS) {
    const branch = `killed-at-${step}`;
    const reached = server.haltAt(step);
    const commit = server.remote.commit(branch, { "says.txt": branch }, { from: "main" });
    const { body: cr } = await ask("POST", at(""), { title: branch, head_ref: branch });
    const previews = benchApps({ ...server, call: ask }, `${crs}/${cr.number}/apps`);
    await reached;
    await server.kill();
    await server.start();
    const { app, deployments } = await previews.becomes("it is live", ({ live }) => live?.commit === commit);
    expect(deployments).toHaveLength(1);
    ids.push(app.live?.deployment_id ?? "");
    const ended = server.haltAt(ENDED);
    expect((await ask("POST", at(`/${cr.number}/close`))).status).toBe(200);
    await ended;
    await server.kill();
    await server.start();
    await until("it has ended", async () => {
      const { body } = await ask("GET", at(`/${cr.number}/apps`));
      return body.apps.length === 0;
    });
  }
  const left = () => ids.filter((id) => server.processes(id).length > 0);
  await until(
    () => `the sandboxes of ${left().join()} have ended`,
    () => left().length === 0,
  );
});

test("leaves only the live deployment's sandbox", async () => {
  const { app, deployments } = await bench.get();
  expect(server.processes(app.live?.deployment_id ?? "")).not.toHaveLength(0);
  const others = deployments
    .map(({ deployment_id: id }) => id)
    .filter((id) => id !== app.live?.deployment_id);
  const left = () => others.filter((id) => server.processes(id).length > 0);
  await until(
    () => `nothing is left of ${left().join()}`,
    () => left().length === 0,
  );
});
