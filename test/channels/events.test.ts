import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { accountMembers, users } from "../../db/schema/index.ts";
import {
  type ChannelBench,
  DIRECT,
  GENERAL,
  newTs,
  OWNER,
  STRANGER,
  startChannels,
} from "../helpers/channels.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sendSigned } from "../helpers/slack.ts";
import { until } from "../helpers/until.ts";

let bench: ChannelBench;
let answer: ChannelBench["answer"];
beforeAll(async () => {
  bench = await startChannels();
  answer = bench.answer;
  await bench.connect();
});
afterAll(() => bench.stop());
afterEach(() => {
  Object.assign(bench, { answer, asks: [], replies: [], isWorking: false });
  bench.slack.onCall = () => null;
});

const sessions = async () => (await bench.call("GET", "/sessions?limit=200")).body.sessions;
const reply = (thread: string, text: string, more: Record<string, unknown> = {}) =>
  bench.send({
    type: "message",
    channel: GENERAL,
    user: OWNER,
    ts: newTs(),
    thread_ts: thread,
    text,
    ...more,
  });
/** Waits until everything that was sent before is handled: a later message is. */
const settled = async () => {
  const ts = await bench.mention("", {});
  await bench.said(ts, "Write what the agent should do.");
};

test("a mention starts a session as the member with the address, and the answer comes into the thread", async () => {
  const ts = await bench.mention("fix the login &amp; say <https://a.example/x|where>");
  await bench.said(ts, "I did: fix the login &amp; say where (https://a.example/x)");
  await bench.said(ts, /^Done\. <http.*\|Open the session>$/);
  const [session] = await sessions();
  expect(session).toMatchObject({
    author: { kind: "user", session_id: null },
    name: null,
    title: "fix the login & say where (https://a.example/x)",
  });
  const { prompts } = (await bench.call("GET", `/sessions/${session.session_id}/prompts`)).body;
  expect(prompts).toMatchObject([
    { state: "answered", text: "fix the login & say where (https://a.example/x)" },
  ]);
});

test("replies in the thread prompt the same session, in order", async () => {
  const before = (await sessions()).length;
  const ts = await bench.mention("first");
  await bench.said(ts, "I did: first");
  await reply(ts, "second");
  await bench.said(ts, "I did: second");
  await reply(ts, `<@${bench.slack.botUserId}> third`);
  await bench.said(ts, "I did: third");
  expect(await sessions()).toHaveLength(before + 1);
});

test("a direct message starts a session without a mention", async () => {
  const ts = newTs();
  await bench.send({ type: "message", channel: DIRECT, channel_type: "im", user: OWNER, ts, text: "hello" });
  expect((await bench.said(ts, "I did: hello")).channel).toBe(DIRECT);
});

test("a message that is sent again, also as another event, is one prompt", async () => {
  const before = (await sessions()).length;
  const ts = newTs();
  const text = `<@${bench.slack.botUserId}> once`;
  const event = { channel: GENERAL, user: OWNER, ts, text };
  const all = await Promise.all([
    bench.send({ type: "app_mention", ...event }),
    bench.send({ type: "app_mention", ...event }, { headers: { "X-Slack-Retry-Num": "1" } }),
    bench.send({ type: "message", channel_type: "channel", ...event }),
  ]);
  expect(all).toEqual([200, 200, 200]);
  await bench.said(ts, /^Done\./);
  await bench.send({ type: "app_mention", ...event }, { headers: { "X-Slack-Retry-Num": "2" } });
  await settled();
  expect(await sessions()).toHaveLength(before + 1);
  expect(bench.slack.thread(ts).filter((message) => message.text.includes("I did"))).toHaveLength(1);
});

test("messages of bots, of the bot itself, edits, and talk elsewhere are ignored", async () => {
  const before = (await sessions()).length;
  const mention = {
    type: "app_mention",
    channel: GENERAL,
    user: OWNER,
    text: `<@${bench.slack.botUserId}> x`,
  };
  const message = { type: "message", channel: DIRECT, channel_type: "im", user: OWNER, text: "x" };
  const ignored = [
    { ...mention, bot_id: "B0OTHER1" },
    { ...mention, app_id: "A0OTHER1" },
    { ...mention, user: bench.slack.botUserId },
    { ...mention, edited: { user: OWNER, ts: "1.1" } },
    { ...message, subtype: "message_changed", message: message },
    { ...message, subtype: "bot_message" },
    { ...message, subtype: "channel_join" },
    { ...message, hidden: true },
    { ...message, channel: GENERAL, channel_type: "channel" },
    { ...message, channel: GENERAL, channel_type: "channel", thread_ts: "1600000000.000001" },
    { ...mention, user: "<!channel>" },
    { ...mention, channel: "x".repeat(100) },
    { type: "reaction_added", user: OWNER },
  ];
  const threads: string[] = [];
  for (const event of ignored) {
    const ts = newTs();
    threads.push(ts);
    expect(await bench.send({ ts, ...event })).toBe(200);
  }
  await settled();
  expect(await sessions()).toHaveLength(before);
  expect(bench.slack.messages.filter(({ thread }) => threads.includes(thread ?? ""))).toEqual([]);
});

