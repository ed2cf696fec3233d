import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Webhook } from "../../src/contract/webhook.ts";
import { type RunOptions, svc } from "../helpers/cli-run.ts";
import { until } from "../helpers/until.ts";
import { areOver, startWebhooks, type WebhookBench } from "../helpers/webhooks.ts";

let bench: WebhookBench;
beforeAll(async () => {
  bench = await startWebhooks();
});
afterAll(() => bench.stop());

const run = (args: string[], options: RunOptions = {}) =>
  svc(["webhooks", ...args], {
    ...options,
    env: {
      SVC_API_URL: `${bench.api.url}/v1`,
      SVC_CLI_TOKEN: bench.api.token,
      SVC_PROJECT_ID: bench.projectId,
    },
  });

const list = async (): Promise<Webhook[]> => (await bench.call("GET", "/webhooks")).body.webhooks;

test("a webhook is added, tested, delivered to again, edited and removed", async () => {
  const added = await run(["add", bench.receiver.url("/cli"), "--events", "cr.*, session.failed"]);
  expect([added.code, added.stderr]).toEqual([0, expect.stringContaining("Next: svc webhooks test ")]);
  expect(added.stdout).toMatch(/^Added webhook [0-9a-f]{8}\.\nSecret, shown only now: whsec_\S+\n$/);
  const [webhook] = await list();
  expect(webhook?.events).toHaveLength(9);
  const id = webhook?.webhook_id ?? "";

  const tested = await run(["test", id.slice(0, 8)]);
  expect([tested.code, tested.stdout]).toEqual([
    0,
    expect.stringMatching(/^Delivered in \d+ ms: the receiver answered 200\.\n$/),
  ]);
  const [first] = await bench.deliveries(id);
  const again = await run(["redeliver", id, first?.delivery_id.slice(0, 8) ?? ""]);
  expect([again.code, again.stdout]).toEqual([0, "Queued webhook.test again.\n"]);
  await bench.become(id, (all) => all.length === 2 && areOver(all));
  const log = await run(["deliveries", id, "--jq", ".[].event_id"]);
  expect(log.stdout).toBe(`${first?.event_id}\n${first?.event_id}\n`);

  const rotated = await run(["edit", id, "--rotate-secret", "--disable", "--jq", ".secret"]);
  expect(rotated.stdout).toMatch(/^whsec_/);
  const refused = await run(["test", id]);
  expect([refused.code, refused.stdout]).toEqual([1, ""]);
  expect(refused.stderr).toContain(`svc webhooks edit ${id} --enable`);
  expect((await run(["edit", id, "--enable"])).stdout).toBe(
    `Changed webhook ${id.slice(0, 8)}; it is enabled.\n`,
  );

  bench.receiver.answer = () => new Response(null, { status: 500 });
  const failed = await run(["test", id]);
  expect([failed.code, failed.stdout]).toEqual([1, ""]);
  expect(failed.stderr).toContain("The test was not delivered: The receiver answered 500, not 2xx.");
  expect((await run(["ls"])).stdout).toContain("failing since ");

  expect((await run(["rm", id.slice(0, 8)])).stdout).toBe(`Removed webhook ${id.slice(0, 8)}.\n`);
  expect(await list()).toEqual([]);
  expect((await run(["ls"])).stderr).toContain("No webhooks yet.");
});

test("a URL and a secret are read from standard input", async () => {
  const secret = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
  const own = await run(["add", bench.receiver.url("/own"), "--secret", "-"], { stdin: `${secret}\n` });
  expect([own.code, own.stdout]).toEqual([0, expect.not.stringContaining(secret)]);
  const chat = await run(["add", "-", "--format", "text"], { stdin: `${bench.receiver.url("/chat")}\n` });
  expect(chat.code).toBe(0);
  await until("both are there", async () => (await list()).length === 2);
  expect((await list()).map(({ format }) => format).toSorted()).toEqual(["json", "text"]);
});

test.each([
  [["add", "https://a.example/", "--secret", "whsec_x"], 2, "must be `-`"],
  [["add", "-", "--secret", "-"], 2, "one value"],
  [["edit", "x"], 2, "Nothing to change"],
  [["edit", "x", "--enable", "--disable"], 2, "exclude each other"],
  [["rm", "zzzz"], 1, 'There is no webhook "zzzz"'],
  [["rm", ""], 2, ""],
] as const)("%j is refused", async (args, code, says) => {
  const ran = await run([...args]);
  expect([ran.code, ran.stdout]).toEqual([code, ""]);
  expect(ran.stderr).toContain(says);
});
