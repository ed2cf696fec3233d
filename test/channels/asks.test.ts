import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import postgres from "postgres";
import { type ChannelBench, GENERAL, newTs, OWNER, STRANGER, startChannels } from "../helpers/channels.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { until } from "../helpers/until.ts";

let bench: ChannelBench;
beforeAll(async () => {
  bench = await startChannels();
  await bench.connect();
});
afterAll(() => bench.stop());
afterEach(() => {
  Object.assign(bench, { asks: [], replies: [], isWorking: false });
});

const option = (label: string) => ({ label, description: "" });
const question = (more: object = {}) => ({
  ...{ id: "que_1", sessionID: "ses_one" },
  questions: [
    { question: "Which <db>?", options: [option("Postgres"), option("SQLite")], multiple: false, ...more },
  ],
});

/** Mentions the bot, and lets its agent ask. */
async function asked(ask: Record<string, unknown>, text: string) {
  bench.isWorking = true;
  bench.asks = [ask];
  const ts = await bench.mention("choose");
  return { ts, message: await bench.said(ts, text) };
}

test("a question has buttons, and the one that a member clicks is the answer", async () => {
  const { ts, message } = await asked(question(), "Which &lt;db&gt;?");
  expect(message.blocks[1].elements.map(({ text }: { text: { text: string } }) => text.text)).toEqual([
    "Postgres",
    "SQLite",
  ]);
  expect(await bench.click(message, "svc_answer_1")).toBe(200);
  await bench.said(ts, "The question was answered.");
  expect(bench.replies).toEqual([{ path: "/question/que_1/reply", body: { answers: [["SQLite"]] } }]);
  expect(message.blocks).toEqual([]);
  bench.isWorking = false;
  await bench.said(ts, "I did: choose");
});

needs("a real Postgres", POSTGRES)("the conversation names the member who answered", async () => {
  const { ts, message } = await asked({ ...question(), id: "que_who" }, "Which &lt;db&gt;?");
  await bench.click(message, "svc_answer_0");
  await bench.said(ts, "The question was answered.");
  const sql = postgres(bench.api.databaseUrl ?? "", { max: 1, onnotice() {} });
  const rows = await sql`select email from conversation_answers join users on user_id = answered_by
    where request_id = 'que_who'`;
  expect([...rows]).toEqual([{ email: "first@example.com" }]);
  await sql.end({ timeout: 1 });
  bench.isWorking = false;
});

test("a question is posted once, although another prompt of the session waits", async () => {
  bench.isWorking = true;
  const ts = await bench.mention("first");
  await bench.said(ts, "Working…");
  await bench.send({
    type: "message",
    channel: GENERAL,
    user: OWNER,
    ts: newTs(),
    thread_ts: ts,
    text: "second",
  });
  await bench.said(ts, "Waiting for the agent…");
  bench.asks = [question()];
  const message = await bench.said(ts, "Which &lt;db&gt;?");
  // by then, the report of each prompt has looked
  const sql = postgres(bench.api.databaseUrl ?? "", { max: 1, onnotice() {} });
  const rounds = async () =>
    Number(
      (await sql`select min(attempts) as rounds from channel_tasks where due_at is not null`)[0]?.["rounds"],
    );
  const before = await rounds();
  await until("both have looked twice", async () => (await rounds()) > before + 1);
  await sql.end();
  await bench.click(message, "svc_answer_0");
  await bench.said(ts, "The question was answered.");
  bench.isWorking = false;
  await bench.said(ts, "I did: second");
  expect(
    bench.slack.thread(ts).filter(({ text, earlier }) => /question|Which/.test(text + earlier)),
  ).toHaveLength(1);
});

test("a question that is answered elsewhere cannot be answered again", async () => {
  const { ts, message } = await asked(question(), "Which &lt;db&gt;?");
  const again = { ...message, blocks: structuredClone(message.blocks) };
  bench.asks = [];
  await bench.said(ts, "The question was answered.");
  await bench.click(again, "svc_answer_0");
  await bench.said(ts, "answered already");
  expect(bench.replies).toEqual([]);
});

test("a reply in words answers a question that allows it", async () => {
  const { ts, message } = await asked(question({ custom: true }), "Which &lt;db&gt;?");
  expect(message.text).toContain("Or reply in this thread.");
  await bench.send({
    type: "message",
    channel: GENERAL,
    user: OWNER,
    ts: newTs(),
    thread_ts: ts,
    text: "DuckDB",
  });
  await bench.said(ts, "The question was answered.");
  expect(bench.replies).toEqual([{ path: "/question/que_1/reply", body: { answers: [["DuckDB"]] } }]);
});

test("a permission is granted once, or rejected, by a button only", async () => {
  const permission = { id: "per_1", sessionID: "ses_one", permission: "bash", patterns: ["rm -rf *"] };
  const { ts, message } = await asked(permission, "The agent asks for permission:* bash: rm -rf *");
  await bench.send({
    type: "message",
    channel: GENERAL,
    user: OWNER,
    ts: newTs(),
    thread_ts: ts,
    text: "yes",
  });
  await bench.said(ts, "Use the buttons");
  expect(bench.replies).toEqual([]);
  await bench.click(message, "svc_answer_0");
  await bench.said(ts, "The question was answered.");
  bench.asks = [{ ...permission, id: "per_2" }];
  const next = await bench.said(ts, /asks for permission/);
  await bench.click(next, "svc_answer_1");
  await bench.said(ts, "The question was answered.");
  const bodies = () => bench.replies.map(({ body }) => body);
  expect(bodies()[0]).toEqual({ reply: "once" });
  await bench.said(ts, /answered/);
});

test("a click of a person who is no member does nothing", async () => {
  const { ts, message } = await asked(question(), "Which &lt;db&gt;?");
  await bench.click(message, "svc_answer_0", { user: { id: STRANGER } });
  await bench.said(ts, `<@${STRANGER}> Only members`);
  expect(bench.replies).toEqual([]);
});

test("a question that buttons cannot answer has a link to its page", async () => {
  const { message } = await asked(question({ multiple: true }), "Which &lt;db&gt;?");
  expect(message.text).toMatch(/<http[^|]+\/sessions\/[0-9a-f-]{36}\|Answer on its page>/);
  expect(message.blocks).toHaveLength(1);
});

test("a button that svc did not make is ignored", async () => {
  const { ts, message } = await asked(question(), "Which &lt;db&gt;?");
  const click = (value: string, actionId = "svc_answer_0") =>
    bench.click({ ...message, blocks: [{ elements: [{ action_id: actionId, value }] }] }, actionId);
  for (const value of [
    "",
    "{",
    "[]",
    '{"ask":7}',
    '{"ask":"que_1","option":99}',
    '{"ask":"../x","option":0}',
  ])
    expect(await click(value)).toBe(200);
  expect(await click('{"ask":"que_1","option":0}', "other")).toBe(200);
  await bench.click(message, "svc_answer_0");
  await bench.said(ts, "The question was answered.");
  expect(bench.replies).toHaveLength(1);
});
