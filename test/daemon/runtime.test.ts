import { afterEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NO_AGENT_CONFIG } from "../../daemon/git/agent-config.ts";
import { createChildren } from "../../daemon/process/children.ts";
import { Latch } from "../../daemon/process/latch.ts";
import { limitsFor } from "../../daemon/runtime/memory.ts";
import { type Runtime, type RuntimeLimits, superviseRuntime } from "../../daemon/runtime/runtime.ts";
import { readSettings } from "../../daemon/settings.ts";
import { freePort } from "../../scripts/free-port.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { RUNTIME_VERSION } from "../../src/contract/runtime.ts";
import type { Behaviour } from "../helpers/opencode.ts";
import { allProcesses, killFound, processIds } from "../helpers/processes.ts";
import { leastEnvironment, runtimeProgram, startSandbox } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";
import { writeWhole } from "../helpers/write-whole.ts";

/** The supervision alone. It pauses briefly; only a test of a limit has one that is reached. */
const LIMITS: Partial<RuntimeLimits> = {
  firstPauseMs: 20,
  longestPauseMs: 80,
  stableMs: 600_000,
  start: { stillMs: WAIT_LIMIT_MS, longestMs: WAIT_LIMIT_MS },
  checkMs: 50,
  checkTimeoutMs: WAIT_LIMIT_MS,
  checkFailures: 3,
  abortMs: 3_000,
  termMs: 400,
};
/** Three checks in a row fail only if the runtime hangs. */
const HANGS: Partial<RuntimeLimits> = { checkTimeoutMs: 1_500 };

