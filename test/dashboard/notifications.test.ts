import { afterAll, beforeAll, expect } from "bun:test";
import type { Worker } from "playwright-core";
import { CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { startPushService } from "../helpers/push-service.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard({ env: { SVC_ALLOW_PRIVATE_ADDRESSES: "1" } });
const remote = new Remote();
const HOSTILE = "<img src=x onerror=alert(1)>";
let projectId: string;
let script: string;

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { a: "1\n" });
  ({ project_id: projectId } = await svc.api.project(remote.url, { name: "Shop" }));
  const made = await svc.api.call("POST", `/v1/projects/${projectId}/cli-token`, {
    body: { name: "script" },
  });
  script = made.body.token;
  await choose("cr.opened", ["page"]);
});
afterAll(() => remote.remove());

const choose = (event: string, ways: string[]) =>
  svc.api.call("PATCH", "/v1/accounts/notifications/settings", { body: { choices: [{ event, ways }] } });
const list = async () => (await svc.api.call("GET", "/v1/accounts/notifications")).body;

/** A script opens a change request for the first user. */
async function open(title: string): Promise<number> {
  const head = `work-${crypto.randomUUID()}`;
  remote.commit(head, { [head]: "1\n" }, { from: "main" });
  const body = { title, head_ref: head };
  const made = await svc.api.call("POST", `/v1/projects/${projectId}/change-requests`, {
    body,
    token: script,
  });
  return made.body.number;
}

test("the bell counts what is unread, also in the title, and a click opens its page and reads it", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/triggers");
  await page.getByRole("heading", { name: "Triggers", exact: true }).waitFor();
  const number = await open(HOSTILE);
  // by the project's events, without a reload
  await page.waitForFunction(() => document.title.startsWith("(1) Triggers"));
  await page.locator("summary", { hasText: "Notifications" }).click();
  const item = page.getByRole("link", { name: `#${number} ${HOSTILE} was opened (unread)` });
  await item.click();
  await page.waitForURL(`**/projects/shop/change-requests/${number}`);
  await page.waitForFunction(() => !document.title.startsWith("("));
  expect((await list()).unread).toBe(0);
  await open("Another");
  await page.waitForFunction(() => document.title.startsWith("(1) "));
  await page.locator("summary", { hasText: "Notifications" }).click();
  await page.getByRole("button", { name: "Mark all as read" }).click();
  await page.waitForFunction(() => !document.title.startsWith("("));
  expect(faults()).toEqual([]);
  await close();
});

test("each event and way can be chosen; e-mail only where the server sends it", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/settings");
  const section = page.getByRole("region", { name: "Notifications" });
  await section.getByText("This server sends no e-mails.").waitFor();
  expect(await section.getByRole("columnheader", { name: "E-mail" }).count()).toBe(0);
  const box = section.getByLabel("An agent has ended its turn: Push");
  expect(await box.isChecked()).toBe(false);
  await box.check();
  const chosen = async () =>
    (await svc.api.call("GET", "/v1/accounts/notifications/settings")).body.choices.find(
      (choice: { event: string }) => choice.event === "session.done",
    ).ways;
  await until("it is stored", async () => (await chosen()).includes("push"));
  await page.reload();
  await section.getByLabel("An agent has ended its turn: Push").and(page.locator(":checked")).waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("push is switched on in a browser; its service worker shows the message, and a click reads it", async () => {
  const service = startPushService();
  const browser = await service.browser();
  const { page, faults, close } = await svc.openAs(FIRST, "/settings", { fresh: true });
  const context = page.context();
  await context.grantPermissions(["notifications"], { origin: svc.api.url });
  // the browser of the test has no push service
  await page.addInitScript((subscription) => {
    const subscribed = Object.assign(Object.create(null), {
      toJSON: () => subscription,
      unsubscribe: async () => true,
    });
    PushManager.prototype.subscribe = async () => subscribed;
  }, browser.subscription);
  await page.reload();
  const started = context.waitForEvent("serviceworker");
  await page.getByRole("button", { name: "Switch on in this browser" }).click();
  await page.getByRole("list", { name: "Browsers with push" }).getByText("(this browser)").waitFor();
  const worker = await started;
  await recordShown(worker);
  await choose("cr.opened", ["page", "push"]);
  const number = await open(HOSTILE);
  const [message] = await browser.gets(1);
  expect(message).toMatchObject({
    title: `Shop: #${number} ${HOSTILE} was opened`,
    url: `/projects/shop/change-requests/${number}`,
  });
  const devtools = await context.newCDPSession(page);
  const { promise: registration, resolve } = Promise.withResolvers<string>();
  devtools.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    const [first] = registrations;
    if (first) resolve(first.registrationId);
  });
  await devtools.send("ServiceWorker.enable");
  await devtools.send("ServiceWorker.deliverPushMessage", {
    ...{ origin: svc.api.url, registrationId: await registration, data: JSON.stringify(message) },
  });
  await until("the notification is shown", async () => (await shownBy(worker)).length === 1);
  expect(await shownBy(worker)).toEqual([
    {
      title: message?.title ?? "",
      options: {
        ...{ body: "", tag: message?.tag, icon: "/assets/icon.svg" },
        data: { url: message?.url, tag: message?.tag },
      },
    },
  ]);
  await page.waitForFunction(() => document.title.startsWith("(1) "));
  await click(worker);
  await until("it is read", async () => (await list()).unread === 0);
  await page.getByRole("button", { name: "Switch off" }).click();
  await page.getByRole("button", { name: "Switch on in this browser" }).waitFor();
  expect(faults()).toEqual([]);
  await close();
  await service.stop();
});

/** A browser without a window refuses to show notifications: what its worker shows is recorded. */
async function recordShown(worker: Worker): Promise<void> {
  await worker.evaluate(() => {
    const shown: unknown[] = [];
    Reflect.set(globalThis, "shown", shown);
    Reflect.set(
      Reflect.get(globalThis, "registration"),
      "showNotification",
      async (title: string, options: object) => shown.push({ title, options }),
    );
  });
}

const shownBy = (worker: Worker): Promise<{ title: string; options: Record<string, unknown> }[]> =>
  worker.evaluate(() => Reflect.get(globalThis, "shown"));

/** Clicks on what was shown; only the system makes clicks that may open windows. */
async function click(worker: Worker): Promise<void> {
  await worker.evaluate(() => {
    const [{ options }] = Reflect.get(globalThis, "shown");
    const notification = { data: options.data, close() {} };
    dispatchEvent(
      Object.assign(new Event("notificationclick"), {
        notification,
        waitUntil: (work: Promise<unknown>) => work.catch(() => {}),
      }),
    );
  });
}
