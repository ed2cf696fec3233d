import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { type AcpSandbox, referenceAgent, startAcpSandbox, textOf } from "../helpers/acp-sandbox.ts";
import { RECAP, startLives } from "../helpers/agent-records.ts";
import { sample } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

const told = async (acp: AcpSandbox) => {
  await acp.send("!told");
  return JSON.parse(textOf(await acp.answer()));
};

/** Kills the adapter with its agent, and waits for the next one. */
async function killRuntime({ sandbox }: AcpSandbox): Promise<void> {
  const { runtime_pid: pid } = await sandbox.health();
  if (pid === null || pid === undefined) throw new Error("the runtime does not run");
  process.kill(-pid, "SIGKILL");
  await sandbox.untilHealth("it restarts", (health) => health.runtime === "ok" && health.runtime_pid !== pid);
}

/** One conversation for the tests of one sandbox, in their order. What an agent is like is changed from its next start on. */
let acp: AcpSandbox;
beforeAll(async () => {
  acp = await startAcpSandbox();
});
afterAll(() => acp?.[Symbol.asyncDispose]());

describe.each([
  ["loads", []],
  ["resumes", ["resumes"]],
])("an agent that %s its conversations", (_, manners) => {
  test("goes on with it after its process died, and nothing is shown twice", async () => {
    acp.behave(manners);
    await acp.send("!say one");
    const crashed = await acp.send("!crash out of memory");
    expect(crashed).toMatchObject({
      state: "failed",
      error: "The agent ended with status 9. Its last message: out of memory",
    });
    const before = await acp.messages();
    expect((await told(acp)).prompts.slice(-2)).toEqual(["!say one", "!crash out of memory"]);
    expect((await acp.messages()).slice(0, before.length)).toEqual(before);
    expect((await acp.messages()).some((message) => textOf(message).includes("replayed"))).toBe(false);
  });

  test("goes on with it after the runtime was killed, with a note on what was cut off", async () => {
    const before = await acp.messages();
    await acp.send("!say two");
    await acp.begin("!say half\n!hang");
    await until("it has begun", async () => textOf(await acp.answer()) === "half");
    await killRuntime(acp);
    expect((await acp.messages()).slice(0, before.length)).toEqual(before);
    const texts = (await acp.messages()).slice(before.length).map(textOf);
    expect(texts.slice(0, 4)).toEqual(["!say two", "two", "!say half\n!hang", "half"]);
    expect(texts[4]).toStartWith("[svc] The agent runtime restarted");
    const { prompts } = await told(acp);
    expect(prompts.slice(-3)).toEqual([
      "!say two",
      "!say half\n!hang",
      expect.stringMatching(/^\[svc\] The agent runtime restarted/),
    ]);
  });
});

test("an agent goes on after a cancelled run that it does not end, which kills it", async () => {
  await acp.begin("!ignore");
  await until("it works", async () => (await acp.answer()).info.finish === undefined);
  await acp.json("POST", `/session/${await acp.conversation()}/abort`);
  await until("it is idle", async () => JSON.stringify(await acp.json("GET", "/session/status")) === "{}");
  expect((await acp.answer()).info.error?.name).toBe("MessageAbortedError");
  expect(await acp.send("!say again")).toMatchObject({ state: "answered" });
});

test("a conversation whose file was cut in the middle of a line is read up to there", async () => {
  await acp.send("!say kept");
  const before = await acp.messages();
  const file = join(acp.home, ".local/share/svc/conversation.jsonl");
  expect(existsSync(file)).toBe(true);
  appendFileSync(file, '{"info":{"id":"msg_');
  await killRuntime(acp);
  expect(await acp.messages()).toEqual(before);
  expect(before.slice(-2).map(textOf)).toEqual(["!say kept", "kept"]);
});

test("an agent that forgets is told what was said", async () => {
  await acp.send("!say the word is ochre");
  acp.behave(["forgetful"]);
  await killRuntime(acp);
  const { prompts } = await told(acp);
  expect(prompts).toHaveLength(1);
  expect(prompts[0]).toContain("# Earlier in this conversation");
  expect(prompts[0]).toContain("the word is ochre");
});

test.each([
  ["broken", "The agent ended with status 3. Its last message: it cannot read its settings"],
  ["future", "The agent does not speak version 1 of the Agent Client Protocol."],
])("an agent that is %s fails its prompt with the reason, and the session goes on", async (manner, error) => {
  acp.behave([manner]);
  await acp.send("!crash it ends");
  expect(await acp.send("!say hello")).toMatchObject({ state: "failed", error });
  expect((await acp.sandbox.health()).runtime).toBe("ok");
  acp.behave([]);
  expect(await acp.send("!say hello")).toMatchObject({ state: "answered" });
});

describe("in a new sandbox", () => {
  const own = async (): Promise<Record<string, string>> => ({
    SVC_RUNTIME_NAME: "own",
    SVC_RUNTIME_DESCRIPTION: JSON.stringify({
      ...{ name: "own", title: "Own", modelFormat: "openai", folder: null, mode: null },
      ...{ command: [await referenceAgent()], environment: {}, rulesFile: null, skills: null, secrets: [] },
      records: [".acp-reference/conversations"],
    }),
  });

  test("an agent goes on with its own record, and is told what followed it", async () => {
    using lives = startLives(await own());
    {
      await using first = await startAcpSandbox([], lives.first());
      await first.send("!say the word is ochre");
      // a stop keeps the record
      first.sandbox.child.kill("SIGTERM");
      await first.sandbox.child.exited;
    }
    const { kept } = lives;
    for (const [since, notes] of [
      [null, []],
      ["the last turn", ["ends before the last turns", "the last turn"]],
    ] as const) {
      lives.kept = kept;
      await using next = await startAcpSandbox([], lives.next({ since }));
      const { prompts } = await told(next);
      expect(prompts).toEqual([
        expect.stringContaining("You work in an svc session"),
        "!say the word is ochre",
        ...notes.map((note) => expect.stringContaining(note)),
      ]);
      expect((await next.messages()).map(textOf).filter((text) => text === "the word is ochre")).toHaveLength(
        1,
      );
    }
  });

  // each of them is a row of `daemon/record-keeper`, too
  test.each(
    sample(1, [
      ["without its record", null],
      ["with one that is damaged", "x"],
      ["with one of another folder", "/elsewhere"],
    ] as const),
  )("%s, an agent is told a summary once", async (_, what) => {
    using lives = startLives();
    const options = lives.next(what === null ? null : { since: null });
    const workspace = what === "/elsewhere" ? what : (options.env?.["SVC_WORKSPACE"] ?? "");
    if (what !== null) lives.kept = { turn_id: "msg_1", workspace, record: "AAAA" };
    await using next = await startAcpSandbox([], options);
    await next.send("!say one");
    await killRuntime(next);
    const { prompts } = await told(next);
    expect(prompts.filter((prompt: string) => prompt.includes(RECAP))).toHaveLength(1);
    expect(prompts.join()).not.toContain("Your own record of it was lost");
    const isReported = next.sandbox.log().includes("record of the conversation was not restored: ");
    expect(isReported).toBe(what !== null);
  });
});
