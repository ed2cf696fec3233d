import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Session } from "../../src/contract/session.ts";
import type { DaemonSetupStatus, SetupCheckout } from "../../src/contract/setup.ts";
import { type SessionBench, startSessions } from "../helpers/sessions.ts";
import { until } from "../helpers/until.ts";

let bench: SessionBench;

beforeAll(async () => {
  bench = await startSessions({ env: { SVC_SESSION_CAP: "1000" } });
});
afterAll(() => bench.stop());

const RUNNING: DaemonSetupStatus = { state: "running", problem: null, output: [] };
const manifest = (setup: string) => `svc_version = 1\n[sandbox]\n${setup}\n`;

test("the setup command is that of the default branch, and a session without one has none", async () => {
  const { remote, provider } = bench;
  const setupOf = async (base: string) => {
    const { session_id } = await bench.create({ base_ref: base });
    await bench.becomes(session_id, "running");
    return provider.sandboxes.get(session_id)?.environment["SVC_SETUP"];
  };
  remote.branch("topic", "main");
  remote.commit("topic", { "svc.toml": manifest('setup = "evil"') });
  expect(await setupOf("topic")).toBeUndefined();
  remote.commit("main", { "svc.toml": manifest('setup = "npm ci"') });
  expect(JSON.parse((await setupOf("topic")) ?? "")).toEqual({
    command: "npm ci",
    timeoutMs: 900_000,
    isKept: true,
  });
  remote.commit("main", { "svc.toml": manifest('setup = "npm ci"\nsetup_timeout_minutes = 2') });
  expect(JSON.parse((await setupOf("main")) ?? "")).toEqual({
    command: "npm ci",
    timeoutMs: 120_000,
    isKept: true,
  });
});

test.each<NonNullable<Session["setup"]>>([
  { state: "ok", problem: null, output: [] },
  { state: "failed", problem: "exit 1", output: ["npm error", "no\u0000 NUL"] },
])(
  "a session is at the step setup while the command runs, and then says how it ended: $state",
  async (end) => {
    const { provider } = bench;
    provider.firstHealth = { clone: "cloning", runtime: "starting" };
    const { session_id: id } = await bench.create();
    await until("it starts", () => provider.sandboxes.has(id));
    const sandbox = provider.sandboxes.get(id);
    if (!sandbox) throw new Error("no sandbox");
    const at = (step: string) => until(`at ${step}`, async () => (await bench.get(id)).step === step);
    await at("clone");
    sandbox.health.setup = RUNNING;
    await at("setup");
    expect((await bench.get(id)).setup).toBeNull();
    Object.assign(sandbox.health, { setup: end, clone: "ok" });
    await at("runtime");
    sandbox.health.runtime = "ok";
    const session = await bench.becomes(id, "running");
    expect(session.setup).toEqual({ ...end, output: end.output.map((line) => line.replace("\u0000", "")) });
  },
);

const TAR = Buffer.alloc(2048);
TAR.write("what npm has installed");

/** A session whose daemon waits at its setup. @returns what svc sent to the daemon, such as `POST restore <bytes>` */
async function setUp(
  base: string,
  lockfiles: string,
  checkout: Partial<SetupCheckout> = {},
): Promise<string[]> {
  const { provider, remote } = bench;
  const sent: string[] = [];
  let id = "";
  provider.firstHealth = { clone: "cloning", runtime: "starting" };
  provider.onRequest = async (request, sandbox) => {
    const [, verb] = /^\/svc\/setup\/(.*)$/.exec(new URL(request.url).pathname) ?? [];
    if (verb === undefined || sandbox !== provider.sandboxes.get(id))
      return new Response(null, { status: 404 });
    const body = Buffer.from(await request.arrayBuffer());
    sent.push([request.method, verb, ...(body.length > 0 ? [body.equals(TAR)] : [])].join(" "));
    const isOver = verb === "run" || verb === "restore" || verb === "files";
    const state = verb === "run-and-keep" ? "keeping" : verb === "restore" ? "restored" : "ok";
    sandbox.health.setup = { ...RUNNING, state };
    if (isOver) Object.assign(sandbox.health, { clone: "ok", runtime: "ok" });
    return verb === "files" ? new Response(TAR) : new Response(null, { status: 204 });
  };
  id = (await bench.create({ base_ref: base })).session_id;
  await until("it starts", () => provider.sandboxes.has(id));
  const sandbox = provider.sandboxes.get(id);
  if (!sandbox) throw new Error("no sandbox");
  const commit = remote.sha(base);
  sandbox.health.setup = {
    ...RUNNING,
    state: "waiting",
    checkout: { commit, isClean: true, lockfiles, ...checkout },
  };
  expect((await bench.becomes(id, "running")).setup?.state).toBe(
    sent[0]?.includes("restore") ? "restored" : "ok",
  );
  return sent;
}

