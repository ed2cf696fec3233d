import { afterAll, beforeAll, expect, test } from "bun:test";
import { type ChannelBench, startChannels } from "../helpers/channels.ts";
import { type RunOptions, svc } from "../helpers/cli-run.ts";

let bench: ChannelBench;
beforeAll(async () => {
  bench = await startChannels();
});
afterAll(() => bench.stop());

const run = (args: string[], options: RunOptions = {}) =>
  svc(["channels", ...args], {
    ...options,
    env: {
      SVC_API_URL: `${bench.api.url}/v1`,
      SVC_CLI_TOKEN: bench.api.token,
      SVC_PROJECT_ID: bench.projectId,
    },
  });

test("a workspace is connected with secrets from standard input, tested, listed and disconnected", async () => {
  const { token, signingSecret } = bench.slack;
  const made = await run(["connect", "slack"], { stdin: `${token}\r\n\n${signingSecret}\n` });
  expect([made.code, made.stdout]).toEqual([
    0,
    expect.stringMatching(/^Connected Acme <b> as [0-9a-f]{8}\.\n$/),
  ]);
  expect(made.stderr).toContain("/v1/channels/slack/events");
  const [channel] = (await bench.call("GET", "/channels")).body.channels;
  const id = channel.channel_id.slice(0, 8);
  const tested = await run(["test", id]);
  expect([tested.code, tested.stdout]).toEqual([0, "Slack accepts the token for Acme <b>.\n"]);
  expect(tested.stderr).toContain("no message yet");
  bench.slack.scopes = bench.slack.scopes.filter((scope) => !scope.startsWith("groups"));
  const lacking = await run(["test", id]);
  expect([lacking.code, lacking.stderr]).toEqual([1, expect.stringContaining("lacks groups:history")]);
  expect((await run(["ls"])).stdout).toContain("Acme <b>");
  for (const { stdout, stderr } of [made, tested, lacking]) {
    expect(stdout + stderr).not.toContain(token);
    expect(stdout + stderr).not.toContain(signingSecret);
  }
  const gone = await run(["disconnect", id]);
  expect([gone.code, gone.stdout]).toEqual([0, "Disconnected Acme <b>.\n"]);
  expect((await run(["ls"])).stderr).toContain("No channels yet.");
});

test.each<[string[], string, number, string]>([
  [["connect", "slack"], "xoxb-1111111111-secretbottoken\n", 2, "must have two lines"],
  [["connect", "slack"], "a\nb\nc\n", 2, "must have two lines"],
  [["connect", "slack", "xoxb-1111111111-secretbottoken"], "", 2, ""],
  [["connect", "teams"], "a\nb\n", 2, "slack"],
  [["connect", "slack"], `xoxb-0000000000-wrong\n${"0".repeat(32)}\n`, 1, "does not accept the bot token"],
  [["disconnect", "zzzz"], "", 1, 'There is no channel "zzzz"'],
])("svc channels %j with %j on standard input is an error", async (args, stdin, code, message) => {
  const failed = await run(args, { stdin });
  expect([failed.code, failed.stdout]).toEqual([code, ""]);
  expect(failed.stderr).toContain(message);
});
