import { expect, test } from "bun:test";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { WEBHOOK_EVENTS } from "../../src/contract/webhook-event.ts";
import { bounded } from "../../src/features/webhooks/bounded.ts";
import { readEvents } from "../../src/features/webhooks/create.ts";
import { isGivenUp, nextAttempt, pauseUntil } from "../../src/features/webhooks/schedule.ts";
import { checkSecret, makeSecret, signedHeaders } from "../../src/features/webhooks/signature.ts";
import { chatText } from "../../src/features/webhooks/text.ts";
import { readRetryAfter } from "../../src/lib/retry-after.ts";

const NOW = new Date("2026-11-24T10:00:00Z");
const seconds = (later: Date | null) => later && (later.getTime() - NOW.getTime()) / 1000;

test("10 attempts within about 3 days, each a fifth earlier or later", () => {
  const delays = (random: number) =>
    Array.from({ length: 10 }, (_, at) => seconds(nextAttempt(at + 1, { now: NOW, retryAfter: 0, random })));
  expect(delays(0.5)).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400, null]);
  expect([delays(0)[0], delays(1)[0]]).toEqual([4, 6]);
  expect(seconds(nextAttempt(1, { now: NOW, retryAfter: 90, random: 1 }))).toBe(90);
  expect(seconds(nextAttempt(2, { now: NOW, retryAfter: 90, random: 0.5 }))).toBe(300);
});

test("a receiver that fails gets a pause, which doubles up to a minute", () => {
  const pauses = [1, 2, 3, 6, 7, 5000].map((failures) =>
    seconds(pauseUntil(failures, { now: NOW, retryAfter: 0 })),
  );
  expect(pauses).toEqual([1, 2, 4, 32, 60, 60]);
  expect(seconds(pauseUntil(1, { now: NOW, retryAfter: 30 }))).toBe(30);
});

test("a webhook is given up after exactly three days", () => {
  expect(isGivenUp(new Date("2026-11-21T10:00:00Z"), NOW)).toBe(true);
  expect(isGivenUp(new Date("2026-11-21T10:00:00.001Z"), NOW)).toBe(false);
});

test.each([
  [null, 0],
  ["0", 0],
  ["120", 120],
  ["3600", 3600],
  ["3601", 3600],
  ["99999999999", 0],
  ["-5", 0],
  ["soon", 0],
  ["Tue, 24 Nov 2026 10:02:00 GMT", 120],
  ["Tue, 24 Nov 2026 09:00:00 GMT", 0],
  ["Fri, 24 Nov 2090 10:00:00 GMT", 3600],
])("Retry-After: %s is %d seconds", (header, expected) => {
  expect(readRetryAfter(header, NOW)).toBe(expected);
});

test("a signature is as the specification's own library makes it", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
  const at = new Date(1_614_265_330_000);
  const headers = signedHeaders(secret, {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    at,
    body: '{"test": 2432232314}',
  });
  // the example of the specification
  expect(headers["webhook-signature"]).toBe("v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
  expect(headers["webhook-timestamp"]).toBe("1614265330");
  const own = makeSecret();
  const now = new Date();
  const body = JSON.stringify({ a: "ü" });
  expect(new StandardWebhook(own).verify(body, signedHeaders(own, { id: "x", at: now, body }))).toEqual({
    a: "ü",
  });
  expect(makeSecret()).not.toBe(own);
});

const ofBytes = (count: number) => `whsec_${Buffer.alloc(count, 1).toString("base64")}`;

test.each([24, 64])("a secret of %d bytes is accepted", (count) => {
  expect(checkSecret(ofBytes(count))).toBe(ofBytes(count));
});

test.each([
  ofBytes(23),
  ofBytes(65),
  ofBytes(24).slice(6),
  "whsec_",
  `${ofBytes(24)}!`,
  `whsec_${"ä".repeat(40)}`,
])("the secret %s is refused", (secret) => {
  expect(() => checkSecret(secret)).toThrow(expect.objectContaining({ code: "validation_failed" }));
});