test("what the command adds at the tip of the default branch is kept, and all sessions with the same lockfiles get it", async () => {
  const { remote } = bench;
  remote.commit("main", { "svc.toml": manifest('setup = "npm ci"') });
  const before = remote.sha("main");
  remote.branch("unmerged", "main");
  remote.commit("unmerged", { "package.json": "postinstall: evil" });
  remote.branch("ancestor", "main");
  remote.commit("main", { b: "2" });
  // an unmerged commit, one that was the tip before, and a daemon that names another commit
  expect(await setUp("unmerged", "first")).toEqual(["POST run"]);
  expect(await setUp("ancestor", "first")).toEqual(["POST run"]);
  expect(await setUp("main", "first", { commit: before })).toEqual(["POST run"]);
  expect(await setUp("main", "first", { isClean: false })).toEqual(["POST run"]);
  expect(await setUp("main", "first")).toEqual(["POST run-and-keep", "GET files"]);
  expect(await setUp("main", "first", { isClean: false })).toEqual(["POST restore true"]);
  expect(await setUp("unmerged", "first")).toEqual(["POST restore true"]);
  expect(await setUp("unmerged", "second")).toEqual(["POST run"]);
  remote.commit("main", { "svc.toml": manifest('setup = "npm install"') });
  expect(await setUp("unmerged", "first")).toEqual(["POST run"]);
});

test("nothing is kept without isolation", async () => {
  const { remote, provider } = bench;
  remote.commit("main", { "svc.toml": manifest('setup = "npm ci"\nservices = ["redis"]') });
  const isKept = async () => {
    const { session_id } = await bench.create();
    await bench.becomes(session_id, "running");
    return JSON.parse(provider.sandboxes.get(session_id)?.environment["SVC_SETUP"] ?? "").isKept;
  };
  provider.firstHealth = {};
  expect(await isKept()).toBe(true);
  const { walls } = provider;
  provider.walls = async () => [];
  try {
    expect(await isKept()).toBe(false);
  } finally {
    provider.walls = walls;
  }
});

test("a devcontainer.json of the default branch is used, unless there is a Dockerfile", async () => {
  const { remote, provider } = bench;
  const read = async () => {
    const { session_id } = await bench.create();
    await bench.becomes(session_id, "running");
    const { spec, environment } = provider.sandboxes.get(session_id) ?? {};
    const { lines } = (await bench.call("GET", `/${session_id}/logs`)).body;
    const command = JSON.parse(environment?.["SVC_SETUP"] ?? "{}").command;
    const note = lines
      .map(({ text }: { text: string }) => text)
      .find((text: string) => text.includes("devcontainer"));
    return { build: spec?.build, command, variable: environment?.["FROM_IT"], note };
  };
  provider.firstHealth = {};
  const devcontainer = {
    image: "node:22",
    features: {},
    remoteUser: "node",
    containerEnv: { FROM_IT: "1" },
    postCreateCommand: "npm ci",
  };
  remote.commit("main", {
    "svc.toml": "svc_version = 1\n",
    ".devcontainer/devcontainer.json": JSON.stringify(devcontainer),
  });
  const used = await read();
  expect(used).toMatchObject({
    build: { dockerfile: "Dockerfile", hash: "image node:22", user: "node" },
    command: "npm ci",
    variable: "1",
    note: "The sandbox is that of .devcontainer/devcontainer.json. Not used: features.",
  });
  const context = await new Response(used.build?.context()).text();
  expect(context).toContain("FROM node:22\n");
  remote.commit("main", { "svc.toml": manifest('setup = "make"') });
  expect(await read()).toMatchObject({ command: "make", variable: "1" });
  remote.commit("main", { ".svc/Dockerfile": "FROM scratch\n" });
  const { build, variable, note } = await read();
  expect([build?.dockerfile, variable, note]).toEqual([".svc/Dockerfile", undefined, undefined]);
});

test("services are images of the default branch, and a provider without them says so", async () => {
  const { remote, provider } = bench;
  provider.firstHealth = {};
  remote.commit("main", { "svc.toml": manifest('services = ["postgres:16", "no good", "redis"]') });
  const { session_id } = await bench.create();
  await bench.becomes(session_id, "running");
  expect(provider.sandboxes.get(session_id)?.spec.services).toEqual(["postgres:16", "redis"]);
  const { text } = await bench.call("GET", `/${session_id}/logs`);
  expect(text).toContain("The services of svc.toml (postgres:16, redis) run in Docker only");
});
