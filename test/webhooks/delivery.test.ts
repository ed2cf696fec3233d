import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { openPostgres } from "../../db/client.ts";
import { webhooks } from "../../db/schema/index.ts";
import { freePort } from "../../scripts/free-port.ts";
import type { Delivery } from "../../src/contract/webhook.ts";
import { startApi } from "../helpers/api.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { sample } from "../helpers/random.ts";
import { recordingOutbound } from "../helpers/recording-outbound.ts";
import { until } from "../helpers/until.ts";
import { areOver, type Received, startWebhooks, type WebhookBench } from "../helpers/webhooks.ts";

let bench: WebhookBench;
beforeAll(async () => {
  bench = await startWebhooks();
});
afterAll(() => bench.stop());
afterEach(async () => {
  bench.receiver.answer = () => new Response("thanks");
  for (const { webhook_id } of (await bench.call("GET", "/webhooks")).body.webhooks)
    await bench.call("DELETE", `/webhooks/${webhook_id}`);
});

const MISSING: Received = { path: "", headers: {}, body: "" };

/** Whether the first delivery has been attempted so often, without success. */
const attempted = (count: number) => (all: Delivery[]) => all[0]?.attempts === count && all[0].error !== null;

test("a delivery that fails is retried with the same id and body and a new signature, until it succeeds", async () => {
  const { webhook_id: id } = await bench.add("/retry");
  bench.receiver.answer = () => new Response("<b>no\u202e\u0007</b>", { status: 500 });
  await bench.test(id);
  const [first] = await bench.become(id, attempted(1));
  expect(first).toMatchObject({
    status: "pending",
    status_code: 500,
    response: "<b>no\ufffd\ufffd</b>",
    error: "The receiver answered 500, not 2xx.",
  });
  expect((await bench.get(id)).failing_since).toBe(bench.now().toISOString());
  const wait = new Date(first?.next_attempt_at ?? 0).getTime() - bench.now().getTime();
  expect(wait).toBeGreaterThanOrEqual(4_000);
  expect(wait).toBeLessThanOrEqual(6_000);
  bench.receiver.answer = () => new Response(null, { status: 204 });
  bench.advance(7);
  const [second] = await bench.become(id, areOver);
  expect(second).toMatchObject({
    status: "delivered",
    attempts: 2,
    status_code: 204,
    error: null,
    next_attempt_at: null,
  });
  expect(await bench.get(id)).toMatchObject({ failing_since: null, enabled: true });
  const [one, two] = bench.receiver.of("/retry");
  expect(two?.headers["webhook-id"]).toBe(one?.headers["webhook-id"] ?? "");
  expect(two?.body).toBe(one?.body ?? "");
  expect(Number(two?.headers["webhook-timestamp"]) - Number(one?.headers["webhook-timestamp"])).toBe(7);
  expect(two?.headers["webhook-signature"]).not.toBe(one?.headers["webhook-signature"]);
});

test("the signature covers id, time and body, and an old one is refused", async () => {
  const { webhook_id: id, secret } = await bench.add("/signed");
  await bench.test(id);
  await bench.become(id, areOver);
  const [{ headers, body } = MISSING] = bench.receiver.of("/signed");
  // the bench's clock may have been put forward by a few seconds
  const verifier = new StandardWebhook(secret);
  expect(verifier.verify(body, headers)).toMatchObject({ type: "webhook.test" });
  expect(() => verifier.verify(`${body} `, headers)).toThrow();
  expect(() => verifier.verify(body, { ...headers, "webhook-id": "other" })).toThrow();
  const old = String(Number(headers["webhook-timestamp"]) - 600);
  expect(() => verifier.verify(body, { ...headers, "webhook-timestamp": old })).toThrow();
});

test("a redelivery has the same id and body, and a new timestamp", async () => {
  const { webhook_id: id } = await bench.add("/again");
  const { delivery_id } = await bench.test(id);
  await bench.become(id, areOver);
  bench.advance(60);
  const again = await bench.call("POST", `/webhooks/${id}/deliveries/${delivery_id}/redeliver`);
  expect([again.status, again.body.redelivery]).toEqual([202, true]);
  const all = await bench.become(id, (found) => found.length === 2 && areOver(found));
  expect(all.map(({ event_id }) => event_id)).toEqual([all[0]?.event_id ?? "", all[0]?.event_id ?? ""]);
  const [one, two] = bench.receiver.of("/again");
  expect([two?.headers["webhook-id"], two?.body]).toEqual([one?.headers["webhook-id"], one?.body]);
  expect(Number(two?.headers["webhook-timestamp"])).toBeGreaterThan(
    Number(one?.headers["webhook-timestamp"]),
  );
  const { body } = await bench.call("GET", `/webhooks/${id}/deliveries/${delivery_id}`);
  expect(body.payload).toEqual(JSON.parse(one?.body ?? ""));
});

