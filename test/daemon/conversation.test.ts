import { expect, test } from "bun:test";
import { createHealth } from "../../daemon/health.ts";
import { createChildren } from "../../daemon/process/children.ts";
import { readSettings } from "../../daemon/settings.ts";
import type { RuntimeState } from "../../src/contract/daemon.ts";
import { killFound } from "../helpers/processes.ts";
import { leastEnvironment, type Sandbox, startSandbox } from "../helpers/sandbox.ts";

const PROMPT = { SVC_BOOTSTRAP_OPENCODE_SESSION: "1", SVC_INITIAL_PROMPT: "Begin" };
const isOk = ({ runtime }: { runtime: string }) => runtime === "ok";
const open = async (sandbox: Sandbox, body: object): Promise<string> =>
  (await (await sandbox.call("POST", "/session", "user", body)).json()).id;

test("a session has one conversation: null until it is opened, and the same after a restart", async () => {
  await using sandbox = await startSandbox();
  expect(await sandbox.untilHealth("it works", isOk)).toMatchObject({ conversation: null });
  const first = await open(sandbox, { title: "svc" });
  await open(sandbox, { title: "another" });
  await open(sandbox, { parentID: first });
  const { runtime_pid } = await sandbox.untilHealth(
    "it is told",
    ({ conversation }) => conversation === first,
  );
  killFound(runtime_pid, "SIGKILL");
  const again = await sandbox.untilHealth(
    "the runtime is back",
    (health) => isOk(health) && health.runtime_pid !== runtime_pid,
  );
  expect(again.conversation).toBe(first);
});

test("health never reports a ready runtime without its conversation", async () => {
  let state: RuntimeState = "starting";
  const health = createHealth({
    settings: readSettings({ ...leastEnvironment(), SVC_WORKSPACE: "/nonexistent" }, null),
    children: createChildren(),
    runtime: {
      get state() {
        return state;
      },
      pid: 7,
      error: null,
      call: async () => ({ status: 200, isJson: true, body: {} }),
    },
    conversation: { known: null, find: async () => "ses_1" },
    setup: { status: null },
    saver: { saved: null, restored: null, problem: null },
    clone: "cloning",
    error: null,
    usedAt: 0,
  });
  const asked = health();
  state = "ok";
  expect(await asked).toMatchObject({ runtime: "starting", conversation: null });
  expect(await health()).toMatchObject({ runtime: "ok", conversation: "ses_1" });
});

test("the first prompt opens it", async () => {
  await using sandbox = await startSandbox({ env: PROMPT });
  await sandbox.untilHealth("it is told", ({ conversation }) => conversation === "ses_1");
  const listed = await (await sandbox.call("GET", "/session")).json();
  expect(listed).toMatchObject([{ id: "ses_1" }]);
});