test("events are named alone, in groups, or all", () => {
  expect(readEvents(["*"])).toEqual([...WEBHOOK_EVENTS]);
  expect(readEvents(["session.failed", "cr.merged", "cr.merged"])).toEqual(["cr.merged", "session.failed"]);
  expect(readEvents(["deployment.*"])).toEqual(
    WEBHOOK_EVENTS.filter((name) => name.startsWith("deployment.")),
  );
  for (const name of ["", ".*", "cr", "c.*", "cr.*.x", "checks.*", "webhook.test"])
    expect(() => readEvents([name])).toThrow(expect.objectContaining({ code: "validation_failed" }));
});

test("long texts and lists are cut, and listed", () => {
  const emoji = "😀".repeat(4_096);
  const { value, truncated } = bounded({
    exact: emoji,
    long: `${emoji}x`,
    list: Array.from({ length: 101 }, (_, at) => at),
    deep: { a: [{ b: "x".repeat(8_193) }], n: 1, none: null },
  });
  expect(truncated).toEqual(["long", "list", "deep.a.0.b"]);
  expect(value["exact"]).toBe(emoji);
  expect(value["long"]).toBe(`${"😀".repeat(4_095)}…`);
  expect(value["list"]).toHaveLength(100);
  expect(value["deep"]).toEqual({ a: [{ b: `${"x".repeat(8_191)}…` }], n: 1, none: null });
});

const said = (type: string, data: Record<string, unknown>) =>
  chatText(
    JSON.stringify({ type, data: { project: { slug: "shop", name: "Shop" }, ...data } }),
    "https://svc.test",
  );

test.each([
  ["webhook.test", {}, "Shop: a test of this webhook. https://svc.test/projects/shop"],
  [
    "cr.commented",
    { change_request: { number: 7, title: "Fix" }, comment: { body: "line\n two" } },
    "Shop: change request #7 “Fix” has a new comment: line two https://svc.test/projects/shop/change-requests/7",
  ],
  [
    "check.failed",
    { status: { context: "test", sha: "a".repeat(40), description: "2 of 80" }, change_requests: [7, 9] },
    "Shop: check “test” of change request #7 has failed: 2 of 80 https://svc.test/projects/shop/change-requests/7",
  ],
  [
    "check.succeeded",
    { status: { context: "test", sha: "a".repeat(40), description: null }, change_requests: [] },
    "Shop: check “test” of aaaaaaaaaa has passed https://svc.test/projects/shop",
  ],
  [
    "session.failed",
    { session: { session_id: "abcdefgh-1", name: null, error: "No room." } },
    "Shop: session “abcdefgh” has failed: No room. https://svc.test/projects/shop/sessions/abcdefgh-1",
  ],
  [
    "deployment.live",
    { app: { slug: "web" }, deployment: { number: 3, error: null } },
    "Shop: deployment 3 of web is live https://svc.test/projects/shop/apps/web",
  ],
  [
    "deployment.live",
    { app: { slug: "web", change_request: 12 }, deployment: { number: 3, error: null } },
    "Shop: deployment 3 of the preview of web in change request #12 is live https://svc.test/projects/shop/change-requests/12",
  ],
])("%s as a sentence", (type, data, expected) => {
  expect(said(type, data)).toBe(expected);
});

test.each([
  "<!channel>",
  "<@U1>",
  "<https://evil.test|bank>",
  "@here",
  "@all",
  "[a](https://b.test)",
  "![](x)",
  "`a`",
])("the title %s notifies, links and formats nothing", (title) => {
  const text = said("cr.opened", { change_request: { number: 1, title } });
  expect(text).not.toMatch(/[<>]|@\w|\]\(|https:\/\/(?!svc\.test)|`a/);
});

test("a long title is cut, and its invisible characters are removed", () => {
  const text = said("cr.opened", {
    change_request: { number: 1, title: `a\u202eb\u0007${"é".repeat(300)}` },
  });
  expect(text).toContain(`“a b ${"é".repeat(195)}…”`);
});
