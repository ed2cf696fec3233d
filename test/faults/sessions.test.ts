import { afterAll, beforeAll, expect } from "bun:test";
import { SESSION_STEPS, type SessionStep } from "../../src/deps.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { killAll, killIfThere } from "../helpers/processes.ts";
import { sample } from "../helpers/random.ts";
import { type SessionServer, startSessionServer } from "../helpers/session-server.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES && process.platform === "linux");

/** As many as run at once here: a place that leaks makes a later test fail. */
const CAP = 2;

let server: SessionServer;
/** Sessions that run, which a test leaves for the next one. */
const idle: string[] = [];

beforeAll(async () => {
  if (POSTGRES) server = await startSessionServer({ SVC_SESSION_CAP: String(CAP) });
});
afterAll(() => server?.stop());

const END_STEPS: readonly SessionStep[] = ["sandbox-ended", "end-recorded"];
const START_STEPS = SESSION_STEPS.filter((step) => !END_STEPS.includes(step));
/** From then on there is a sandbox whose processes can be killed. */
const ALIVE = START_STEPS.slice(START_STEPS.indexOf("sandbox-started"));

test.each(sample(1, START_STEPS).map((step) => [step] as const))(
  "the server is killed at %s of a start: the session still runs, once",
  async (step) => {
    const { id } = await haltedAt(step);
    await server.kill();
    await server.start();
    await server.becomes(id, "running");
    await isAlone(id);
    idle.push(id);
  },
);

const ENDS = END_STEPS.flatMap((step) =>
  (["stop", "restart", "delete"] as const)
    .filter((verb) => verb !== "restart" || step !== "end-recorded")
    .map((verb) => [step, verb] as const),
);

test.each(sample(1, ENDS))(
  "the server is killed at %s of a %s: the next server completes it",
  async (step, verb) => {
    const id = await running();
    // a restart has no step of its own between the old sandbox and the new keys
    const reached = server.haltAt(verb === "restart" ? "keys-issued" : step);
    const asked = verb === "delete" ? server.call("DELETE", `/${id}`) : server.call("POST", `/${id}/${verb}`);
    asked.catch(() => {});
    await reached;
    await server.kill();
    await server.start();
    if (verb === "restart") await server.becomes(id, "running");
    if (verb === "stop") expect(await server.becomes(id, "stopped")).toMatchObject({ stop_reason: "user" });
    if (verb === "delete") await until("it is gone", async () => (await server.get(id)) === null);
    if (verb !== "restart") await isGone(id);
    else await isAlone(id);
    if (verb !== "delete") await removes(id);
  },
);

test.each(sample(1, ALIVE).map((step) => [step] as const))(
  "the sandbox is killed at %s: the session fails with the reason",
  async (step) => {
    const { id } = await haltedAt(step);
    killAll(server.processes(id));
    server.go();
    const failed = await server.becomes(id, "failed");
    expect(failed.error).toMatch(/killed by signal 9|gone|ended|exited/);
    await isGone(id);
    expect((await server.call("GET", `/${id}/logs`)).body.lines.length).toBeGreaterThan(2);
    await removes(id);
  },
);

test("the runtime is killed: the daemon restarts it, and the session keeps running", async () => {
  const id = await running();
  const runtime = () => server.processes(id).filter(({ command }) => /opencode serve/.test(command));
  const before = runtime().map(({ pid }) => pid);
  expect(before.length).toBeGreaterThan(0);
  for (const pid of before) killIfThere(pid);
  await until("another runtime", () => runtime().some(({ pid }) => !before.includes(pid)));
  expect((await server.get(id))?.status).toBe("running");
  idle.push(id);
});

test("the server is killed: the next server finds the session that runs, and reports the one whose sandbox has exited", async () => {
  const id = await running();
  const { session_id: other } = await server.create();
  await server.becomes(other, "running");
  const before = server.processes(id).map(({ pid }) => pid);
  await server.kill();
  killAll(server.processes(other));
  await server.start();
  await server.becomes(other, "failed");
  await isGone(other);
  // what failed can be started again; and a second look at the sandboxes finds that it has ended
  await server.call("POST", `/${other}/restart`);
  await server.becomes(other, "running");
  killAll(server.processes(other));
  await server.becomes(other, "failed");
  await removes(other);
  expect(await server.get(id)).toMatchObject({ status: "running", error: null });
  expect(server.processes(id).map(({ pid }) => pid)).toEqual(before);
  idle.push(id);
});

test("a graceful shutdown leaves no sandbox, and its sessions record that", async () => {
  const id = await running();
  await server.end();
  expect(server.processes(id)).toEqual([]);
  await server.start();
  expect(await server.get(id)).toMatchObject({ status: "stopped", stop_reason: "server" });
  await server.call("POST", `/${id}/restart`);
  await server.becomes(id, "running");
  await removes(id);
});

/** A session that runs: one that an earlier test has left, or else a new one. */
async function running(): Promise<string> {
  const left = idle.pop();
  if (left !== undefined) return left;
  const { session_id: id } = await server.create();
  await server.becomes(id, "running");
  return id;
}

/** A new session that has come to this step, with the server standing still there. */
async function haltedAt(step: SessionStep): Promise<{ id: string }> {
  const reached = server.haltAt(step);
  const { session_id: id } = await server.create();
  await reached;
  return { id };
}

/** There is one daemon of this session, and not two. */
async function isAlone(id: string): Promise<void> {
  const daemons = () =>
    server.processes(id).filter(({ command }) => /^\S*svc-agent(?: serve)?$/.test(command.trim()));
  await until(
    () => `one daemon: ${server.processes(id).map(({ command }) => command)}`,
    () => daemons().length === 1,
  );
}

/** Nothing of its sandbox is left: no process, no folder. */
async function isGone(id: string): Promise<void> {
  await until(
    () => `nothing is left: ${server.processes(id).map(({ command }) => command)} ${server.folders()}`,
    () => server.processes(id).length === 0 && !server.folders().includes(id),
  );
}

async function removes(id: string): Promise<void> {
  expect((await server.call("DELETE", `/${id}`)).status).toBe(200);
  await isGone(id);
}
