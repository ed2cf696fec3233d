import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { openPostgres } from "../../db/client.ts";
import { type ChannelBench, DIRECT, GENERAL, newTs, OWNER, startChannels } from "../helpers/channels.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";

const OPS = "C0OPS1";
let bench: ChannelBench;
beforeAll(async () => {
  bench = await startChannels();
  bench.slack.channels.add(OPS);
});
afterAll(() => bench.stop());
afterEach(async () => {
  bench.slack.onCall = () => null;
  for (const { channel_id } of (await bench.call("GET", "/channels")).body.channels)
    await bench.call("DELETE", `/channels/${channel_id}`);
});

const connectTo = async (projectId: string, room?: string) =>
  await bench.api.call("POST", `/v1/projects/${projectId}/channels`, {
    body: {
      ...{ kind: "slack", bot_token: bench.slack.token, signing_secret: bench.slack.signingSecret },
      ...(room !== undefined && { slack_channel: room }),
    },
  });
const otherProject = async () =>
  (await bench.api.call("POST", "/v1/projects", { body: { name: "Other" } })).body.project_id;
const sessionsOf = async (projectId: string) =>
  (await bench.api.call("GET", `/v1/projects/${projectId}/sessions`)).body.sessions.length;

test("a connection shows what Slack says of the token, and where Slack sends its events", async () => {
  const made = await bench.connect();
  expect(made).toEqual({
    channel_id: expect.any(String),
    project_id: bench.projectId,
    kind: "slack",
    team_id: "T0TEAM1",
    team_name: "Acme <b>",
    app_id: "A0APP1",
    bot_user_id: "U0BOT1",
    slack_channel: null,
    last_event_at: null,
    events_url: `${bench.api.url.replace("127.0.0.1", "localhost")}/v1/channels/slack/events`,
    interactions_url: `${bench.api.url.replace("127.0.0.1", "localhost")}/v1/channels/slack/interactions`,
    author: expect.objectContaining({ kind: "user" }),
    created_at: expect.any(String),
  });
  expect((await bench.call("GET", "/channels")).body.channels).toEqual([made]);
});

test.each<[string, Record<string, unknown>]>([
  ["a user's token", { bot_token: "xoxp-1111111111-secretbottoken" }],
  ["a signing secret that is none", { signing_secret: "xoxb-1111111111" }],
  ["another service", { kind: "teams" }],
  ["a channel's name", { slack_channel: "#general" }],
  ["a direct conversation", { slack_channel: "D0DIRECT1" }],
])("%s is refused", async (_, more) => {
  const body = {
    kind: "slack",
    bot_token: bench.slack.token,
    signing_secret: bench.slack.signingSecret,
    ...more,
  };
  const { status, body: error } = await bench.call("POST", "/channels", { body });
  expect([status, error.code]).toEqual([400, "validation_failed"]);
});

test.each<[string, () => Response, number, string]>([
  [
    "refuses the token",
    () => Response.json({ ok: false, error: "account_inactive" }),
    400,
    "account_inactive",
  ],
  ["fails", () => new Response("<html>", { status: 503 }), 502, "Slack did not answer"],
  ["answers no JSON", () => new Response("<html>"), 502, "Slack did not answer"],
  ["redirects", () => Response.redirect("http://127.0.0.1:1/"), 400, "http_302"],
  [
    "wants a pause",
    () => Response.json({ ok: false }, { status: 429, headers: { "Retry-After": "7" } }),
    502,
    "Slack did not answer",
  ],
  ["answers too much", () => new Response("x".repeat(2 * 1024 * 1024)), 502, "Slack did not answer"],
])("when Slack %s, nothing is connected", async (_, answer, status, message) => {
  bench.slack.onCall = answer;
  const refused = await connectTo(bench.projectId);
  expect([refused.status, refused.body.error]).toEqual([status, expect.stringContaining(message)]);
  expect(refused.text).not.toContain("xoxb");
  bench.slack.onCall = () => null;
  expect((await bench.call("GET", "/channels")).body.channels).toEqual([]);
});

test("a workspace of two projects: a channel's own project first, the other one for everything else", async () => {
  const other = await otherProject();
  await bench.connect();
  expect((await connectTo(other, OPS)).status).toBe(201);
  expect((await connectTo(other, OPS)).body.code).toBe("channel_taken");
  const before = [await sessionsOf(bench.projectId), await sessionsOf(other)];
  await bench.said(await bench.mention("general"), /^I did|^Done/);
  const ops = await bench.mention("ops", { channel: OPS });
  await bench.said(ops, /./);
  const direct = newTs();
  await bench.send({
    type: "message",
    channel: DIRECT,
    channel_type: "im",
    user: OWNER,
    ts: direct,
    text: "dm",
  });
  await bench.said(direct, /^I did|^Done/);
  expect([await sessionsOf(bench.projectId), await sessionsOf(other)]).toEqual([
    (before[0] ?? 0) + 2,
    (before[1] ?? 0) + 1,
  ]);
  await bench.api.call("DELETE", `/v1/projects/${other}`);
});

