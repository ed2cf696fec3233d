import { beforeAll, expect } from "bun:test";
import { CHROMIUM } from "../helpers/browser.ts";
import { startDashboard } from "../helpers/dashboard.ts";
import { holdsNothing, named, shows } from "../helpers/hostile-page.ts";
import { HOSTILE_TEXTS } from "../helpers/hostile-text.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const EMAIL = "collector@example.com";
/** Projects cost more than tokens: every so-manieth name, and all that deceive the eye. */
const PROJECTS = HOSTILE_TEXTS.filter((text, at) => at % 8 === 0 || named(text) !== text);

let token: string;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  token = await svc.api.mint(EMAIL);
  const make = async (path: string, name: string) => {
    const { status, text } = await svc.api.call("POST", path, { body: { name }, token });
    if (status !== 201) throw new Error(`${JSON.stringify(name)} was not taken: ${text}`);
  };
  await Promise.all(HOSTILE_TEXTS.map((name) => make("/v1/accounts/tokens", name)));
  await Promise.all(PROJECTS.map((name) => make("/v1/projects", name)));
});

test("hostile token names are shown as text", async () => {
  const { page, faults, close } = await svc.openAs(EMAIL, "/settings");
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
  await shows(page, HOSTILE_TEXTS);
  // the dialogs about them, too
  for (const name of HOSTILE_TEXTS.filter((_, at) => at % 20 === 0)) {
    await page.getByRole("button", { name: `Revoke ${named(name)}`, exact: true }).click();
    await page.getByRole("dialog").waitFor();
    expect(await page.getByRole("dialog").locator("h2").textContent()).toBe(`Revoke ${named(name)}?`);
    await page.keyboard.press("Escape");
  }
  await holdsNothing(page);
  expect(faults()).toEqual([]);
  await close();
});

test("hostile project names are shown as text, in the list and on their pages", async () => {
  const { page, faults, close } = await svc.openAs(EMAIL, "/");
  await page.getByRole("main").getByRole("listitem").first().waitFor();
  const { body } = await svc.api.call("GET", "/v1/projects?limit=200", { token });
  const projects: { slug: string; name: string }[] = body.projects;
  expect(projects.length).toBe(PROJECTS.length);
  await shows(
    page,
    projects.map(({ name }) => name),
  );
  await holdsNothing(page);
  for (const { slug, name } of sample(3, projects)) {
    await page.goto(`${svc.api.url}/projects/${slug}/settings`);
    await page.getByLabel("Name", { exact: true }).waitFor();
    await shows(page, [name]);
    await page.getByRole("button", { name: "Delete the project …" }).click();
    await shows(page, [name]);
    await holdsNothing(page);
  }
  expect(faults()).toEqual([]);
  await close();
});
