import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { attempts, projectSecrets, triggerFirings, triggers } from "../../db/schema/index.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { SvcError } from "../../src/contract/errors.ts";
import { WAITING_MAX, WEBHOOK_MAX_BYTES } from "../../src/contract/trigger.ts";
import { purposeOf } from "../../src/features/secrets/row.ts";
import { createWebhookHandler, WEBHOOK_WRITING } from "../../src/features/triggers/webhook.ts";
import { Changes } from "../../src/lib/changes.ts";
import { type AccountRows, openAccountRows, there } from "../helpers/account-rows.ts";
import { signatureOf } from "../helpers/triggers.ts";
import { until } from "../helpers/until.ts";

const [SECRET, OTHERS] = ["a secret", "another secret"];
let rows: AccountRows;
let accountId: string;
let projectId: string;
let otherId: string;
/** Reads of the clock wait for this. */
let held: Promise<void> | null = null;
let asked = 0;
let handle: ReturnType<typeof createWebhookHandler>;
/** Milliseconds. */
let monotonic = 1_000;

beforeAll(async () => {
  rows = await openAccountRows();
  accountId = await rows.account("a", {});
  projectId = await rows.project(accountId, "p");
  otherId = await rows.project(accountId, "q");
  const trigger = { position: 0, type: "webhook", prompt: "Look.", enabled: true, timezone: "UTC" } as const;
  await rows.deps.db.insert(triggers).values([
    { ...trigger, projectId, slug: "hook", secretEnv: "HOOK_SECRET" },
    { ...trigger, projectId, slug: "other", secretEnv: "OTHER_SECRET" },
    { ...trigger, projectId, slug: "off", secretEnv: "HOOK_SECRET", enabled: false },
    { ...trigger, projectId, slug: "nightly", type: "cron", cron: "0 0 1 1 *" },
    { ...trigger, projectId, slug: "unset", secretEnv: "NO_SECRET" },
    { ...trigger, projectId: otherId, slug: "hook", secretEnv: "HOOK_SECRET" },
  ]);
  await keep(projectId, "HOOK_SECRET", SECRET);
  await keep(projectId, "OTHER_SECRET", OTHERS);
  await keep(otherId, "HOOK_SECRET", OTHERS);
});
afterAll(() => rows.database.close());
beforeEach(async () => {
  await rows.deps.db.delete(triggerFirings);
  await rows.deps.db.delete(attempts);
  const deps = {
    ...rows.deps,
    changes: new Changes(),
    monotonic: () => monotonic,
    async databaseTime() {
      asked++;
      await held;
      return rows.now();
    },
  };
  handle = createWebhookHandler(deps, { ...WEBHOOK_WRITING, waitMs: WAIT_LIMIT_MS });
});

async function keep(ofProject: string, name: string, value: string): Promise<void> {
  const sealed = rows.deps.keys.seal(ofProject, purposeOf(name), value);
  await rows.deps.db.insert(projectSecrets).values({ projectId: ofProject, name, value: sealed });
}

interface Sent {
  body?: string;
  slug?: string;
  project?: string;
  /** To the other project's. */
  other?: true;
  secret?: string;
  headers?: Record<string, string>;
  from?: string;
}
/** The session's id, or the code of the refusal. */
async function send({
  body = "{}",
  slug = "hook",
  other,
  project = other ? otherId : projectId,
  secret = SECRET,
  headers,
  from = "::1",
}: Sent = {}) {
  const signed = headers ?? { "X-Svc-Signature": signatureOf(secret, body) };
  const request = new Request("http://localhost/", {
    method: "POST",
    body,
    headers: { ...signed, "X-Forwarded-For": from },
  });
  try {
    return (await handle(request, { project, slug })).session_id;
  } catch (error) {
    if (error instanceof SvcError) return error.code;
    throw error;
  }
}
const ID = /^[0-9a-f-]{36}$/;

