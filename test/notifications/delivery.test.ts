import { afterAll, beforeAll, beforeEach, describe, expect } from "bun:test";
import { needs } from "../helpers/needs.ts";
import { type NotificationBench, startNotifications } from "../helpers/notifications.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { followedSession } from "../helpers/runtime-host.ts";
import { until } from "../helpers/until.ts";

const test = needs("a real Postgres", POSTGRES);
let bench: NotificationBench;
let bob: string;

beforeAll(async () => {
  bench = await startNotifications();
  bob = await bench.member("bob@example.com");
});
afterAll(() => bench.stop());
beforeEach(() => bench.rewind());

/** A session of the first user whose agent asks for a permission, and its runtime. */
async function asking() {
  const { id, runtime } = await followedSession(bench.sessions, bench.runtimeOf);
  runtime.setBusy(true);
  runtime.ask("permission", { id: "per_1", permission: "bash", patterns: ["rm *"] });
  await until("its person is notified", async () => (await bench.list())[0]?.session_id === id);
  return { id, runtime };
}

const settings = async (token?: string) =>
  (await bench.call("GET", "/settings", token === undefined ? {} : { token })).body;
const remove = (id: string) => bench.call("DELETE", `/browsers/${id}`);

/** Waits until the browser of the first user is so. */
async function browserBecomes(id: string, isSo: (browser: { error: string | null } | undefined) => boolean) {
  let last: { error: string | null } | undefined;
  await until(
    () => `the browser is as expected, and not ${JSON.stringify(last)}`,
    async () => {
      last = (await settings()).browsers.find((each: { browser_id: string }) => each.browser_id === id);
      return isSo(last);
    },
  );
  return last;
}

test("a person who has chosen nothing is notified of what waits for them only, in the list and by push", async () => {
  const { choices, email_problem } = await settings(bob);
  expect(choices).toEqual([
    { event: "session.waiting", ways: ["page", "push"] },
    { event: "session.done", ways: [] },
    { event: "cr.opened", ways: [] },
    { event: "check.failed", ways: [] },
    { event: "cr.commented", ways: [] },
    { event: "cr.approved", ways: [] },
    { event: "cr.changes_requested", ways: [] },
    { event: "cr.dequeued", ways: ["page"] },
    { event: "cr.review_requested", ways: ["page", "push"] },
    { event: "cr.auto_merge_disabled", ways: ["page"] },
    { event: "app.domain_lost", ways: ["page", "push"] },
  ]);
  expect(email_problem).toBeNull();
});

test("a push says which session waits, and for what", async () => {
  const browser = await bench.addBrowser();
  const { id } = await asking();
  bench.pass(6);
  const [message] = await browser.gets(1);
  expect(message).toMatchObject({
    title: `Example: session ${id.slice(0, 8)} waits for you`,
    body: "It asks for permission: bash rm *",
    url: `/projects/example/sessions/${id}`,
  });
  expect((await bench.list())[0]?.notification_id).toBe(message?.tag ?? "");
  await remove(browser.id);
});

test("the list has pages, and those that are unread alone", async () => {
  await asking();
  await asking();
  const whole = await bench.list();
  const [newest] = whole;
  await bench.call("POST", "/read", { body: { notification_ids: [newest?.notification_id] } });
  const unread = (await bench.call("GET", "?unread=true")).body;
  expect(unread.notifications.length).toBe(unread.unread);
  expect(JSON.stringify(unread.notifications)).not.toContain(newest?.notification_id ?? "none");
  const paged: string[] = [];
  for (let cursor = ""; ; ) {
    const { body } = await bench.call("GET", `?limit=1${cursor}`);
    paged.push(...body.notifications.map((each: { notification_id: string }) => each.notification_id));
    if (body.next_cursor === undefined) break;
    cursor = `&cursor=${body.next_cursor}`;
  }
  expect(paged).toEqual(whole.map(({ notification_id }) => notification_id));
});

test("a question that outlives its sandbox stays unread until it is answered", async () => {
  const { id } = await asking();
  bench.sessions.advance(51 * 60);
  bench.sessions.look();
  await bench.sessions.becomes(id, "stopped");
  const of = async () => (await bench.list()).find(({ session_id }) => session_id === id);
  expect(await of()).toMatchObject({ event: "session.waiting", read_at: null });
  const body = { request_id: "per_1", answer: "reject" };
  expect((await bench.sessions.call("POST", `/${id}/answer`, { body })).status).toBe(200);
  expect((await of())?.read_at).not.toBeNull();
});

