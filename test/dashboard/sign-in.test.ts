import { afterAll, beforeAll, expect } from "bun:test";
import type { Browser } from "playwright-core";
import { type Api, startApi } from "../helpers/api.ts";
import { barriers, CHROMIUM, DESKTOP, overflow, PHONE, startBrowser, visit } from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";

const test = needs(...CHROMIUM);
let api: Api;
let browser: Browser;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  [api, browser] = await Promise.all([startApi(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await api?.stop();
});

test.each([
  ["desktop", { size: DESKTOP }],
  ["phone", { size: PHONE }],
  ["in the dark", { dark: true }],
])("the sign-in page shuts nobody out (%s)", async (_, options) => {
  const { page, faults, close } = await visit(browser, `${api.url}/login`, options);
  await page.getByRole("heading", { name: "Sign in to svc" }).waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  expect(faults()).toEqual([]);
  await close();
});
