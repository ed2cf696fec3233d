import { afterAll, beforeAll, expect } from "bun:test";
import type { Webhook } from "../../src/contract/webhook.ts";
import { barriersInAllLooks, CHROMIUM, untilCount } from "../helpers/browser.ts";
import { openBrowser } from "../helpers/cookie-browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { holdsNothing, shows } from "../helpers/hostile-page.ts";
import { needs } from "../helpers/needs.ts";
import { startReceiver } from "../helpers/webhooks.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard({ env: { SVC_ALLOW_PRIVATE_ADDRESSES: "1" } });
const receiver = startReceiver();
const HOSTILE = "</pre><img src=x onerror=alert(1)>";
const SETTINGS = "/projects/shop/settings";
const PROJECT = `/v1${SETTINGS.replace("/settings", "")}`;

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  await svc.api.call("POST", "/v1/projects", { body: { name: "Shop" } });
});
afterAll(() => receiver.stop());

const webhooks = async (): Promise<Webhook[]> =>
  (await svc.api.call("GET", `${PROJECT}/webhooks`)).body.webhooks;
const add = async (path: string): Promise<Webhook> =>
  (await svc.api.call("POST", `${PROJECT}/webhooks`, { body: { url: receiver.url(path) } })).body;

test("adds a webhook, and shows its secret once; a wrong URL or event is an error at its field", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, SETTINGS);
  await page.getByText("No webhooks yet.").waitFor();
  await page.getByRole("button", { name: "New webhook" }).click();
  const send = page.getByRole("button", { name: "Add the webhook" });
  const wrong = page.locator("[aria-invalid=true]");
  await page.getByLabel("URL").fill("ftp://example.com");
  await send.click();
  await page.getByLabel("URL").and(wrong).waitFor();
  await page.getByLabel("URL").fill(receiver.url("/made"));
  await page.getByLabel("Events").fill("cr.*, gone.*");
  await send.click();
  await page.getByLabel("Events").and(wrong).waitFor();
  await page.getByLabel("Events").fill(" cr.opened,  session.failed ");
  await page.getByLabel("Format").selectOption("text");
  await send.click();
  const secret = page.getByText(/^whsec_/);
  await secret.waitFor();
  await page.getByText("cr.opened, session.failed").waitFor();
  expect(await webhooks()).toMatchObject([
    { url: receiver.url("/made"), events: ["cr.opened", "session.failed"], format: "text", enabled: true },
  ]);
  await page.getByRole("button", { name: "Done" }).click();
  await secret.waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("link", { name: receiver.url("/made") }).waitFor();
  expect(await page.content()).not.toContain("whsec_");
  expect(faults()).toEqual([]);
  await close();
});

test("sends a test, shows its delivery and sends it again; hostile responses are shown as text", async () => {
  const { webhook_id } = await add("/hostile");
  receiver.answer = () => new Response(HOSTILE, { status: 500 });
  const { page, faults, close } = await svc.openAs(FIRST, `/projects/shop/webhooks/${webhook_id}`);
  await page.getByText("Nothing was sent yet.").waitFor();
  const test = page.getByRole("button", { name: "Send a test" });
  await test.click();
  const rows = page.getByRole("region", { name: "Deliveries" }).getByRole("listitem");
  await rows.getByText("Answered 500.").waitFor();
  await rows.getByText("pending", { exact: true }).waitFor();
  await rows.getByText("Response").click();
  await shows(page, [HOSTILE]);
  await holdsNothing(page);
  await page.getByText("Failing", { exact: true }).waitFor();
  const ids = () => receiver.of("/hostile").map(({ headers }) => headers["webhook-id"]);
  const [first] = ids();
  // the first one is sent again meanwhile
  receiver.answer = ({ headers }) =>
    headers["webhook-id"] === first ? new Response(HOSTILE, { status: 500 }) : new Response("thanks");
  await test.click();
  await rows.getByText("delivered", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Redeliver" }).click();
  await rows.getByText("Redelivery").waitFor();
  await untilCount(rows.getByText("delivered", { exact: true }), 2);
  expect(await rows.count()).toBe(3);
  const [second, third] = ids().filter((id) => id !== first);
  expect(second).toBeDefined();
  expect(third).toBe(second);
  expect(faults()).toEqual([]);
  await close();
});

test("disables, enables and deletes a webhook, and replaces its secret", async () => {
  const { webhook_id } = await add("/changed");
  const now = async () => (await webhooks()).find((each) => each.webhook_id === webhook_id);
  const { page, faults, close } = await svc.openAs(FIRST, `/projects/shop/webhooks/${webhook_id}`);
  await page.getByRole("button", { name: "Disable" }).click();
  await page.getByText("Disabled", { exact: true }).waitFor();
  expect((await now())?.enabled).toBe(false);
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByText("Enabled", { exact: true }).waitFor();
  expect((await now())?.enabled).toBe(true);
  await page.getByRole("button", { name: "Replace the secret …" }).click();
  await page.getByRole("button", { name: "Replace the secret", exact: true }).click();
  await page.getByText(/^whsec_/).waitFor();
  await page.getByRole("button", { name: "Delete …" }).click();
  await page.getByRole("button", { name: "Delete the webhook" }).click();
  await page.getByRole("button", { name: "New webhook" }).waitFor();
  await page.getByRole("link", { name: receiver.url("/changed") }).waitFor({ state: "detached" });
  expect(await now()).toBeUndefined();
  expect(faults()).toEqual([]);
  await close();
});

test("members who cannot manage webhooks do not see them", async () => {
  const { account_id } = (await svc.api.call("GET", PROJECT)).body;
  const invitation = { email: "member@example.com", role: "member" };
  const invited = await svc.api.call("POST", `/v1/accounts/${account_id}/invitations`, { body: invitation });
  const token = new URL(invited.body.url).searchParams.get("token");
  const body = { token, name: "Member", password: "a long password" };
  const joined = await openBrowser(svc.api).call("POST", "/v1/auth/link", { body });
  expect(joined.status).toBe(200);
  const { page, close } = await svc.openAs("member@example.com", SETTINGS);
  await page.getByRole("button", { name: "New token" }).waitFor();
  expect(await page.getByText("Webhooks").count()).toBe(0);
  await close();
});

test("all pages and dialogs are accessible", async () => {
  receiver.answer = () => new Response("thanks");
  const { webhook_id } = await add(`/${"long".repeat(100)}`);
  const { page, faults, close } = await svc.openAs(FIRST, `/projects/shop/webhooks/${webhook_id}`);
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText("delivered", { exact: true }).waitFor();
  expect(await barriersInAllLooks(page)).toEqual([]);
  await page.goto(svc.api.url + SETTINGS);
  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByRole("dialog").waitFor();
  expect(await barriersInAllLooks(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});