test("in a channel that is not connected, and in direct messages of several projects, the bot says so", async () => {
  const other = await otherProject();
  await bench.connect(GENERAL);
  await connectTo(other, OPS);
  bench.slack.channels.add("C0ELSE1");
  const ts = await bench.mention("elsewhere", { channel: "C0ELSE1" });
  await bench.said(ts, "not connected to a project");
  const direct = newTs();
  await bench.send({
    type: "message",
    channel: DIRECT,
    channel_type: "im",
    user: OWNER,
    ts: direct,
    text: "dm",
  });
  await bench.said(direct, "not connected to a project");
  await bench.api.call("DELETE", `/v1/projects/${other}`);
  const single = newTs();
  await bench.send({
    type: "message",
    channel: DIRECT,
    channel_type: "im",
    user: OWNER,
    ts: single,
    text: "dm",
  });
  await bench.said(single, /^I did|^Done/);
});

test("a test names missing scopes, posts to a connected channel, and says why it cannot", async () => {
  const { channel_id: all } = await bench.connect();
  bench.slack.scopes = bench.slack.scopes.filter((scope) => scope !== "users:read.email");
  const tested = await bench.call("POST", `/channels/${all}/test`);
  expect(tested.body).toMatchObject({ missing_scopes: ["users:read.email"], posted: false });
  bench.slack.scopes.push("users:read.email");
  const { channel_id: one } = await bench.connect(OPS);
  expect((await bench.call("POST", `/channels/${one}/test`)).body).toMatchObject({
    missing_scopes: [],
    posted: true,
  });
  expect(bench.slack.messages.at(-1)).toMatchObject({
    channel: OPS,
    text: expect.stringContaining("Example"),
  });
  const { channel_id: out } = await bench.connect("C0AWAY1");
  const refused = await bench.call("POST", `/channels/${out}/test`);
  expect([refused.status, refused.body.error]).toEqual([400, expect.stringContaining("channel_not_found")]);
});

test("after a disconnection, or the deletion of its project, requests of the workspace are refused", async () => {
  const { channel_id: id } = await bench.connect();
  const event = () => ({ type: "app_mention", channel: GENERAL, user: OWNER, ts: newTs(), text: "" });
  expect(await bench.send(event())).toBe(200);
  expect((await bench.call("DELETE", `/channels/${id}`)).status).toBe(200);
  expect((await bench.call("DELETE", `/channels/${id}`)).status).toBe(404);
  expect(await bench.send(event())).toBe(401);
  const other = await otherProject();
  expect((await connectTo(other)).status).toBe(201);
  expect(await bench.send(event())).toBe(200);
  await bench.api.call("DELETE", `/v1/projects/${other}`);
  expect(await bench.send(event())).toBe(401);
});

test("agents and project tokens neither see nor change channels", async () => {
  const { channel_id: id } = await bench.connect();
  const { token } = (await bench.call("POST", "/cli-token", { body: {} })).body;
  for (const [method, path] of [
    ["GET", "/channels"],
    ["POST", "/channels"],
    ["DELETE", `/channels/${id}`],
    ["POST", `/channels/${id}/test`],
  ] as const)
    expect((await bench.call(method, path, { token })).status).toBe(403);
});

needs("a real Postgres", POSTGRES)("the token and the secret are found nowhere in plain text", async () => {
  const { channel_id: id } = await bench.connect();
  const ts = await bench.mention("search");
  await bench.said(ts, /^Done\./);
  const database = await openPostgres(bench.api.databaseUrl ?? "");
  const isSecret = (text: string) =>
    text.includes(bench.slack.token) || text.includes(bench.slack.signingSecret);
  try {
    const names = (
      await database.db
        .select({ name: sql<string>`quote_ident(table_schema) || '.' || quote_ident(table_name)` })
        .from(sql`information_schema.tables`)
        .where(sql`table_schema in ('public', 'jobs') and table_type = 'BASE TABLE'`)
    ).map(({ name }) => name);
    expect(names).toContain("public.channels");
    for (const name of names) {
      const rows = await database.db.execute(sql.raw(`select * from ${name}`));
      expect([name, isSecret(JSON.stringify(rows))]).toEqual([name, false]);
    }
  } finally {
    await database.close();
  }
  const answers = [
    await bench.call("GET", "/channels"),
    await bench.call("POST", `/channels/${id}/test`),
    await bench.call("GET", "/sessions"),
    await bench.call("GET", ""),
  ];
  expect(answers.map(({ text }) => isSecret(text))).toEqual(answers.map(() => false));
  for (const { environment, prompts } of bench.provider.sandboxes.values())
    expect(isSecret(JSON.stringify([environment, prompts]))).toBe(false);
  expect(isSecret(JSON.stringify(bench.slack.messages))).toBe(false);
});
