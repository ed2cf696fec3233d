import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Api, startApi } from "../helpers/api.ts";
import { openBrowser, signedIn } from "../helpers/cookie-browser.ts";

const DAY_MS = 86_400_000;
let api: Api;
let now = Date.now();
beforeAll(async () => {
  api = await startApi({ deps: { clock: () => new Date(now) } });
});
afterAll(() => api.stop());

test("a browser that is not used for 30 days is signed out", async () => {
  const browser = await signedIn(api);
  const status = async () => (await browser.call("GET", "/v1/accounts/me")).status;
  now += 29.9 * DAY_MS;
  expect(await status()).toBe(200);
  now += 0.2 * DAY_MS;
  expect(await status()).toBe(401);
  const session = await browser.call("GET", "/v1/auth/session");
  expect([session.body.signed_in, session.headers.get("set-cookie")]).toEqual([false, null]);
});

test("one that is used stays signed in, and its cookie is written once a day", async () => {
  const browser = await signedIn(api);
  const { cookie } = browser;
  const visit = async () => (await browser.call("GET", "/v1/auth/session")).headers.get("set-cookie");
  expect(await visit()).toBeNull();
  for (let day = 0; day < 60; day += 20) {
    now += 20 * DAY_MS;
    expect(await visit()).toContain("Max-Age=2592000");
    expect(await visit()).toBeNull();
  }
  expect(browser.cookie).toBe(cookie);
  expect((await browser.call("GET", "/v1/accounts/me")).status).toBe(200);
});

test("attempts are deleted after their window", async () => {
  const email = "patient@example.com";
  await signedIn(api, email);
  const guess = async () =>
    (await openBrowser(api).call("POST", "/v1/auth/sign-in", { body: { email, password: "wrong" } })).status;
  for (let count = 0; count < 10; count++) expect(await guess()).toBe(401);
  expect(await guess()).toBe(429);
  now += 14 * 60_000;
  expect(await guess()).toBe(429);
  now += 2 * 60_000;
  expect(await guess()).toBe(401);
});
