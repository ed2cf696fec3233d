import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type ChannelBench, STRANGER, startChannels } from "../helpers/channels.ts";
import { mcpAnswer, type Service, startService, text, tool } from "../helpers/connectors.ts";
import { connectMcp, type McpClient } from "../helpers/mcp.ts";
import type { PostedMessage } from "../helpers/slack.ts";
import { until } from "../helpers/until.ts";

let bench: ChannelBench;
let service: Service;
/** The calls that reached the service. */
let reached: string[] = [];
beforeAll(async () => {
  bench = await startChannels();
  await bench.connect();
  service = startService(
    mcpAnswer({
      tools: [tool("write")],
      call(_, args) {
        reached.push(JSON.stringify(args));
        return text("done");
      },
    }),
  );
  const commit = bench.remote.commit("main", {
    "svc.toml": `svc_version = 1\n[[connectors]]\nslug = "hub"\ntype = "mcp"\nurl = "${service.url}/mcp"\n[[connectors.policies]]\nmatch = "*"\naction = "ask"\n`,
  });
  await bench.api.call("PATCH", `/v1/projects/${bench.projectId}`, { body: { name: "Example" } });
  await until(
    "the manifest is in force",
    async () => (await bench.call("GET", "/triggers")).body.commit === commit,
  );
});
afterAll(async () => {
  await bench?.stop();
  await service?.stop();
});
afterEach(() => {
  bench.isWorking = false;
  reached = [];
});

/** A thread whose agent works, and the client of its sandbox. */
async function working(): Promise<{ ts: string; agent: McpClient; session: string }> {
  bench.isWorking = true;
  const ts = await bench.mention("write it");
  await bench.said(ts, "Working…");
  const [{ session_id: session }] = (await bench.call("GET", "/sessions")).body.sessions;
  const token = bench.provider.sandboxes.get(session)?.environment["SVC_EXECUTOR_TOKEN"] ?? "";
  return { ts, agent: await connectMcp(bench.api.url, token), session };
}

const argumentsOf = ({ blocks }: PostedMessage) => blocks[1]?.text;

test("a call that needs approval has buttons in the thread, and runs when a member approves it", async () => {
  const { ts, agent } = await working();
  const call = agent.call("hub_write", { text: "<@U0OTHER1> *now*" });
  const message = await bench.said(ts, "The agent wants to call* write of the connector hub, once:");
  expect(argumentsOf(message)).toEqual({
    type: "plain_text",
    text: '{"text":"<@U0OTHER1> *now*"}',
    emoji: false,
  });
  expect(reached).toEqual([]);
  expect(await bench.click(message, "svc_approve")).toBe(200);
  expect(await call).toMatchObject({ isError: false, text: "done" });
  await bench.said(ts, "The call to write of the connector hub was approved by first.");
  expect(message.blocks).toEqual([]);
  expect(reached).toHaveLength(1);
});

test("a call that a member denies in the thread is refused", async () => {
  const { ts, agent } = await working();
  const call = agent.call("hub_write", { text: "denied" });
  const message = await bench.said(ts, /wants to call/);
  await bench.click(message, "svc_deny");
  expect(await call).toMatchObject({ isError: true, value: { code: "tool_denied" } });
  await bench.said(ts, "was denied by first.");
  expect(reached).toEqual([]);
});

test("an answer from elsewhere is shown in the thread, and a second one changes nothing", async () => {
  const { ts, agent } = await working();
  const call = agent.call("hub_write", { text: "elsewhere" });
  const message = await bench.said(ts, /wants to call/);
  const before = { ...message, blocks: structuredClone(message.blocks) };
  const [ask] = (await bench.call("GET", "/connector-asks?state=pending")).body.asks;
  await bench.call("POST", `/connector-asks/${ask.ask_id}/answer`, { body: { answer: "deny" } });
  expect((await call).isError).toBe(true);
  await bench.said(ts, "was denied by first.");
  await bench.click(before, "svc_approve");
  await bench.said(ts, "is denied already");
  expect(message.text).toContain("was denied by first.");
});