test.each<[string, string, Record<string, unknown>]>([
  ["with an address that is no member's", "U0NOBODY1", { email: "stranger@example.com" }],
  ["without an address", "U0NOBODY2", {}],
  [
    "with a member's address that is not confirmed",
    "U0NOBODY3",
    { email: "first@example.com", more: { is_email_confirmed: false } },
  ],
  ["of another workspace", "U0NOBODY4", { email: "first@example.com", more: { team_id: "T0OTHER1" } }],
  ["who is a guest", "U0NOBODY5", { email: "first@example.com", more: { is_ultra_restricted: true } }],
  ["who is deactivated", "U0NOBODY6", { email: "first@example.com", more: { deleted: true } }],
])("a person %s is told so once, and starts nothing", async (_, id, person) => {
  const before = (await sessions()).length;
  bench.slack.people.set(id, person);
  // both are looked up before the first is answered
  const both = Promise.withResolvers<void>();
  let lookups = 0;
  bench.slack.onCall = async ({ method }) => {
    if (method !== "users.info") return null;
    if (++lookups === 2) both.resolve();
    await both.promise;
    return null;
  };
  const ts = await bench.mention("let me in", { user: id });
  await bench.mention("at once", { user: id, thread_ts: ts });
  await bench.said(ts, "only work for members");
  await bench.mention("again", { user: id, thread_ts: ts });
  await settled();
  expect(bench.slack.thread(ts)).toHaveLength(1);
  expect(await sessions()).toHaveLength(before);
  bench.slack.onCall = () => null;
});

needs("a real Postgres", POSTGRES)(
  "a member who is removed from the account can prompt no more",
  async () => {
    const { api } = bench;
    await api.mint("leaver@example.com");
    const { accounts } = (await api.call("GET", "/v1/accounts/me")).body;
    const accountId = accounts[0].account_id;
    const database = await openPostgres(api.databaseUrl ?? "");
    const [user] = await database.db.select().from(users).where(eq(users.email, "leaver@example.com"));
    const userId = user?.userId ?? "";
    await database.db.insert(accountMembers).values({ accountId, userId, role: "member" });
    await database.close();
    bench.slack.people.set(STRANGER, { email: "leaver@example.com" });
    const ts = await bench.mention("as a member", { user: STRANGER });
    await bench.said(ts, "I did: as a member");
    expect((await api.call("DELETE", `/v1/accounts/${accountId}/members/${userId}`)).status).toBe(200);
    await reply(ts, "as nobody", { user: STRANGER });
    await bench.said(ts, "only work for members");
  },
);

test("an agent's text mentions nobody, links nowhere else, and is bounded", async () => {
  bench.answer = () => `<!channel> @here <https://evil.example|svc> & <@U1>${"<".repeat(20_000)}`;
  const ts = await bench.mention("attack");
  const { text } = await bench.said(ts, "&lt;!channel&gt;");
  expect(text).toContain("@\u200bhere &lt;https://evil.example|svc&gt; &amp; &lt;@U1&gt;");
  expect(text.replace(/<http[^|<>]*\|Read the whole answer>$/, "")).not.toMatch(/[<>]/);
  expect(text.length).toBeLessThan(4_000);
  const post = bench.slack.calls.findLast(({ args }) => args["text"] === text);
  expect(post?.args).toMatchObject({ parse: "none", link_names: "false", unfurl_links: "false" });
});

test("a wait that Slack asks for is respected: it refuses once, and the message is posted once", async () => {
  let [refusals, until] = [0, 0];
  bench.slack.onCall = ({ method, args }) => {
    if (method !== "chat.postMessage" || !args["text"]?.includes("I did: later")) return null;
    if (until === 0) until = Date.now() + 3_000;
    else if (Date.now() >= until) return null;
    refusals++;
    const headers = { "Retry-After": "3" };
    return Response.json({ ok: false, error: "ratelimited" }, { status: 429, headers });
  };
  const ts = await bench.mention("later");
  await bench.said(ts, "I did: later");
  await bench.said(ts, /^Done\./);
  expect(refusals).toBe(1);
  expect(bench.slack.thread(ts)).toHaveLength(2);
});

needs("a real Postgres", POSTGRES)(
  "a member whose address in svc is not verified can prompt nothing",
  async () => {
    const { api } = bench;
    const database = await openPostgres(api.databaseUrl ?? "");
    const isOwner = eq(users.email, "first@example.com");
    await database.db.update(users).set({ emailProven: false }).where(isOwner);
    const ts = await bench.mention("as nobody");
    await bench.said(ts, "only work for members");
    await database.db.update(users).set({ emailProven: true }).where(isOwner);
    await database.close();
  },
);

test("an error of svc is said in the thread", async () => {
  const ts = await bench.mention("first");
  await bench.said(ts, /^Done\./);
  const [session] = await sessions();
  bench.provider.sandboxes.get(session.session_id)?.die(1);
  await until("the session has failed", async () => {
    const { body } = await bench.call("GET", `/sessions/${session.session_id}`);
    return body.status === "failed";
  });
  await reply(ts, "more");
  await bench.said(ts, "The session has failed. Restart it first");
});

test("a URL verification is answered only if an app that is connected has signed it", async () => {
  const url = `${bench.api.url}/v1/channels/slack/events`;
  const body = JSON.stringify({ type: "url_verification", token: "x", challenge: "3eZbrw1aBm2rZgRNFdxV" });
  const right = await sendSigned(url, bench.slack, body);
  expect([right.status, await right.json()]).toEqual([200, { ok: true, challenge: "3eZbrw1aBm2rZgRNFdxV" }]);
  expect((await sendSigned(url, bench.slack, body, { secret: "0".repeat(32) })).status).toBe(401);
});
