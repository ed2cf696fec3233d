import { afterAll, beforeAll, expect, setDefaultTimeout } from "bun:test";
import type { Browser } from "playwright-core";
import { type Api, startApi } from "../helpers/api.ts";
import {
  barriers,
  CHROMIUM,
  DESKTOP,
  overflow,
  PHONE,
  signIn,
  startBrowser,
  visit,
} from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";

// a browser on a busy machine
setDefaultTimeout(60_000);

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

test("a page that asks to sign in is shown afterwards", async () => {
  const { page, faults, close } = await visit(browser, `${api.url}/?tab=mine`);
  await page.waitForURL("**/login?next=%2F%3Ftab%3Dmine");
  await signIn({ page }, api, "/?tab=mine");
  await page.getByRole("heading", { name: "Projects" }).waitFor();
  expect(faults()).toEqual([]);
  await close();
});
