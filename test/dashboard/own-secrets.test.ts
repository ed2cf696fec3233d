import { beforeAll, expect } from "bun:test";
import type { OwnSecret } from "../../src/contract/secret.ts";
import { CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const VALUE = "the-login-of-a-person";
const list = async (): Promise<OwnSecret[]> => (await svc.api.call("GET", "/v1/accounts/secrets")).body.items;
const shown = async () =>
  (await list()).map(({ name, projects }) => [name, projects.map(({ slug }) => slug).join(" ")]);

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  for (const name of ["Shop", "Blog"]) await svc.api.call("POST", "/v1/projects", { body: { name } });
});

test("a person's own secrets are set, given to projects, replaced, taken away and removed", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/settings");
  const section = page.locator("section", { has: page.getByRole("heading", { name: "Your secrets" }) });
  await section.getByText("No secrets yet.").waitFor();

  await section.getByRole("button", { name: "New secret" }).click();
  await page.getByLabel("Name").fill("lower");
  await page.getByLabel("Value").fill(VALUE);
  await page.getByRole("button", { name: "Set the secret" }).click();
  await page.getByText("must be 1 to 64 characters of A-Z").waitFor();
  await page.getByLabel("Name").fill("LOGIN");
  await page.getByLabel("Project", { exact: true }).selectOption("shop");
  await page.getByRole("button", { name: "Set the secret" }).click();
  await section.getByRole("button", { name: "Take LOGIN from Shop" }).waitFor();
  expect(await shown()).toEqual([["LOGIN", "shop"]]);

  await section.getByRole("button", { name: "Give LOGIN to a project" }).click();
  await page.getByLabel("Project", { exact: true }).selectOption("blog");
  await page.getByRole("button", { name: "Give it to the project" }).click();
  await section.getByRole("button", { name: "Take LOGIN from Blog" }).waitFor();
  await section.getByRole("button", { name: "Take LOGIN from Shop" }).click();
  await section.getByRole("button", { name: "Take LOGIN from Shop" }).waitFor({ state: "detached" });
  expect(await shown()).toEqual([["LOGIN", "blog"]]);

  const [before] = await list();
  await section.getByRole("button", { name: "Replace LOGIN" }).click();
  await page.getByLabel("Value").fill(`${VALUE}-new`);
  await page.getByRole("button", { name: "Replace the secret" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const [after] = await list();
  expect(after?.updated_at).not.toBe(before?.updated_at ?? "");

  expect(await page.content()).not.toContain(VALUE);
  await section.getByRole("button", { name: "Remove LOGIN" }).click();
  await page.getByRole("button", { name: "Remove the secret" }).click();
  await section.getByText("No secrets yet.").waitFor();
  expect([await shown(), faults()]).toEqual([[], []]);
  await close();
});
