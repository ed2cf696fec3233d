import { expect, test } from "bun:test";
import { AcpAgent } from "../../daemon/acp/agent.ts";
import { AgentProcess } from "../../daemon/acp/agent-process.ts";
import { untilStuck } from "../../daemon/process/stuck.ts";
import { timeOfTree } from "../../daemon/process/tree.ts";
import { until } from "../helpers/until.ts";

/** Watches a start whose processor time is looked at every 5 seconds. @param workAt after so many seconds */
async function watch(workAt: (seconds: number) => number, overAfter = Number.POSITIVE_INFINITY) {
  let now = 0;
  const over = new AbortController();
  const why = await untilStuck(1, { stillMs: 60_000, longestMs: 600_000 }, over.signal, {
    now: () => now,
    workOf: async () => workAt(now / 1000),
    async pause(ms) {
      now += ms;
      if (now >= overAfter * 1000) over.abort();
    },
  });
  return { why, seconds: now / 1000 };
}

const STILL = "it has shown no activity for 60 seconds";
const LONG = "it took longer than 600 seconds";

test.each<[string, (seconds: number) => number, string, number]>([
  ["waits", () => 700, STILL, 60],
  ["works all the time", (s) => s * 10, LONG, 600],
  ["works a little, which is what waiting costs", (s) => (Math.floor(s / 5) % 2 === 0 ? 0 : 49), STILL, 60],
  ["works every 55 seconds", (s) => Math.floor(s / 55) * 50, LONG, 600],
  ["works every 65 seconds", (s) => Math.floor(s / 65) * 50, STILL, 60],
  ["works, and then waits", (s) => Math.min(s, 100) * 20, STILL, 160],
  ["loses processes, which end", (s) => 1_000_000 - s, LONG, 600],
  ["works where processor times are unknown", () => 0, STILL, 60],
])("a start that %s", async (_, workAt, why, seconds) => {
  expect(await watch(workAt)).toEqual({ why, seconds });
});

test("a start that is over is not watched any longer", async () => {
  expect(await watch(() => 0, 30)).toEqual({ why: null, seconds: 30 });
});

test("the work of a process and of its children is seen", async () => {
  const child = Bun.spawn(["sh", "-c", "(while :; do :; done) & wait"], { stdout: "ignore", detached: true });
  try {
    await until("it has worked", async () => (await timeOfTree(child.pid)) >= 100);
  } finally {
    process.kill(-child.pid, "SIGKILL");
    await child.exited;
  }
});

const SETTINGS = {
  environment: {},
  variables: {},
  workspace: "/",
  journal: "",
  choice: { mode: null, isModeRequired: false, allowsEdits: false, model: null, effort: null },
  login: null,
  startEfforts: [],
  rules: { text: "", in: "first-prompt" },
  skills: null,
  tools: null,
  port: 0,
  authorization: "",
} as const;
const SILENT = {
  onUpdate() {},
  onPermission: async () => null,
  onForm: async () => ({ action: "cancel" }) as const,
  onStderr() {},
};

test("an agent that does not start is ended, and the error says so with its last words", async () => {
  const settings = { ...SETTINGS, command: ["sh", "-c", "echo still-loading >&2; exec sleep 600"] };
  const agent = new AgentProcess(settings, SILENT, { stillMs: 2_000, longestMs: 600_000 });
  await expect(agent.open(null, settings.choice)).rejects.toThrow(
    "The agent did not start: it has shown no activity for 2 seconds. Its last message: still-loading",
  );
});

test("whoever comes right after a failed start gets another start, not the error of the first", async () => {
  // refuses each request, in the name of its process
  const refuse = `while read -r line; do
    id=$(printf %s "$line" | sed 's/.*"id":\\([0-9]*\\).*/\\1/')
    printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":"%s refuses"}}\\n' "$id" "$$"
  done`;
  const settings = { ...SETTINGS, command: ["sh", "-c", refuse] };
  const agent = new AcpAgent(settings, SILENT);
  const failure = () => agent.open(null).then(() => "none", String);
  const [first, second] = [await failure(), await failure()];
  agent.kill();
  for (const each of [first, second]) expect(each).toMatch(/\d+ refuses/);
  expect(second).not.toBe(first);
});