describe("nothing is sent", () => {
  test("for a question that was answered meanwhile", async () => {
    const browser = await bench.addBrowser();
    const { id, runtime } = await asking();
    const body = { request_id: "per_1", answer: "once" };
    expect((await bench.sessions.call("POST", `/${id}/answer`, { body })).status).toBe(200);
    await until("it is over", async () => (await bench.list())[0]?.read_at !== null);
    runtime.ask("permission", { id: "per_2", permission: "edit", patterns: ["a"] });
    await until("it waits again", async () => (await bench.list())[0]?.text.includes("edit") === true);
    bench.pass(6);
    await browser.gets(1);
    expect(browser.messages.map(({ body: text }) => text)).toEqual(["It asks for permission: edit a"]);
    await remove(browser.id);
  });

  test("for what was read", async () => {
    const browser = await bench.addBrowser();
    await asking();
    const [first] = await bench.list();
    const { unread } = (await bench.call("GET", "?unread=true")).body;
    const read = await bench.call("POST", "/read", { body: { notification_ids: [first?.notification_id] } });
    expect(read.body).toEqual({ unread: unread - 1 });
    await asking();
    bench.pass(6);
    const [message] = await browser.gets(1);
    expect(message?.tag).toBe((await bench.list())[0]?.notification_id ?? "");
    await remove(browser.id);
    expect((await bench.call("POST", "/read", { body: {} })).body).toEqual({ unread: 0 });
  });

  test("to a person for what they did, in person", async () => {
    await bench.choose("cr.opened", ["page"]);
    await bench.choose("cr.commented", ["page"]);
    const before = (await bench.list()).length;
    const { number } = await bench.open();
    await bench.sessions.api.call(
      "POST",
      `/v1/projects/${bench.sessions.projectId}/change-requests/${number}/comments`,
      { body: { body: "Mine" } },
    );
    expect((await bench.list()).length).toBe(before);
  });

  test("to a person who is no longer a member", async () => {
    const carol = await bench.member("carol@example.com");
    const browser = await bench.addBrowser(carol);
    await bench.choose("cr.commented", ["page", "push"], carol);
    const { number } = await bench.open({ token: carol });
    const at = `/v1/projects/${bench.sessions.projectId}/change-requests/${number}/comments`;
    await bench.sessions.api.call("POST", at, { body: { body: "Secret" } });
    await bench.notifies("cr.commented", carol);
    const { accounts } = (await bench.sessions.api.call("GET", "/v1/accounts/me")).body;
    const { user_id } = (await bench.sessions.api.call("GET", "/v1/accounts/me", { token: carol })).body;
    const member = `/v1/accounts/${accounts[0].account_id}/members/${user_id}`;
    expect((await bench.sessions.api.call("DELETE", member)).status).toBe(200);
    expect(await bench.list(carol)).toEqual([]);
    const mine = await bench.addBrowser();
    await asking();
    bench.pass(6);
    await mine.gets(1);
    expect(browser.requests.length).toBe(0);
    await remove(mine.id);
  });
});