const running: { runtime: Runtime; folder: string }[] = [];
afterEach(async () => {
  for (const { runtime, folder } of running.splice(0)) {
    await runtime.stop();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function supervise(
  behaviour: Behaviour,
  limits: Partial<RuntimeLimits> = {},
  env: Record<string, string> = {},
  isComplete = true,
) {
  const folder = mkdtempSync(join(tmpdir(), "svc-runtime-"));
  const [workspace, home] = [join(folder, "workspace"), join(folder, "home")];
  for (const path of [workspace, home]) mkdirSync(path);
  const standin = join(home, "standin.json");
  const behave = (how: Behaviour) => writeWhole(standin, JSON.stringify(how));
  behave(behaviour);
  const settings = readSettings(
    {
      ...leastEnvironment(),
      STANDIN: standin,
      SVC_RUNTIME_PORT: String(freePort()),
      SVC_RUNTIME_BIN: runtimeProgram(folder),
      SVC_WORKSPACE: workspace,
      SVC_RUNTIME_HOME: home,
      ...env,
    },
    null,
  );
  const said: string[] = [];
  const complete = new Latch();
  if (isComplete) complete.open();
  let ready = 0;
  const runtime = superviseRuntime({
    settings,
    children: createChildren(),
    log: { info: (text) => said.push(text), runtime: (line) => said.push(line) },
    agentConfig: () => NO_AGENT_CONFIG,
    secrets: () => settings.secrets,
    workspace: complete,
    choice: () => ({ model: null, agent: null, mode: "full" as const, effort: null }),
    onReady: () => {
      ready++;
    },
    limits: { ...LIMITS, ...limits },
  });
  running.push({ runtime, folder });
  runtime.start();
  const notes = () =>
    existsSync(`${standin}.log`) ? readFileSync(`${standin}.log`, "utf8").split("\n").filter(Boolean) : [];
  const starts = () => notes().filter((note) => note.startsWith("start ")).length;
  return { runtime, behave, said, notes, starts, ready: () => ready, home, complete };
}

test("a runtime that crashes is restarted with growing delays, and reported", async () => {
  const { runtime, behave, said, starts } = await supervise({ crash: true });
  await until("it was started five times", () => starts() >= 5);
  expect(runtime.error).toMatchObject({ kind: "runtime", permanent: false });
  expect(said).toContain("it crashed");
  const pauses = said.flatMap((line) => /exit status 7\. It restarts in (\S+) s/.exec(line)?.[1] ?? []);
  expect(pauses.slice(0, 4)).toEqual(["0.02", "0.04", "0.08", "0.08"]);
  behave({});
  await until("it is ready", () => runtime.state === "ok");
  expect(runtime.error).toBeNull();
});

test("the limits of a start begin when the workspace is complete", async () => {
  const limits = { start: { stillMs: 1_000, longestMs: WAIT_LIMIT_MS } };
  const { runtime, said, starts, complete } = await supervise({}, limits, {}, false);
  await until("it listens", () => said.some((line) => line.includes("listening")));
  const listens = performance.now();
  await until("the limit has passed twice", () => performance.now() > listens + 2_000);
  expect([runtime.state, starts()]).toEqual(["starting", 1]);
  complete.open();
  await until("it is ready", () => runtime.state === "ok");
  expect(starts()).toBe(1);
});

test("a runtime that crashes before the workspace is complete is restarted", async () => {
  const { runtime, behave, starts, complete } = await supervise({ crash: true }, {}, {}, false);
  await until("it was started twice", () => starts() >= 2);
  behave({});
  complete.open();
  await until("it is ready", () => runtime.state === "ok");
});

test("a runtime is stopped before the workspace is complete", async () => {
  const { runtime, notes } = await supervise({}, {}, {}, false);
  await until("it has started", () => notes().length > 0);
  const pid = runtime.pid ?? 0;
  await runtime.stop();
  expect(processIds()).not.toContain(pid);
});

test("a runtime that exits is restarted, and its state shows it", async () => {
  const { runtime, ready } = await supervise({}, { firstPauseMs: 300 });
  await until("it is ready", () => runtime.state === "ok");
  if (runtime.pid === null) throw new Error("there is no process");
  process.kill(runtime.pid, "SIGKILL");
  await until("it is down", () => runtime.state === "down");
  const told = "The agent runtime was ended by SIGKILL. It restarts in 0.3 s.";
  await until("it is told", () => runtime.error?.message === told);
  await until("it is ready again", () => runtime.state === "ok");
  expect(ready()).toBe(2);
});

test.each<[string, Behaviour]>([
  ["answers nothing", { hang: true }],
  ["never reports that it listens", { mute: true }],
])("a runtime that %s gets no requests of users, and is restarted", async (_, behaviour) => {
  const { runtime, said, ready } = await supervise(behaviour, {
    start: { stillMs: 1_500, longestMs: WAIT_LIMIT_MS },
  });
  const told =
    /was ended before it was ready, since it has shown no activity for 1\.5 seconds\. It restarts in/;
  const ends = () => said.filter((line) => told.test(line)).length;
  await until("it was ended, and the next one too", () => ends() >= 2);
  expect(runtime.error?.message).toContain("was ended before it was ready");
  expect(ready()).toBe(0);
});

test("a runtime that listens before it responds is polled until it does", async () => {
  const { runtime } = await supervise({ deafMs: 700 });
  await until("it is ready", () => runtime.state === "ok");
});

test("a runtime that hangs is restarted", async () => {
  const { runtime, behave, starts } = await supervise({}, HANGS);
  await until("it is ready", () => runtime.state === "ok");
  behave({ wedged: true });
  await until("it was given up", () => starts() >= 2);
  behave({});
  await until("it is ready", () => runtime.state === "ok");
});

/** Starts a long run of the stand-in, which makes its session busy. */
async function work(runtime: Runtime, behave: (how: Behaviour) => void, how: Behaviour = {}): Promise<void> {
  await until("it is ready", () => runtime.state === "ok");
  behave({ ...how, runMs: 60_000 });
  await runtime.call("POST", "/session/ses_1/prompt_async", WAIT_LIMIT_MS, { parts: [] });
}

test.each(["does not respond", "is stopped, so that it takes no signal"])(
  "a runtime that %s during a run is restarted, too",
  async (how) => {
    const { runtime, behave, said, starts } = await supervise({}, HANGS);
    await work(runtime, behave);
    if (how === "does not respond") behave({ wedged: true });
    else killFound(runtime.pid, "SIGSTOP");
    await until("it was given up", () => starts() >= 2);
    expect(said.join("\n")).toContain("stopped responding");
  },
);

/** The memory limits, none at first. The checks read `soft`, which counts them. */
function memoryLimits() {
  const { POSITIVE_INFINITY: none } = Number;
  let [soft, checks] = [none, 0];
  const memory = {
    hard: none,
    get soft() {
      checks++;
      return soft;
    },
  };
  return {
    memory,
    limitSoftly: () => {
      [soft, checks] = [1, 0];
    },
    checks: () => checks,
  };
}

test("a runtime over the soft memory limit is restarted once it is idle", async () => {
  const { memory, limitSoftly, checks } = memoryLimits();
  const { runtime, behave, starts, said } = await supervise({}, { memory, memoryRestartMs: 0 });
  await work(runtime, behave);
  limitSoftly();
  await until("it was checked during the run", () => checks() > 5);
  expect(starts()).toBe(1);
  await runtime.call("POST", "/session/ses_1/abort", WAIT_LIMIT_MS);
  await until("it was started again", () => starts() >= 2);
  expect(said.join("\n")).toMatch(/restarting the idle runtime: it uses \d+ MiB of memory/);
  expect(said.join("\n")).not.toContain("It restarts in");
});

test("a runtime over the hard memory limit is restarted at once", async () => {
  const { memory } = memoryLimits();
  const { runtime, behave, starts, said } = await supervise({}, { memory });
  await work(runtime, behave);
  memory.hard = 1;
  await until("it was ended", () => starts() >= 2);
  expect(said.join("\n")).toMatch(/The agent runtime used \d+ MiB of memory, and was ended\. It restarts in/);
});

test.each([
  [1, 1.5, 1.5],
  [2, 1.5, 1.7],
  [4, 2.4, 3.4],
  [64, 4, 8],
])("in a sandbox of %d GiB, the soft limit is %d and the hard limit %d", (gib, soft, hard) => {
  const limits = limitsFor(gib * 1024 ** 3);
  expect([limits.soft / 1024 ** 3, limits.hard / 1024 ** 3].map((size) => Number(size.toFixed(2)))).toEqual([
    soft,
    hard,
  ]);
});

test("an untested version is used, and reported", async () => {
  const { runtime, said } = await supervise({ version: "1.17.0" });
  await until("it is ready", () => runtime.state === "ok");
  const told = `the runtime is opencode 1.17.0, but svc supports ${RUNTIME_VERSION}: some features may fail`;
  await until("it is told", () => said.includes(told));
});

test("an invalid configuration is reported, and only retried on request", async () => {
  const { runtime, behave, starts } = await supervise({ brokenConfig: true });
  await until("it has failed", () => runtime.state === "failed");
  expect(runtime.error).toEqual({
    kind: "config",
    message:
      "The agent runtime cannot use its configuration: ConfigInvalidError: opencode.json: agent.x: wrong type. Fix it in the repository, and refresh the session.",
    permanent: true,
  });
  await Bun.sleep(300);
  expect(starts()).toBe(1);
  behave({});
  await runtime.restart();
  await until("it is ready", () => runtime.state === "ok");
});

test("a missing program is reported, with the package to install", async () => {
  const { runtime } = await supervise({}, {}, { SVC_RUNTIME_BIN: "/nonexistent/opencode" });
  await until("it has failed", () => runtime.state === "failed");
  expect(runtime.error).toMatchObject({ kind: "runtime", permanent: true });
  expect(runtime.error?.message).toContain("svc-api runtime install");
});

test("a runtime that ignores SIGTERM is killed; a requested restart is not a crash", async () => {
  const { runtime, notes, starts, said } = await supervise({ ignoreSigterm: true }, { termMs: 2_000 });
  await until("it is ready", () => runtime.state === "ok");
  await runtime.restart();
  expect(notes().filter((note) => note.startsWith("SIGTERM"))).toHaveLength(1);
  await until("it is ready", () => runtime.state === "ok");
  expect(starts()).toBe(2);
  expect(said.join()).not.toContain("It restarts");
});

test("locks of a killed start are removed before the next", async () => {
  const { runtime, home } = await supervise({ crash: true });
  const lock = join(home, ".local/state/opencode/locks/x.lock");
  mkdirSync(lock, { recursive: true });
  await until("they are gone", () => !existsSync(lock));
  expect(runtime.state).not.toBe("ok");
});

test("concurrent restarts and stops leave one process or none", async () => {
  const { runtime } = await supervise({});
  for (let round = 0; round < 3; round++) {
    await Promise.all([runtime.restart(), Bun.sleep(round * 7).then(() => runtime.restart())]);
    await until("it is ready", () => runtime.state === "ok");
  }
  const pid = runtime.pid ?? 0;
  await Promise.all([runtime.restart(), runtime.stop()]);
  await Bun.sleep(200);
  expect(allProcesses().filter((found) => found.pid === pid)).toEqual([]);
  expect(runtime.pid).toBeNull();
});

/** Processes that have ended, and that their parent has taken no note of. */
function zombiesOf(parent: number): number[] {
  return processIds().filter((pid) => {
    const file = `/proc/${pid}/stat`;
    const stat = existsSync(file) ? readFileSync(file, "latin1") : "";
    return stat.slice(stat.lastIndexOf(")") + 2).startsWith(`Z ${parent} `);
  });
}

const sleepers = () => allProcesses().filter(({ command }) => /^sleep 424[234]$/.test(command));

test("processes of the runtime end with it: children, other groups, orphans", async () => {
  await using sandbox = await startSandbox({ behaviour: { children: true } });
  const { runtime_pid } = await sandbox.untilHealth("it works", ({ runtime }) => runtime === "ok");
  const mine = () =>
    sleepers().filter(({ environment }) => environment.includes(`SVC_SESSION_ID=${sandbox.sessionId}`));
  await until("they run", () => mine().length === 3);
  killFound(runtime_pid, "SIGKILL");
  sandbox.behave({});
  await sandbox.untilHealth(
    "it was started again",
    (health) => health.runtime === "ok" && health.runtime_pid !== runtime_pid,
  );
  expect(mine()).toEqual([]);
  await until("the orphans are buried", () => zombiesOf(sandbox.child.pid).length === 0);
  sandbox.behave({ children: true });
  const { runtime_pid: second } = await sandbox.health();
  killFound(second, "SIGKILL");
  await until("they run", () => mine().length === 3);
  sandbox.child.kill("SIGTERM");
  expect(await sandbox.child.exited).toBe(0);
  expect(mine()).toEqual([]);
});