describe("only webhooks with a valid signature are accepted", () => {
  const right = signatureOf(SECRET, "{}");
  const wrong = signatureOf("a guess", "{}");
  test.each<[headers: Record<string, string>, isTaken: boolean]>([
    [{ "X-Svc-Signature": right }, true],
    [{ "X-Hub-Signature-256": right }, true],
    [{ "X-Svc-Signature": right, "X-Hub-Signature-256": wrong }, true],
    [{ "X-Svc-Signature": wrong, "X-Hub-Signature-256": right }, false],
    [{ "X-Svc-Signature": right.toUpperCase() }, true],
    [{ "X-Svc-Signature": wrong }, false],
    [{ "X-Svc-Signature": `x ${right}` }, false],
    [{ "X-Svc-Signature": `${right}00` }, false],
    [{ "X-Svc-Signature": `${right} x` }, false],
    [{ "X-Svc-Signature": right.slice(0, -1) }, false],
    [{ "X-Svc-Signature": right.replace("sha256=", "") }, false],
    [{ "X-Svc-Signature": "" }, false],
    [{}, false],
  ])("%j: %p", async (headers, isTaken) => {
    expect(await send({ headers })).toMatch(isTaken ? ID : /^unauthorized$/);
    expect(await rows.deps.db.$count(triggerFirings)).toBe(isTaken ? 1 : 0);
  });

  test.each<[what: string, sent: Sent, code: RegExp]>([
    ["its own secret", { slug: "other", secret: OTHERS }, ID],
    ["the secret of another name", { slug: "other" }, /^unauthorized$/],
    ["the secret of the same name of another project", { secret: OTHERS }, /^unauthorized$/],
    ["an unknown slug", { slug: "none" }, /^not_found$/],
    ["a trigger that is disabled", { slug: "off" }, /^not_found$/],
    ["one that is not a webhook", { slug: "nightly" }, /^not_found$/],
    ["an unknown project", { project: "3f1e0a52-6f4c-4d2e-9a3b-1c2d3e4f5a6b" }, /^not_found$/],
    ["a project by its slug", { project: "p" }, /^not_found$/],
    ["NUL", { slug: "\0" }, /^not_found$/],
    ["a byte too many", { body: "x".repeat(WEBHOOK_MAX_BYTES + 1) }, /^payload_too_large$/],
    ["as many bytes as may be", { body: "x".repeat(WEBHOOK_MAX_BYTES) }, ID],
    ["nothing", { body: "" }, ID],
  ])("%s", async (_, sent, code) => {
    expect(await send(sent)).toMatch(code);
  });

  test("a secret takes effect as soon as it is set", async () => {
    expect(await send({ slug: "unset" })).toBe("secret_missing");
    await keep(projectId, "NO_SECRET", SECRET);
    expect(await send({ slug: "unset" })).toMatch(ID);
  });
});

test("wrong signatures are rate-limited for a minute, by address; the right one is still accepted", async () => {
  const guess = (from: string) => send({ secret: "a guess", from });
  for (let tries = 0; tries < 30; tries++) expect(await guess("203.0.113.1")).toBe("unauthorized");
  expect(await guess("203.0.113.1")).toBe("rate_limited");
  expect(await guess("203.0.113.2")).toBe("unauthorized");
  expect(await send({ from: "203.0.113.1" })).toMatch(ID);
  rows.pass(59_999);
  expect(await guess("203.0.113.1")).toBe("rate_limited");
  rows.pass(1);
  expect(await guess("203.0.113.1")).toBe("unauthorized");
});

describe("the same body is the same delivery for ten minutes, and for twenty at most", () => {
  const MINUTE = 60_000;
  test.each([
    [0, 0, true],
    [0, 10 * MINUTE, true],
    [0, 20 * MINUTE - 1, true],
    [0, 20 * MINUTE, false],
    [10 * MINUTE - 1, 10 * MINUTE - 1, true],
    [10 * MINUTE - 1, 10 * MINUTE, true],
    [10 * MINUTE - 1, 10 * MINUTE + 1, false],
  ])("%d ms after a tenth minute, and again %d ms later: %p", async (first, later, isSame) => {
    const ofTen = 10 * MINUTE - (rows.now().getTime() % (10 * MINUTE));
    rows.pass(ofTen + first);
    const one = await send({ body: "1" });
    expect(one).toMatch(ID);
    expect(await send({ body: "2" })).not.toBe(one);
    rows.pass(later);
    const again = await send({ body: "1" });
    expect(again).toMatch(ID);
    expect(again === one).toBe(isSame);
  });
});

describe("at a limit", () => {
  test("a project at its limit is not queried again for half a second; other projects are accepted", async () => {
    const { triggerId } = there(
      (await rows.deps.db.select().from(triggers).where(eq(triggers.slug, "other")))[0],
    );
    const at = rows.now();
    const firing = { triggerId, projectId, accountId, dueAt: at, createdAt: at } as const;
    await rows.deps.db.insert(triggerFirings).values(
      Array.from({ length: WAITING_MAX }, (_, key) => ({
        ...firing,
        key: `${key}`,
        state: "waiting" as const,
        source: "webhook" as const,
      })),
    );
    expect(await send()).toBe("rate_limited");
    expect(await send({ other: true, secret: OTHERS })).toMatch(ID);
    await rows.deps.db.delete(triggerFirings);
    monotonic += 499;
    expect(await send()).toBe("rate_limited");
    monotonic += 1;
    expect(await send()).toMatch(ID);
  });

  test("four are recorded at a time, three of one project; 250 of one project wait, and the next is refused", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    [held, asked] = [promise, 0];
    const answers: string[] = [];
    const sendMany = (count: number, sent: Sent = {}) =>
      Array.from({ length: count }, async (_, n) => answers.push(await send({ ...sent, body: `${n}` })));
    const ofOne = sendMany(258);
    await until("those that find no place are refused", () => answers.length === 5);
    expect([new Set(answers), asked]).toEqual([new Set(["rate_limited"]), 3]);
    const ofOther = sendMany(5, { other: true, secret: OTHERS });
    await until("another's is written down", () => asked > 3);
    // by the last of these answers more would be
    for (let times = 0; times < 5; times++) expect(await rows.deps.db.$count(triggerFirings)).toBe(0);
    expect(asked).toBe(4);
    held = null;
    resolve();
    await Promise.all([...ofOne, ...ofOther]);
    expect(answers.filter((answer) => ID.test(answer))).toHaveLength(258);
    // that there was no place for the moment does not count as being full
    expect(await send({ body: "last" })).toMatch(ID);
  });
});