test("the person whose session made a change request is notified too", async () => {
  const { id } = await followedSession(bench.sessions, bench.runtimeOf);
  await bench.choose("cr.opened", ["page"]);
  await bench.choose("cr.opened", ["page"], bob);
  await bench.open({ token: bob, session: id, title: "From\u202E your\nsession" });
  expect((await bench.notifies("cr.opened")).title).toMatch(/^#\d+ From your session$/);
  expect((await bench.list(bob)).filter(({ event }) => event === "cr.opened")).toEqual([]);
});

describe("a browser", () => {
  test.each([404, 410])("that its push service no longer knows (%i) is removed", async (status) => {
    const browser = await bench.addBrowser();
    bench.push.answer = () => new Response(null, { status });
    await asking();
    bench.pass(6);
    await browserBecomes(browser.id, (found) => found === undefined);
    bench.push.answer = () => new Response(null, { status: 201 });
  });

  test("whose push service is busy gets the message later, as late as that asks", async () => {
    const browser = await bench.addBrowser();
    bench.push.answer = () => new Response(null, { status: 429, headers: { "retry-after": "300" } });
    await asking();
    bench.pass(6);
    const busy = await browserBecomes(browser.id, (found) => found?.error !== null);
    expect(busy?.error).toBe("The browser's push service answered 429.");
    bench.push.answer = () => new Response(null, { status: 201 });
    bench.pass(200);
    expect(browser.messages).toEqual([]);
    bench.pass(120);
    await browser.gets(1);
    await browserBecomes(browser.id, (found) => found?.error === null);
    await remove(browser.id);
  });

  test("whose push service fails for hours gets no old news", async () => {
    const browser = await bench.addBrowser();
    bench.push.answer = () => new Response(null, { status: 503 });
    await asking();
    bench.pass(6);
    await until("it was tried", () => browser.requests.length === 1);
    await browserBecomes(browser.id, (found) => found?.error !== null);
    bench.push.answer = () => new Response(null, { status: 201 });
    bench.pass(6 * 3_600);
    await until("it is given up", async () => (await bench.pending()) === 0);
    bench.rewind();
    const other = await bench.addBrowser();
    await asking();
    bench.pass(6);
    await other.gets(1);
    await browser.gets(1);
    expect(browser.messages.map(({ tag }) => tag)).toEqual(other.messages.map(({ tag }) => tag));
    await remove(browser.id);
    await remove(other.id);
  });

  test("belongs to the last person who switched push on in it", async () => {
    const browser = await bench.addBrowser();
    const added = await bench.call("POST", "/browsers", { token: bob, body: browser.subscription });
    expect(added.status).toBe(201);
    expect((await settings()).browsers).toEqual([]);
    expect((await settings(bob)).browsers.length).toBe(1);
    expect((await remove(added.body.browser_id)).status).toBe(404);
    const gone = await bench.call("DELETE", `/browsers/${added.body.browser_id}`, { token: bob });
    expect(gone.status).toBe(200);
  });

  test.each([
    ["http://user:secret@127.0.0.1/x", "endpoint"],
    ["ftp://127.0.0.1/x", "endpoint"],
  ])("at %s is refused", async (endpoint, path) => {
    const { subscription } = await bench.push.browser();
    const refused = await bench.call("POST", "/browsers", { body: { ...subscription, endpoint } });
    expect([refused.status, refused.body.code]).toEqual([400, "validation_failed"]);
    expect(refused.body.details[0].path).toBe(path);
  });

  test("whose key is not on the curve is refused", async () => {
    const { subscription } = await bench.push.browser();
    const keys = { ...subscription.keys, p256dh: Buffer.alloc(65, 4).toString("base64url") };
    const refused = await bench.call("POST", "/browsers", { body: { ...subscription, keys } });
    expect([refused.status, refused.body.details[0].path]).toEqual([400, "keys.p256dh"]);
  });

  test("is one of twenty at most", async () => {
    const added: string[] = [];
    for (let count = 0; count < 20; count++) added.push((await bench.addBrowser()).id);
    const { subscription } = await bench.push.browser();
    expect((await bench.call("POST", "/browsers", { body: subscription })).status).toBe(400);
    await Promise.all(added.map(remove));
  });
});

describe("an e-mail", () => {
  test("is plain text, and no text of others becomes one of its headers", async () => {
    await bench.choose("cr.commented", ["email"]);
    const { number } = await bench.open({ title: "Pay\r\nBcc: eve@example.com" });
    const at = `/v1/projects/${bench.sessions.projectId}/change-requests/${number}/comments`;
    await bench.sessions.api.call("POST", at, { token: bob, body: { body: "<b>Why</b>\n.\nReally?" } });
    const before = bench.smtp.mails.length;
    bench.pass(6);
    await until("it arrives", () => bench.smtp.mails.length > before);
    const mail = bench.smtp.mails.at(-1);
    expect([mail?.from, mail?.to]).toEqual(["svc@example.com", ["first@example.com"]]);
    const [head = "", ...body] = (mail?.raw ?? "").split("\r\n\r\n");
    expect(head).not.toMatch(/^bcc:/im);
    expect(head).toMatch(/^Content-Type: text\/plain/m);
    expect(head).toMatch(/^Message-ID: <[0-9a-f-]{36}@localhost>/m);
    expect(head).toMatch(/^Auto-Submitted: auto-generated/m);
    // quoted-printable
    const text = body.join("\n").replaceAll("=\r\n", "");
    expect(text).toContain("<b>Why</b> . Really?");
    expect(text).toContain(`/projects/example/change-requests/${number}`);
  });

  test.each([
    [451, 1],
    [550, 0],
  ])("that is refused with %i is sent %i more times", async (status, more) => {
    bench.smtp.refuses = status;
    const { number } = await bench.open();
    const at = `/v1/projects/${bench.sessions.projectId}/change-requests/${number}/comments`;
    await bench.sessions.api.call("POST", at, { token: bob, body: { body: `With ${status}` } });
    const of = () => bench.smtp.mails.filter(({ raw }) => raw.includes(`With ${status}`)).length;
    const refused = bench.smtp.refusals;
    bench.pass(6);
    await until("it is refused", () => bench.smtp.refusals > refused);
    bench.smtp.refuses = null;
    bench.pass(20);
    await until("nothing is to be sent", async () => (await bench.pending()) === 0);
    expect(of()).toBe(more);
  });
});
