import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { nextPage } from "../../dashboard/pages/sign-in/next.ts";
import { barriers, CHROMIUM, DESKTOP, overflow, PHONE } from "../helpers/browser.ts";
import { openBrowser, PASSWORD, signedIn } from "../helpers/cookie-browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();

async function submit(page: Page, email: string, password: string): Promise<void> {
  await page.getByLabel("E-mail").fill(email);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

test.each([
  ["desktop", { size: DESKTOP }],
  ["phone", { size: PHONE }],
  ["in the dark", { dark: true }],
])("the sign-in page is accessible (%s)", async (_, options) => {
  const { page, faults, close } = await svc.open("/login", options);
  await page.getByRole("heading", { name: "Sign in to svc" }).waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test("while no user has a password, the page explains how to get one", async () => {
  const { page, close } = await svc.open("/login");
  await page.getByText("svc-api admin link --email").waitFor();
  await signedIn(svc.api);
  await page.reload();
  await page.getByLabel("E-mail").waitFor();
  expect(await page.getByText("svc-api admin link --email").count()).toBe(0);
  await close();
});

test("a wrong password is an error; the right one redirects to the requested page; then signs out", async () => {
  const email = "comes-and-goes@example.com";
  await signedIn(svc.api, email);
  const { page, faults, close } = await svc.open("/settings?tab=mine");
  await page.waitForURL(`${svc.api.url}/login?next=%2Fsettings%3Ftab%3Dmine`);
  await submit(page, email, "wrong");
  await page.getByText("Wrong e-mail address or password.").waitFor();
  expect(await page.getByLabel("E-mail").inputValue()).toBe(email);
  await submit(page, email, PASSWORD);
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  expect(page.url()).toBe(`${svc.api.url}/settings?tab=mine`);
  const [cookie] = await page.context().cookies();
  expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });

  await page.locator("header summary").last().click();
  await page.getByText(`Signed in as ${email}`).waitFor();
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await page.waitForURL(`${svc.api.url}/login`);
  await page.getByLabel("E-mail").waitFor();
  expect(await page.context().cookies()).toEqual([]);
  const stolen = { Cookie: `${cookie?.name}=${cookie?.value}` };
  expect((await openBrowser(svc.api).call("GET", "/v1/accounts/me", { headers: stolen })).status).toBe(401);
  await page.goBack();
  await page.waitForURL(`${svc.api.url}/login**`);
  await page.getByLabel("E-mail").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("too many wrong passwords show a wait time", async () => {
  const body = { email: "guessed@example.com", password: "guess" };
  const guess = () => openBrowser(svc.api).call("POST", "/v1/auth/sign-in", { body });
  while ((await guess()).status !== 429);
  const { page, close } = await svc.open("/login");
  await submit(page, body.email, "another guess");
  await page
    .getByRole("alert")
    .getByText(/again in/)
    .waitFor();
  await close();
});

test("when the session ends elsewhere, the page shows the sign-in and returns", async () => {
  const email = "ended@example.com";
  const { page, close } = await svc.openAs(email, "/settings");
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await signedIn(svc.api, email, "another password");
  await page.getByRole("button", { name: "New token" }).click();
  await page.getByLabel("Token name").fill("x");
  await page.getByRole("button", { name: "Create the token" }).click();
  await page.waitForURL(`${svc.api.url}/login?next=%2Fsettings`);
  await submit(page, email, "another password");
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await close();
});

const ELSEWHERE = [
  ...[
    "https://evil.example/",
    "//evil.example",
    "/\\evil.example",
    "/\t/evil.example",
    "javascript:alert(1)",
  ],
  ...[
    "///evil.example",
    "https:///evil.example",
    "\\\\evil.example",
    "/\\/evil.example",
    "\\/\\/evil.example",
  ],
  ...["/\n/evil.example", "\t//evil.example", " //evil.example", "http:evil.example", "http:/evil.example"],
  ...["//evil.example:80", "//user@evil.example", "JaVaScRiPt:alert(1)", "data:text/html,x", "blob:x"],
  ...["evil.example", "@evil.example", "/\r\n/evil.example", "\u0000//evil.example", ""],
];

test("redirects only to pages of this server", async () => {
  const here = "https://svc.example.com";
  for (const next of ELSEWHERE) expect(nextPage(`next=${encodeURIComponent(next)}`, here)).toBe("/");
  for (const next of ["/settings?a=b#c", "/ /evil.example", "/%2F/evil.example", "/.//evil.example"]) {
    const page = nextPage(`next=${encodeURIComponent(next)}`, here);
    expect([page, new URL(page, here).origin]).toEqual([next, here]);
  }

  const { page, faults, close } = await svc.openAs(FIRST, "/");
  for (const next of [...ELSEWHERE.slice(0, 5), "/.//evil.example", "/settings?a=b#c"]) {
    await page.goto(`${svc.api.url}/login?next=${encodeURIComponent(next)}`);
    await page.waitForURL((url) => url.pathname !== "/login");
    expect([next, new URL(page.url()).origin]).toEqual([next, svc.api.url]);
  }
  await page.waitForURL(`${svc.api.url}/settings?a=b#c`);
  expect(faults()).toEqual([]);
  await close();
});
