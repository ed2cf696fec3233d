import { beforeAll, expect } from "bun:test";
import type { Page } from "playwright-core";
import { HIDDEN_IN_TEXT } from "../../src/contract/hidden.ts";
import { CHROMIUM } from "../helpers/browser.ts";
import { startDashboard } from "../helpers/dashboard.ts";
import { HOSTILE_TEXTS } from "../helpers/hostile-text.ts";
import { needs } from "../helpers/needs.ts";

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

test("tokens of any name are shown as they are called, and nothing of it runs", async () => {
  const { page, faults, close } = await svc.openAs(EMAIL, "/settings");
  await page.getByRole("button", { name: "Show more" }).click();
  await page.getByRole("button", { name: "Show more" }).waitFor({ state: "detached" });
  await shows(page, HOSTILE_TEXTS);
  // what is asked of them, too
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

test("projects of any name, in the list and on their own pages", async () => {
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
  for (const { slug, name } of projects.slice(0, 8)) {
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

/** A text as a page has to show it: a character that would act is named. */
function named(text: string): string {
  return text.replace(
    HIDDEN_IN_TEXT,
    (character) => `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
  );
}

/** Each text stands in an element of its own, which keeps its direction to itself. */
async function shows(page: Page, texts: readonly string[]): Promise<void> {
  const shown = new Set(await page.locator("bdi").allTextContents());
  expect(texts.map(named).filter((text) => !shown.has(text))).toEqual([]);
}

/** Nothing that a text could have made is in the page. */
async function holdsNothing(page: Page): Promise<void> {
  const made = "script, iframe, object, embed, svg, math, img, form[action], style, base, video, audio";
  expect(await page.locator("main").locator(made).count()).toBe(0);
  expect(await page.evaluate(() => document.body.innerHTML.includes("onerror=alert(1)>"))).toBe(false);
}
