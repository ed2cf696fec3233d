import { afterAll, beforeAll, expect } from "bun:test";
import type { Page } from "playwright-core";
import { barriers, CHROMIUM, overflow, PHONE } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
const HOSTILE = "<img src=x onerror=alert(1)> \u202Egpj.exe";

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { a: "1\n" });
  const { project_id } = await svc.api.project(remote.url, { name: "Shop" });
  await svc.api.project(remote.url, { name: "Bakery" });
  for (const [head, title] of [
    ["one", "Fix the login"],
    ["two", HOSTILE],
    ["three", "Bake bread"],
  ] as const) {
    remote.commit(head, { [head]: "1\n" }, { from: "main" });
    const body = { title, head_ref: head };
    await svc.api.call("POST", `/v1/projects/${project_id}/change-requests`, { body });
  }
});
afterAll(() => remote.remove());

const options = (page: Page) => page.getByRole("dialog").getByRole("option");
const chosen = (page: Page) => page.locator("[role=option][aria-selected=true]").textContent();
const heading = (page: Page, name: string) => page.getByRole("heading", { name, level: 1 }).waitFor();

/** Opens the palette, whose code is loaded when it is first opened. */
async function press(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Page, project, session" }).waitFor();
}

test("the command palette finds pages, projects, change requests and actions by keyboard", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/change-requests");
  await heading(page, "Change requests");
  const search = page.getByRole("searchbox", { name: "Search change requests" });
  await search.focus();
  // also while the reader types
  await press(page);
  await page.keyboard.type("login");
  await options(page).getByText("Fix the login").waitFor();
  await page.waitForFunction(() => document.querySelectorAll("[role=option]").length === 1);
  await page.keyboard.press("Enter");
  await heading(page, "Fix the login #1");
  // an action of the page, which takes the focus
  await press(page);
  await page.keyboard.type("title edit");
  await page.waitForFunction(() => document.querySelectorAll("[role=option]").length === 1);
  expect(await chosen(page)).toBe("Edit the titlee");
  await page.keyboard.press("Enter");
  await page.getByRole("dialog", { name: "Edit the title" }).waitFor();
  expect(await page.getByLabel("Title", { exact: true }).inputValue()).toBe("Fix the login");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  // another project
  await press(page);
  await page.keyboard.type("bak");
  await options(page).getByText("Bake bread").waitFor();
  expect(await options(page).allTextContents()).toEqual(["BakeryProject", "Bake bread#3"]);
  await page.keyboard.press("ArrowUp");
  expect(await chosen(page)).toBe("Bake bread#3");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.getByText("No open change requests").waitFor();
  expect(new URL(page.url()).pathname).toBe("/projects/bakery/change-requests");
  // Escape closes at once, and returns the focus
  await page.getByRole("button", { name: "Go to" }).click();
  await page.keyboard.type("nothing has this name");
  await page.getByText("No results").waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.getByRole("dialog").waitFor({ state: "detached" });
  expect(await page.evaluate(() => document.activeElement?.textContent)).toContain("Go to");
  expect(faults()).toEqual([]);
  await close();
});

test("a search that the server cannot read, and hostile names, do no harm to the palette", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/change-requests", { size: PHONE });
  await heading(page, "Change requests");
  await page.getByRole("button", { name: "Go to" }).click();
  await options(page).getByText("U+202E").waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  await page.keyboard.type("nosuch:qualifier");
  await page.getByText("No results").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("? shows the keys of the page, j and k move through its rows, and the keys can be turned off", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/change-requests");
  await page.getByRole("link", { name: "Fix the login" }).waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  const seen: (string | null | undefined)[] = [];
  for (const key of ["j", "j", "k", "k"]) {
    await page.keyboard.press(key);
    seen.push(await focused());
  }
  expect(seen[0]).toBe("Bake bread");
  expect(seen[2]).toBe("Bake bread");
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.waitFor();
  expect(await help.locator("dt").allTextContents()).toEqual(["Ctrl K", "?", "/", "j", "k"]);
  expect(await barriers(page)).toEqual([]);
  const isOn = help.getByRole("checkbox");
  await isOn.uncheck();
  expect(await help.locator("dt").allTextContents()).toEqual(["Ctrl K"]);
  await page.keyboard.press("Escape");
  await page.keyboard.press("?");
  await page.keyboard.press("Control+k");
  // nothing but the palette is open
  await page.getByRole("dialog", { name: "Go to" }).waitFor();
  expect(await page.getByRole("dialog").count()).toBe(1);
  expect(faults()).toEqual([]);
  await close();
});
