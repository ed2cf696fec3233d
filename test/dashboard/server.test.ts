import { expect } from "bun:test";
import { barriers, CHROMIUM, DESKTOP, overflow, PHONE } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard({
  env: { SVC_LLM_BASE_URL: "http://127.0.0.1:9/v1", SVC_LLM_API_KEY: "sk-server-Kd40Lm" },
});
/** A server without upstreams. */
const bare = startDashboard();
const KEY = "sk-operator-Bn52xW";
const AT = "/v1/server/model-upstreams";

const stored = async () =>
  (await svc.api.call("GET", AT)).body.model_upstreams.filter(
    ({ source }: { source: string }) => source === "server",
  );

test("an operator opens the page from the account menu by keyboard, adds an upstream and removes it", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/");
  await page.getByRole("heading", { level: 1 }).waitFor();
  await page.locator("header summary").last().focus();
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Server" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Server" }).waitFor();
  const section = page.getByRole("region", { name: "Models" });
  await section.getByText("Configuration").waitFor();
  expect(await section.getByRole("button", { name: /^Remove/ }).count()).toBe(0);
  await section.getByRole("button", { name: "Add an upstream" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("local");
  await dialog.getByLabel("URL").fill("http://a:b@127.0.0.1:11434/v1");
  await dialog.getByLabel("Key").fill(KEY);
  const add = dialog.getByRole("button", { name: "Add the upstream" });
  await add.click();
  await dialog.getByLabel("URL").and(page.locator("[aria-invalid=true]")).waitFor();
  await dialog.getByLabel("URL").fill("http://127.0.0.1:11434/v1");
  await add.click();
  await section.getByRole("button", { name: "Remove local" }).waitFor();
  expect(await stored()).toMatchObject([{ id: "local", url: "http://127.0.0.1:11434/v1", models: null }]);
  expect(await page.content()).not.toContain(KEY);
  await section.getByRole("button", { name: "Remove local" }).click();
  await page.getByRole("button", { name: "Remove the upstream" }).click();
  await section.getByRole("button", { name: "Remove local" }).waitFor({ state: "detached" });
  expect(await stored()).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("others do not see the link, and the page says whom it is for", async () => {
  await svc.api.mint("second@example.com");
  const { page, close } = await svc.openAs("second@example.com", "/server");
  await page.getByText("Only operators of this server").waitFor();
  await page.locator("header summary").last().click();
  await page.getByRole("link", { name: "Settings and tokens" }).waitFor();
  expect(await page.getByRole("link", { name: "Server", exact: true }).count()).toBe(0);
  await close();
});

test("an upstream that the configuration overrides is marked; the page has no barriers and fits", async () => {
  const url = `https://models.example.com/${"long".repeat(60)}`;
  await svc.api.call("PUT", `${AT}/default`, { body: { format: "openai", url, key: KEY } });
  for (const size of [DESKTOP, PHONE]) {
    const { page, close } = await svc.openAs(FIRST, "/server", { size });
    await page.getByText("Not used").waitFor();
    expect(await overflow(page)).toBe(0);
    expect(await barriers(page)).toEqual([]);
    await close();
  }
});

test("a server without upstreams says so, and offers to add one", async () => {
  const { page, faults, close } = await bare.openAs(FIRST, "/server");
  const section = page.getByRole("region", { name: "Models" });
  await section.getByText("The server has no model upstreams. Projects can have their own.").waitFor();
  expect(await section.getByRole("button").allTextContents()).toEqual(["Add an upstream"]);
  expect([await page.getByRole("alert").count(), await barriers(page), faults()]).toEqual([0, [], []]);
  await close();
});

test("a list that cannot be loaded says why, and is loaded when the operator tries again", async () => {
  const { page, close } = await svc.openAs(FIRST, "/");
  let isDown = true;
  await page.route(`**${AT}`, async (route) => {
    if (!isDown) return await route.continue();
    await route.fulfill({ status: 500, json: { error: "The database is down.", code: "internal" } });
  });
  await page.goto(`${svc.api.url}/server`);
  const section = page.getByRole("region", { name: "Models" });
  const alert = section.getByRole("alert");
  await alert.getByText("The database is down.").waitFor();
  expect(await section.getByText("has no model upstreams").count()).toBe(0);
  expect(await barriers(page)).toEqual([]);
  isDown = false;
  await alert.getByRole("button", { name: "Try again" }).click();
  await section.getByText("Configuration", { exact: true }).waitFor();
  expect(await alert.count()).toBe(0);
  await close();
});

test("a page that cannot load who is signed in says why, and is loaded when the operator tries again", async () => {
  const { page, close } = await svc.openAs(FIRST, "/");
  let isDown = true;
  await page.route("**/v1/accounts/me", async (route) => {
    if (!isDown) return await route.continue();
    await route.fulfill({ status: 500, json: { error: "The database is down.", code: "internal" } });
  });
  await page.goto(`${svc.api.url}/server`);
  const alert = page.getByRole("main").getByRole("alert");
  await alert.getByText("The database is down.").waitFor();
  expect(await page.getByText("Only operators of this server").count()).toBe(0);
  isDown = false;
  await alert.getByRole("button", { name: "Try again" }).click();
  await page.getByRole("region", { name: "Models" }).waitFor();
  expect(await alert.count()).toBe(0);
  await close();
});
