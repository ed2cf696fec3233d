import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChannelBench, GENERAL, newTs, OWNER, startChannels } from "../helpers/channels.ts";
import { sendSigned } from "../helpers/slack.ts";

let bench: ChannelBench;
beforeAll(async () => {
  bench = await startChannels();
  await bench.connect();
});
afterAll(() => bench.stop());

const now = () => Math.floor(Date.now() / 1000);
const mention = () => ({ type: "app_mention", channel: GENERAL, user: OWNER, ts: newTs(), text: "x" });

test.each<[string, Parameters<ChannelBench["send"]>[1]]>([
  ["with another secret", { secret: "1".repeat(32) }],
  ["with an empty secret", { secret: "" }],
  ["that is more than five minutes old", { timestamp: now() - 400 }],
  ["from the future", { timestamp: now() + 400 }],
  ["with another time than the signed one", { headers: { "X-Slack-Request-Timestamp": String(now() - 1) } }],
  ["with a time that is no number", { headers: { "X-Slack-Request-Timestamp": "1e9" } }],
  ["without a signature", { headers: { "X-Slack-Signature": "" } }],
  ["with a signature of another version", { headers: { "X-Slack-Signature": `v1=${"0".repeat(64)}` } }],
  ["of a workspace that is not connected", { outer: { team_id: "T0OTHER1" } }],
  ["of another app", { outer: { api_app_id: "A0OTHER1" } }],
  ["without a workspace", { outer: { team_id: null } }],
  ["with a workspace that is no id", { outer: { team_id: "' or 1=1\0" } }],
])("a request %s is refused, and does nothing", async (_, how) => {
  expect(await bench.send(mention(), how)).toBe(401);
  expect((await bench.call("GET", "/channels")).body.channels[0].last_event_at).toBeNull();
});

test("the signature covers each byte of the body", async () => {
  const url = `${bench.api.url}/v1/channels/slack/events`;
  const body = JSON.stringify({
    type: "event_callback",
    team_id: bench.slack.teamId,
    api_app_id: bench.slack.appId,
  });
  let headers: Record<string, string> = {};
  const spy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch(request) {
      headers = Object.fromEntries(request.headers);
      return new Response();
    },
  });
  await sendSigned(`http://127.0.0.1:${spy.port}`, bench.slack, body);
  await spy.stop(true);
  const { "x-slack-signature": signature = "", "x-slack-request-timestamp": timestamp = "" } = headers;
  const replay = (text: string) =>
    fetch(url, {
      method: "POST",
      headers: { "X-Slack-Signature": signature, "X-Slack-Request-Timestamp": timestamp },
      body: text,
    });
  expect((await replay(body)).status).toBe(200);
  expect((await replay(`${body} `)).status).toBe(401);
});

test("a body of 10 MiB is refused, however its length is declared", async () => {
  const url = `${bench.api.url}/v1/channels/slack/events`;
  const big = `{"type":"event_callback","x":"${"x".repeat(10 * 1024 * 1024)}"}`;
  expect((await sendSigned(url, bench.slack, big)).status).toBe(413);
  const headers = { "X-Slack-Signature": `v0=${"0".repeat(64)}`, "X-Slack-Request-Timestamp": String(now()) };
  const stream = new Blob([big]).stream();
  expect((await fetch(url, { method: "POST", headers, body: stream })).status).toBe(413);
});

test.each(["[]", "7", "null", '{"type":7}', "{", "\0", '{"type":"event_callback","event":[]}'])(
  "a body of %j is refused",
  async (body) => {
    for (const path of ["events", "interactions"])
      expect((await sendSigned(`${bench.api.url}/v1/channels/slack/${path}`, bench.slack, body)).status).toBe(
        401,
      );
  },
);

test("another project's workspace cannot be claimed, and its requests reach only its own project", async () => {
  const other = await bench.api.call("POST", "/v1/projects", { body: { name: "Other" } });
  const at = `/v1/projects/${other.body.project_id}/channels`;
  const body = { kind: "slack", bot_token: bench.slack.token, signing_secret: bench.slack.signingSecret };
  const again = await bench.api.call("POST", at, { body });
  expect([again.status, again.body.code]).toEqual([409, "channel_taken"]);
  const wrong = await bench.api.call("POST", at, { body: { ...body, bot_token: "xoxb-0000000000-wrong" } });
  expect([wrong.status, wrong.body.code]).toEqual([400, "validation_failed"]);
  expect(wrong.text).not.toContain("xoxb-0000000000-wrong");
});
