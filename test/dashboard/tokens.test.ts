import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { CHROMIUM } from "../helpers/browser.ts";
import { svc as runSvc } from "../helpers/cli-run.ts";
import { signedIn } from "../helpers/cookie-browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();

/** Creates a token on the open page, and returns its value, which is shown once. */
async function makeToken(page: Page, name: string, life?: string): Promise<string> {
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("Token name").fill(name);
  if (life) await page.getByLabel("Expires after").selectOption({ label: life });
  await page.getByRole("button", { name: "Create the token" }).click();
  await page.getByText("Copy it now: it is not shown again.").waitFor();
  return (await page.locator("code", { hasText: "svc_pat_" }).textContent()) ?? "";
}

async function revoke(page: Page, name: string): Promise<void> {
  await page.getByRole("button", { name: `Revoke ${name}` }).click();
  await page.getByRole("button", { name: "Revoke the token" }).click();
  await page.getByRole("button", { name: `Revoke ${name}` }).waitFor({ state: "detached" });
}

const whoami = (token: string) =>
  runSvc(["whoami", "--json"], {
    env: { SVC_API_URL: `${svc.api.url}/v1`, SVC_CLI_TOKEN: token },
  });

test("a new token works on the command line, is shown once, and is rejected once revoked", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/settings");
  const token = await makeToken(page, "Laptop", "30 days");
  expect(await page.locator("code", { hasText: "svc login" }).textContent()).toBe(
    `svc login --api ${svc.api.url}/v1 --token -`,
  );
  const ran = await whoami(token);
  expect([ran.code, JSON.parse(ran.stdout)]).toEqual([
    0,
    expect.objectContaining({ kind: "user", email: FIRST }),
  ]);
  await page.getByRole("button", { name: "Done" }).click();
  expect(await page.content()).not.toContain(token);
  await page.reload();
  await page.getByText("expires in 30 days").waitFor();
  expect(await page.content()).not.toContain(token);
  await revoke(page, "Laptop");
  expect((await whoami(token)).code).not.toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test("a project token works only in its project", async () => {
  for (const name of ["Mine", "Other"]) await svc.api.call("POST", "/v1/projects", { body: { name } });
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/mine/settings");
  const token = await makeToken(page, "Script");
  const ask = async (project: string) =>
    (await svc.api.call("GET", `/v1/projects/${project}`, { token })).status;
  expect([await ask("mine"), await ask("other")]).toEqual([200, 404]);
  const ran = await whoami(token);
  expect(JSON.parse(ran.stdout)).toMatchObject({ kind: "project", project_name: "Mine" });
  await revoke(page, "Script");
  expect(await ask("mine")).toBe(401);
  expect(faults()).toEqual([]);
  await close();
});

test("an empty name is an error at its field", async () => {
  const { page, close } = await svc.openAs(FIRST, "/settings");
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("Token name").fill("   ");
  await page.getByRole("button", { name: "Create the token" }).click();
  await page.getByLabel("Token name").and(page.locator("[aria-invalid=true]")).waitFor();
  await close();
});

test("a browser is signed out from another one", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/settings");
  const other = await signedIn(svc.api, FIRST);
  await page.reload();
  const browsers = page.getByRole("list", { name: "Browsers", exact: true });
  await browsers.getByText("(this browser)").waitFor();
  const before = await browsers.getByRole("listitem").count();
  expect(before).toBeGreaterThan(1);
  // this one has no button; the newest is the first
  expect(await browsers.getByRole("button").count()).toBe(before - 1);
  await browsers.getByRole("button").first().click();
  await until("it is signed out", async () => (await browsers.getByRole("listitem").count()) === before - 1);
  expect((await other.call("GET", "/v1/accounts/me")).status).toBe(401);
  await page.reload();
  await browsers.getByText("(this browser)").waitFor();
  expect(faults()).toEqual([]);
  await close();
});
