import { beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM, DESKTOP, overflow, PHONE } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard({
  env: { SVC_LLM_BASE_URL: "http://127.0.0.1:9/v1", SVC_LLM_API_KEY: "sk-server-Pq82Xk" },
});
const SETTINGS = "/projects/shop/settings";
const KEY = "sk-own-Hs71mQ";

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  await svc.api.call("POST", "/v1/projects", { body: { name: "Shop" } });
});

const own = async () =>
  (await svc.api.call("GET", "/v1/projects/shop/model-upstreams")).body.model_upstreams.filter(
    ({ source }: { source: string }) => source === "project",
  );

test("adds an upstream with a key, which is shown nowhere, and removes it", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, SETTINGS);
  const section = page.getByRole("region", { name: "Models" });
  await section.getByText("default").waitFor();
  expect(await section.getByRole("button", { name: /^Remove/ }).count()).toBe(0);
  await section.getByRole("button", { name: "Add an upstream" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Name").fill("mine");
  await dialog.getByLabel("URL").fill("http://models.example.com");
  await dialog.getByLabel("Key").fill(KEY);
  await dialog.getByLabel("Models").fill(" gpt-5, , small ");
  const add = dialog.getByRole("button", { name: "Add the upstream" });
  await add.click();
  await dialog.getByLabel("URL").and(page.locator("[aria-invalid=true]")).waitFor();
  await dialog.getByLabel("URL").fill("https://models.example.com/v1");
  await add.click();
  await section.getByText("gpt-5, small").waitFor();
  expect(await own()).toMatchObject([
    { id: "mine", url: "https://models.example.com/v1", models: [{ id: "gpt-5" }, { id: "small" }] },
  ]);
  expect(await page.content()).not.toContain(KEY);
  await section.getByRole("button", { name: "Remove mine" }).click();
  await page.getByRole("button", { name: "Remove the upstream" }).click();
  await section.getByText("gpt-5, small").waitFor({ state: "detached" });
  expect(await own()).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("the dialog and the list have no barriers and fit, on a desktop and on a phone", async () => {
  const body = { format: "openai", url: `https://models.example.com/${"long".repeat(60)}`, key: KEY };
  await svc.api.call("PUT", "/v1/projects/shop/model-upstreams/long", { body });
  for (const size of [DESKTOP, PHONE]) {
    const { page, close } = await svc.openAs(FIRST, SETTINGS, { size });
    await page.getByRole("region", { name: "Models" }).getByText("longlong").waitFor();
    expect(await overflow(page)).toBe(0);
    await page.getByRole("button", { name: "Add an upstream" }).click();
    await page.getByLabel("Key").waitFor();
    expect(await barriers(page)).toEqual([]);
    await close();
  }
});