test("a click of a person who is no member decides nothing", async () => {
  const { ts, agent } = await working();
  const call = agent.call("hub_write", { text: "stranger" });
  const message = await bench.said(ts, /wants to call/);
  await bench.click(message, "svc_approve", { user: { id: STRANGER } });
  await bench.said(ts, `<@${STRANGER}> Only members`);
  expect(reached).toEqual([]);
  await bench.click(message, "svc_deny");
  expect((await call).isError).toBe(true);
});

test("a button with the call of another thread decides nothing", async () => {
  const other = await working();
  const call = other.agent.call("hub_write", { text: "other" });
  const asked = await bench.said(other.ts, /wants to call/);
  const { ts, agent } = await working();
  const own = agent.call("hub_write", { text: "own" });
  const message = await bench.said(ts, /wants to call/);
  const click = (value: unknown) =>
    bench.click({ ...message, blocks: [{ elements: [{ action_id: "svc_approve", value }] }] }, "svc_approve");
  const [theirs] = asked.blocks.flatMap(({ elements = [] }) => elements);
  for (const value of [theirs.value, "", "'", "constructor"]) await click(value);
  await bench.click(message, "svc_deny");
  expect((await own).isError).toBe(true);
  expect(reached).toEqual([]);
  await bench.click(asked, "svc_deny");
  expect((await call).isError).toBe(true);
});

test("characters that cannot be seen are shown, and arguments that do not fit have no buttons", async () => {
  const { ts, agent } = await working();
  const hidden = agent.call("hub_write", { text: "a\u202eb" });
  const message = await bench.said(ts, /wants to call/);
  expect(argumentsOf(message).text).toBe('{"text":"a\\u202eb"}');
  await bench.click(message, "svc_deny");
  await hidden;
  await until("it is decided", () => message.text.includes("was denied"));
  const argumentsOfLength = (characters: number) => ({
    text: "x".repeat(characters - '{"text":""}'.length),
  });
  const fitting = agent.call("hub_write", argumentsOfLength(2_900));
  const whole = await bench.said(ts, /once:$/);
  expect(argumentsOf(whole).text).toHaveLength(2_900);
  await bench.click(whole, "svc_deny");
  await fitting;
  const long = agent.call("hub_write", argumentsOfLength(2_901));
  const linked = await bench.said(ts, /Review the call on its page/);
  expect(linked.text).toMatch(/<http[^|]+\/sessions\/[0-9a-f-]{36}\|Review the call on its page>/);
  expect(linked.blocks).toHaveLength(1);
  const [ask] = (await bench.call("GET", "/connector-asks?state=pending")).body.asks;
  await bench.call("POST", `/connector-asks/${ask.ask_id}/answer`, { body: { answer: "deny" } });
  await long;
});

test("of many calls, five wait in the thread at a time", async () => {
  const { ts, agent } = await working();
  const calls = Array.from({ length: 6 }, (_, i) => agent.call("hub_write", { i }));
  const open = () => bench.slack.thread(ts).filter(({ text }) => text.includes("wants to call"));
  const pending = async () => (await bench.call("GET", "/connector-asks?state=pending")).body.asks.length;
  await until("all six wait, and five are shown", async () => open().length === 5 && (await pending()) === 6);
  const [first] = open();
  if (!first) throw new Error("no message");
  await bench.click(first, "svc_deny");
  await until("it is decided", () => first.text.includes("was denied"));
  await until("the sixth is shown", () => open().length === 5);
  for (const message of open()) await bench.click(message, "svc_deny");
  for (const call of calls) expect((await call).isError).toBe(true);
});

test("a question that is open when the prompt ends can still be answered", async () => {
  const { ts, agent } = await working();
  void agent.call("hub_write", { text: "late" }).catch(() => {});
  const message = await bench.said(ts, /wants to call/);
  bench.isWorking = false;
  await bench.said(ts, "I did: write it");
  await bench.click(message, "svc_approve");
  await bench.said(ts, "was approved by first.");
});