test("410 disables a webhook at once, and ends the deliveries that wait", async () => {
  const { webhook_id: id } = await bench.add("/gone");
  bench.receiver.answer = () => new Response(null, { status: 410 });
  await bench.test(id);
  await bench.become(id, areOver);
  expect(await bench.get(id)).toMatchObject({
    enabled: false,
    disabled_reason: "Its receiver answered 410 Gone: it wants no more deliveries.",
  });
  const refused = await bench.call("POST", `/webhooks/${id}/test`);
  expect([refused.status, refused.body.code]).toEqual([409, "webhook_disabled"]);
  bench.receiver.answer = () => new Response("thanks");
  const enabled = await bench.call("PATCH", `/webhooks/${id}`, { body: { enabled: true } });
  expect(enabled.body).toMatchObject({ enabled: true, disabled_reason: null, failing_since: null });
  await bench.test(id);
  await bench.become(id, (all) => all.at(-1)?.status === "delivered");
});

test("a webhook is disabled after three days without a success, and all its deliveries end", async () => {
  const { webhook_id: id } = await bench.add("/dead");
  bench.receiver.answer = () => new Response(null, { status: 503 });
  await bench.test(id);
  await bench.become(id, attempted(1));
  bench.advance(3 * 86_400 - 1);
  await bench.become(id, attempted(2));
  expect((await bench.get(id)).enabled).toBe(true);
  await bench.test(id);
  bench.advance(3_600);
  await bench.become(id, areOver);
  const { enabled, disabled_reason } = await bench.get(id);
  expect(enabled).toBe(false);
  expect(disabled_reason).toMatch(
    /^Every delivery has failed since .* UTC\. The last error: The receiver answered 503/,
  );
});

test("a redirect is a failure, and is not followed", async () => {
  const { webhook_id: id } = await bench.add("/moved");
  bench.receiver.answer = () => Response.redirect(bench.receiver.url("/elsewhere"), 302);
  await bench.test(id);
  const [found] = await bench.become(id, attempted(1));
  expect(found).toMatchObject({ status_code: 302, error: expect.stringContaining("not followed") });
  expect(bench.receiver.of("/elsewhere")).toEqual([]);
});

test("a receiver that cannot be reached is a failure, which is retried", async () => {
  const { webhook_id: id } = await bench.add("", { url: `http://127.0.0.1:${await freePort()}/` });
  await bench.test(id);
  const [found] = await bench.become(id, attempted(1));
  expect(found).toMatchObject({ status: "pending", status_code: null, response: null });
  expect(await bench.get(id)).toMatchObject({ failing_since: bench.now().toISOString(), enabled: true });
});

test("a webhook whose secret cannot be decrypted is disabled, and says so", async () => {
  if (bench.api.databaseUrl === null) return;
  const { webhook_id: id } = await bench.add("/sealed");
  const database = await openPostgres(bench.api.databaseUrl);
  await database.db.execute(sql`update webhooks set secret = 'AAAA' where webhook_id = ${id}`);
  await database.close();
  await bench.test(id);
  const [found] = await bench.become(id, areOver);
  expect(found).toMatchObject({ status: "failed", status_code: null });
  expect(await bench.get(id)).toMatchObject({
    enabled: false,
    disabled_reason: expect.stringContaining("cannot be decrypted"),
  });
  expect(bench.receiver.of("/sealed")).toEqual([]);
});

test("Retry-After postpones the next attempt, up to an hour", async () => {
  const { webhook_id: id } = await bench.add("/later");
  bench.receiver.answer = () => new Response(null, { status: 429, headers: { "retry-after": "999999" } });
  await bench.test(id);
  const [found] = await bench.become(id, attempted(1));
  const wait = new Date(found?.next_attempt_at ?? 0).getTime() - bench.now().getTime();
  expect(wait).toBe(3_600_000);
});

test("a slow receiver does not delay another webhook", async () => {
  const [slow, fast] = [await bench.add("/slow"), await bench.add("/fast")];
  const held = Promise.withResolvers<void>();
  bench.receiver.answer = async ({ path }) => {
    if (path === "/slow") await held.promise;
    return new Response("thanks");
  };
  for (let count = 0; count < 3; count++) await bench.test(slow.webhook_id);
  await until("the slow receiver has a request", () => bench.receiver.of("/slow").length > 0);
  for (let count = 0; count < 3; count++) await bench.test(fast.webhook_id);
  await bench.become(fast.webhook_id, areOver);
  // one delivery of a webhook at a time
  expect(bench.receiver.of("/slow").length).toBe(1);
  held.resolve();
  const all = await bench.become(slow.webhook_id, areOver);
  expect(all.map(({ status }) => status)).toEqual(["delivered", "delivered", "delivered"]);
  expect(bench.receiver.of("/slow").map(({ headers }) => headers["webhook-id"])).toEqual(
    all.map(({ event_id }) => event_id),
  );
});

