import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type AcpMessage, type AcpSandbox, startAcpSandbox } from "../helpers/acp-sandbox.ts";
import { sample } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

/** A turn, and what a client has seen of it at each of its pauses. */
const STEPS = ["!say one", "!think hm", "!write a.txt x", "!plan read|write", "!run echo ran", "!say two"];
const SHOWN = [
  "text one",
  "reasoning hm",
  "edit Write a.txt",
  "todowrite 2 steps",
  "bash echo ran",
  "text two",
];
const PROMPT = STEPS.flatMap((step, at) => [`!pause ${at}`, step])
  .concat("!pause end")
  .join("\n");

const shown = ({ parts }: AcpMessage) =>
  parts.map(({ type, text, tool, state }) =>
    type === "tool" ? `${tool} ${state?.title}` : `${type} ${text}`,
  );

const paused = (acp: AcpSandbox) => join(acp.home, ".acp-reference/paused");

/** Lets the turn go on to a pause. */
async function reach(acp: AcpSandbox, at: number): Promise<void> {
  for (let now = 0; ; now++) {
    const name = now === STEPS.length ? "end" : String(now);
    await until(
      `it pauses at ${name}`,
      () => existsSync(paused(acp)) && readFileSync(paused(acp), "utf8") === name,
    );
    if (now === at) return;
    rmSync(paused(acp));
  }
}

async function runtimePid(acp: AcpSandbox): Promise<number> {
  const { runtime_pid: pid } = await acp.sandbox.health();
  if (!pid) throw new Error("the runtime does not run");
  return pid;
}

/** The agent: the adapter's only child. */
function childOf(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8").split(" ").filter(Boolean),
  );
  return Number(children[0]);
}

const KILLS: Record<string, (acp: AcpSandbox) => Promise<void>> = {
  async "the agent"(acp) {
    process.kill(childOf(await runtimePid(acp)), "SIGKILL");
    await until("the turn is over", async () => (await acp.answer()).info.time.completed !== undefined);
  },
  async "the adapter with its agent"(acp) {
    const pid = await runtimePid(acp);
    process.kill(-pid, "SIGKILL");
    await acp.sandbox.untilHealth(
      "it restarts",
      ({ runtime, runtime_pid }) => runtime === "ok" && runtime_pid !== pid,
    );
  },
};

/** One conversation for all kills, one after the other. */
let acp: AcpSandbox;
beforeAll(async () => {
  acp = await startAcpSandbox(["trusting"]);
});
afterAll(() => acp?.[Symbol.asyncDispose]());

describe.each(Object.entries(KILLS))("killed in a turn: %s", (_, kill) => {
  test.each(
    sample(
      2,
      Array.from({ length: STEPS.length + 1 }, (_, at) => [at]),
    ),
  )("after %d steps, what was shown stays, once and in order, and the agent knows of it", async (at) => {
    const earlier = (await acp.messages()).length;
    await acp.begin(PROMPT);
    await reach(acp, at);
    await until("it is shown", async () => {
      const [, answer] = (await acp.messages()).slice(earlier);
      return answer !== undefined && shown(answer).length === at;
    });
    const before = await acp.messages();
    await kill(acp);
    rmSync(paused(acp), { force: true });
    const [prompt, answer] = (await acp.messages()).slice(earlier);
    expect([prompt, answer && shown(answer)]).toEqual([before[earlier], SHOWN.slice(0, at)]);
    expect(await acp.send("!told")).toMatchObject({ state: "answered" });
    const { prompts } = JSON.parse((await acp.answer()).parts[0]?.text ?? "");
    expect(prompts.filter((text: string) => !text.startsWith("[svc]")).at(-1)).toBe(PROMPT);
    const messages = await acp.messages();
    expect(messages.slice(0, earlier)).toEqual(before.slice(0, earlier));
    expect(messages.slice(earlier, earlier + 2).map(shown)).toEqual([[`text ${PROMPT}`], SHOWN.slice(0, at)]);
  });
});
