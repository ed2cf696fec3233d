import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, barriersInAllLooks, CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { holdsNothing, shows } from "../helpers/hostile-page.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { StandInProvider } from "../helpers/stand-in-provider.ts";
import { cron, webhook } from "../helpers/triggers.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const provider = new StandInProvider();
const svc = startDashboard({ deps: { sandboxes: provider.sandboxesOf } });
const remote = new Remote();
const NAME = '\u202e<img src=x onerror=alert(1)>"';
const PROMPT = "</pre><script>alert(1)</script> {{ body }}";

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  const text = [
    "svc_version = 1",
    cron("nightly", "0 3 * * *", 'timezone = "Europe/Berlin"\n'),
    webhook("hook", PROMPT, `name = ${JSON.stringify(NAME)}\n`),
    cron("lost", "0 0 1 1 *", 'agent = "nobody"\nenabled = false\n'),
    cron("broken", "99 * * * *"),
  ].join("\n");
  remote.commit("main", { "svc.toml": text });
  await svc.api.project(remote.url, { name: "Shop" });
  await svc.api.call("POST", "/v1/projects", { body: { name: "Empty" } });
  const list = async () => (await svc.api.call("GET", "/v1/projects/shop/triggers")).body.triggers.length;
  await until("the manifest is followed", async () => (await list()) === 3);
  await svc.api.call("POST", "/v1/projects/shop/triggers/hook/fire", { body: {} });
});
afterAll(async () => {
  await provider.close();
  remote.remove();
});

test("a project without triggers shows how to add one", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/empty/triggers");
  await page.getByText("No triggers yet").waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("lists triggers with their problems; fires one, and disables it through a change request", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/triggers");
  await page.getByRole("link", { name: "nightly" }).waitFor();
  await page.getByText('Agent "nobody" not found').waitFor();
  await page.getByRole("list", { name: "Problems of the manifest" }).getByText(/99/).waitFor();

  await page.getByRole("button", { name: "Fire nightly" }).click();
  await page.getByLabel("Additional text").fill("Only src/");
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByRole("link", { name: "The session is starting" }).waitFor();
  await page.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "Disable nightly" }).click();
  await page.getByText("opens a change request and merges it").waitFor();
  await page.getByRole("button", { name: "Disable the trigger" }).click();
  await page.getByText("It is disabled:").waitFor();
  await page.getByRole("link", { name: /^change request #\d+$/ }).waitFor();
  await page.getByRole("button", { name: "Done" }).click();
  // updated by the event stream, without a reload
  await page.getByRole("button", { name: "Enable nightly" }).waitFor();
  expect(remote.git("show", "main:svc.toml")).toContain("enabled = false");
  expect(faults()).toEqual([]);
  await close();
});

test("a trigger's page shows its prompt, webhook URL and firings, with any name", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/triggers/hook");
  await page.getByRole("link", { name: /^Session [0-9a-f]{8}$/ }).waitFor();
  await page
    .getByText(/\/v1\/webhooks\/projects\/[0-9a-f-]{36}\/hook$/)
    .first()
    .waitFor();
  await shows(page, [NAME, PROMPT]);
  await holdsNothing(page);
  expect(faults()).toEqual([]);
  await page.goto(`${svc.api.url}/projects/shop/triggers/none`);
  await page.getByText("not found in the manifest").waitFor();
  await close();
});

test("all pages and dialogs are accessible", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/triggers");
  await page.getByRole("link", { name: "nightly" }).waitFor();
  expect(await barriersInAllLooks(page)).toEqual([]);
  for (const button of ["Fire lost", "Enable lost"]) {
    await page.getByRole("button", { name: button }).click();
    await page.getByRole("dialog").waitFor();
    expect([button, await barriersInAllLooks(page)]).toEqual([button, []]);
    await page.keyboard.press("Escape");
  }
  await page.goto(`${svc.api.url}/projects/shop/triggers/hook`);
  await page.getByRole("link", { name: /^Session / }).waitFor();
  expect(await barriersInAllLooks(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});
