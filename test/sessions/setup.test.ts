import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Session } from "../../src/contract/session.ts";
import type { DaemonSetupStatus } from "../../src/contract/setup.ts";
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
  expect(JSON.parse((await setupOf("topic")) ?? "")).toEqual({ command: "npm ci", timeoutMs: 900_000 });
  remote.commit("main", { "svc.toml": manifest('setup = "npm ci"\nsetup_timeout_minutes = 2') });
  expect(JSON.parse((await setupOf("main")) ?? "")).toEqual({ command: "npm ci", timeoutMs: 120_000 });
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
