import { afterAll, beforeAll, expect } from "bun:test";
import type { Page } from "playwright-core";
import { CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
const VALUE = "first line\nthe-secret-value";

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  const manifest = '[env]\nrequired = ["API_KEY", "DATABASE_URL"]\noptional = ["REGION"]\n';
  remote.commit("main", { "svc.toml": `svc_version = 1\n${manifest}` });
  await svc.api.project(remote.url, { name: "Asks" });
  await svc.api.call("POST", "/v1/projects", { body: { name: "Empty" } });
  await svc.api.call("PUT", "/v1/projects/asks/secrets/DATABASE_URL", { body: { value: "x" } });
});
afterAll(() => remote.remove());

const rows = (page: Page) => page.getByRole("main").getByRole("listitem").allInnerTexts();
const list = async () => (await svc.api.call("GET", "/v1/projects/asks/secrets")).body;

test("a project without secrets shows how to set one", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/empty/secrets");
  await page.getByText("No secrets yet").waitFor();
  await page.getByText("svc secrets set ANTHROPIC_API_KEY=-").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("lists secrets that svc.toml requires; sets, replaces and removes them; never shows a value", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/asks/secrets");
  await page.getByText("svc.toml requires a secret that is not set.").waitFor();
  const shown = (await rows(page)).slice(-3).map((row) => row.split("\n").slice(0, 3).join(" "));
  expect(shown).toEqual([
    expect.stringMatching(/^API_KEY Missing Required/),
    expect.stringMatching(/^DATABASE_URL Required/),
    expect.stringMatching(/^REGION Optional/),
  ]);

  await page.getByRole("button", { name: "Set API_KEY" }).click();
  await page.getByLabel("Value").fill(VALUE);
  await page.getByRole("button", { name: "Set the secret" }).click();
  await page.getByRole("button", { name: "Replace API_KEY" }).waitFor();
  expect(await page.getByText("Missing").count()).toBe(0);
  const { updated_at } = (await list()).items[0];

  await page.getByRole("button", { name: "Replace API_KEY" }).click();
  expect(await page.getByLabel("Value").inputValue()).toBe("");
  await page.getByLabel("Value").fill(`${VALUE}, again`);
  await page.getByRole("button", { name: "Replace the secret" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect((await list()).items[0].updated_at > updated_at).toBe(true);
  await page.getByText("for sessions, builds").first().waitFor();

  await page.getByRole("button", { name: "Replace API_KEY" }).click();
  await page.getByLabel("Value").fill(VALUE);
  await page.getByLabel("For").fill("everything");
  await page.getByRole("button", { name: "Replace the secret" }).click();
  await page.getByLabel("For").and(page.locator("[aria-invalid=true]")).waitFor();
  await page.getByLabel("For").fill("sessions, apps:shop");
  await page.getByRole("button", { name: "Replace the secret" }).click();
  await page.getByText("for sessions, apps:shop").waitFor();
  expect((await list()).items[0].for).toEqual(["sessions", "apps:shop"]);
  expect(await page.content()).not.toContain("the-secret-value");

  await page.getByRole("button", { name: "Remove API_KEY" }).click();
  await page.getByText("svc.toml requires it.").waitFor();
  await page.getByRole("button", { name: "Remove the secret" }).click();
  await page.getByRole("button", { name: "Set API_KEY" }).waitFor();
  expect((await list()).missing).toEqual(["API_KEY"]);
  expect(faults()).toEqual([]);
  await close();
});

test("an invalid name is an error at its field, and can be corrected", async () => {
  const { page, close } = await svc.openAs(FIRST, "/projects/asks/secrets");
  await page.getByRole("button", { name: "New secret" }).click();
  await page.getByLabel("Value").fill("x");
  for (const name of ["lower", "PATH", "SVC_TOKEN", "A-B", "<img src=x>", "1ST"]) {
    await page.getByLabel("Name").fill(name);
    await page.getByRole("button", { name: "Set the secret" }).click();
    await page.getByLabel("Name").and(page.locator("[aria-invalid=true]")).waitFor();
    await page.getByRole("dialog").getByRole("alert").waitFor();
    await page.getByLabel("Name").fill("");
  }
  await page.getByLabel("Name").fill("MENDED");
  await page.getByRole("button", { name: "Set the secret" }).click();
  await page.getByRole("button", { name: "Replace MENDED" }).waitFor();
  expect((await list()).items.map(({ name }: { name: string }) => name)).toContain("MENDED");
  await close();
});

test("Escape closes a dialog without an action, and restores the focus", async () => {
  const { page, close } = await svc.openAs(FIRST, "/projects/asks/secrets");
  const button = page.getByRole("button", { name: "Remove DATABASE_URL" });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("dialog").waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await button.evaluate((element) => element === document.activeElement)).toBe(true);
  expect((await list()).items.map(({ name }: { name: string }) => name)).toContain("DATABASE_URL");
  await close();
});