test("a project and a webhook that are deleted during a delivery leave nothing", async () => {
  const held = Promise.withResolvers<void>();
  bench.receiver.answer = async () => {
    await held.promise;
    return new Response(null, { status: 500 });
  };
  const { body: other } = await bench.api.call("POST", "/v1/projects", {
    body: { name: "Other", repo_url: bench.remote.url },
  });
  const hooks = `/v1/projects/${other.project_id}/webhooks`;
  const made = await bench.api.call("POST", hooks, { body: { url: bench.receiver.url("/orphan") } });
  await bench.api.call("POST", `${hooks}/${made.body.webhook_id}/test`);
  await until("the delivery is on its way", () => bench.receiver.of("/orphan").length === 1);
  expect((await bench.api.call("DELETE", `/v1/projects/${other.project_id}`)).status).toBe(200);
  held.resolve();
  // the worker goes on with other deliveries
  bench.receiver.answer = () => new Response("thanks");
  const { webhook_id: id } = await bench.add("/after");
  await bench.test(id);
  await bench.become(id, areOver);
  expect(bench.receiver.of("/orphan").length).toBe(1);
});

test("format text sends one escaped sentence", async () => {
  const { webhook_id: id } = await bench.add("/chat", { format: "text", events: ["cr.opened"] });
  bench.remote.commit("work", { b: "1\n" }, { from: "main" });
  const title = "<!channel> @here [a](http://evil.test) *b* & `c`\u202e";
  await bench.call("POST", "/change-requests", { body: { title, head_ref: "work" } });
  await bench.become(id, areOver);
  const { text } = JSON.parse(bench.receiver.of("/chat")[0]?.body ?? "");
  expect(text).toMatch(/^Example: change request #\d+ “/);
  expect(text).toMatch(/ was opened http:\/\/\S+\/projects\/example\/change-requests\/\d+$/);
  expect(text).toContain("&lt;!channel&gt;");
  expect(text).not.toMatch(/<|@here|\]\(|http:\/\/evil|\u202e/);
});

needs("a real Postgres", POSTGRES)(
  "1,000 events to a dead receiver wait, further ones are dropped, and it is tried rarely",
  async () => {
    const { webhook_id: id } = await bench.add("/down");
    bench.receiver.answer = () => new Response(null, { status: 500 });
    await bench.test(id);
    await bench.become(id, attempted(1));
    const database = await openPostgres(bench.api.databaseUrl ?? "");
    try {
      await database.db.execute(sql`insert into webhook_deliveries (webhook_id, event_id, type, payload)
        select ${id}, gen_random_uuid(), 'webhook.test', '{}' from generate_series(1, 998)`);
    } finally {
      await database.close();
    }
    expect((await bench.test(id)).status).toBe("pending");
    const dropped = await bench.test(id);
    expect(dropped).toMatchObject({ status: "failed", attempts: 0 });
    expect(dropped.error).toContain("1000 deliveries of this webhook were waiting");
    // the clock stands still, so the failure pauses the webhook
    expect(bench.receiver.of("/down").length).toBe(1);
  },
);

needs("a real Postgres", POSTGRES)(
  "a result that cannot be recorded leaves the webhook as it was: both are recorded, or neither",
  async () => {
    const { webhook_id: id } = await bench.add("/unrecorded");
    bench.receiver.answer = () => new Response(null, { status: 500 });
    const { db, close } = await openPostgres(bench.api.databaseUrl ?? "");
    try {
      // a sequence counts what was rolled back, too
      await db.execute(sql`create sequence refusals`);
      await db.execute(
        sql`create function refuse() returns trigger language plpgsql as $$ begin perform nextval('refusals'); raise 'refused'; end $$`,
      );
      await db.execute(
        sql`create trigger refuse before update of error on webhook_deliveries for each row execute function refuse()`,
      );
      await bench.test(id);
      const refused = async () =>
        JSON.stringify(await db.execute(sql`select is_called from refusals`)).includes("true");
      await until("the result was refused", refused);
      expect(await bench.get(id)).toMatchObject({ failing_since: null, enabled: true });
    } finally {
      await db.execute(sql`drop trigger if exists refuse on webhook_deliveries`);
      await db.execute(sql`drop function if exists refuse`);
      await db.execute(sql`drop sequence if exists refusals`);
      await close();
    }
  },
);

test("secrets and URLs are found nowhere but in the answer that shows them", async () => {
  if (bench.api.databaseUrl === null) return;
  const { webhook_id: id, secret } = await bench.add("/T00/B00/credential");
  await bench.test(id);
  await bench.become(id, areOver);
  const database = await openPostgres(bench.api.databaseUrl);
  try {
    const rows = JSON.stringify(await database.db.select().from(webhooks));
    expect(rows).not.toContain("credential");
    expect(rows).not.toContain(secret.slice(6));
  } finally {
    await database.close();
  }
  for (const path of ["/webhooks", `/webhooks/${id}`, `/webhooks/${id}/deliveries`])
    expect((await bench.call("GET", path)).text).not.toContain(secret.slice(6));
  const rotated = await bench.call("PATCH", `/webhooks/${id}`, { body: { rotate_secret: true } });
  expect(rotated.body.secret).toMatch(/^whsec_/);
  expect(rotated.body.secret).not.toBe(secret);
});

test("only owners and admins see and change webhooks", async () => {
  const { body } = await bench.call("POST", "/cli-token", { body: { name: "agent" } });
  const agent = { token: body.token };
  for (const [method, path] of [
    ["GET", "/webhooks"],
    ["POST", "/webhooks"],
  ] as const)
    expect((await bench.call(method, path, agent)).status).toBe(403);
});

test.each([
  [{ url: "ftp://example.com/" }, "validation_failed"],
  [{ url: "https://a:b@example.com/" }, "validation_failed"],
  [{ url: "https://example.com/", events: ["cr.unknown"] }, "validation_failed"],
  [{ url: "https://example.com/", secret: "whsec_c2hvcnQ=" }, "validation_failed"],
  [{ url: "https://example.com/", secret: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" }, "validation_failed"],
])("refuses %j", async (body, code) => {
  const answer = await bench.call("POST", "/webhooks", { body });
  expect([answer.status, answer.body.code]).toEqual([400, code]);
});

test("a server that does not allow private addresses sends none anywhere, whatever the DNS answers later", async () => {
  const { outbound, resolved, connected } = recordingOutbound(() => ["1.1.1.1", "169.254.169.254"]);
  const strict = await startWebhooks({ env: { SVC_ALLOW_PRIVATE_ADDRESSES: "0" }, deps: { outbound } });
  try {
    const add = (url: string) => strict.call("POST", "/webhooks", { body: { url } });
    for (const url of ["http://example.com/", "https://127.0.0.1/", "https://localhost/", "https://[::1]/"])
      expect((await add(url)).body.code).toBe("url_not_allowed");
    const { body } = await add("https://rebind.example/hook");
    await strict.test(body.webhook_id);
    const [found] = await strict.become(body.webhook_id, attempted(1));
    expect(found?.error).toContain("The host rebind.example has a private or reserved address.");
    expect([resolved, connected]).toEqual([["rebind.example"], []]);
  } finally {
    await strict.stop();
  }
});

const onPostgres = needs("a real Postgres", POSTGRES);
const KEY = { SVC_MASTER_KEY: "ab".repeat(32) };

for (const step of sample(1, ["delivery-claimed", "delivery-sent"] as const))
  onPostgres(`a server that dies at ${step}: another one delivers the event with the same id`, async () => {
    const [dead, over] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // as if the process ended there: nothing that follows happens
    const checkpoint = async (at: string) => {
      if (at !== step) return;
      dead.resolve();
      await over.promise;
      throw new Error("it is dead");
    };
    const first = await startWebhooks({ env: KEY, deps: { checkpoint } });
    try {
      const { webhook_id: id } = await first.add("/crash");
      const { event_id } = await first.test(id);
      await dead.promise;
      const later = new Date(first.now().getTime() + 61_000);
      const second = await startApi({
        env: { ...KEY, SVC_ALLOW_PRIVATE_ADDRESSES: "1", DATABASE_URL: first.api.databaseUrl ?? "" },
        deps: { databaseTime: async () => later },
      });
      const [found] = await first.become(id, areOver);
      await second.stop();
      expect(found).toMatchObject({ status: "delivered", attempts: 2, event_id });
      const ids = first.receiver.of("/crash").map(({ headers }) => headers["webhook-id"]);
      expect(ids).toEqual(step === "delivery-sent" ? [event_id, event_id] : [event_id]);
    } finally {
      over.resolve();
      await first.stop();
    }
  });
