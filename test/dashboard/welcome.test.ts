import { expect } from "bun:test";
import type { Page } from "playwright-core";
import { sendAdminCommand } from "../../src/edge/admin/socket.ts";
import { barriers, CHROMIUM, overflow, PHONE, untilCount } from "../helpers/browser.ts";
import { openBrowser, PASSWORD } from "../helpers/cookie-browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard({ env: { SVC_SIGN_UP: "open" } });

/** A link's page at the address by which the tests reach the server. */
const pageOf = (link: string | null) => new URL(link ?? "").pathname + new URL(link ?? "").search;
const signInStatus = async (email: string, password: string) =>
  (await openBrowser(svc.api).call("POST", "/v1/auth/sign-in", { body: { email, password } })).status;

async function fill(page: Page, fields: Record<string, string>): Promise<void> {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
}

test("the first user signs in with the printed link, which works once", async () => {
  const path = pageOf(svc.api.firstUserLink);
  const { page, faults, close } = await svc.open(path);
  await page.getByText("You are the first user of this server.").waitFor();
  await fill(page, { "Your name": "Ada L.", "E-mail": "ada@example.com", Password: "short" });
  await page.getByRole("button", { name: "Create the user" }).click();
  expect(await page.getByLabel("Password").evaluate((field) => field.matches(":invalid"))).toBe(true);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Create the user" }).click();
  await page.getByText("No projects yet").waitFor();
  expect(page.url()).toBe(`${svc.api.url}/`);
  await page.getByText("Ada L.").waitFor();
  expect(await signInStatus("ada@example.com", PASSWORD)).toBe(200);
  await page.goto(svc.api.url + path);
  await page.getByText("svc-api admin link --email").waitFor();
  await untilCount(page.getByRole("link", { name: "Go to your projects" }), 1);
  expect(faults()).toEqual([]);
  await close();
});

test("a password link sets the password, once, and signs in", async () => {
  const link = await sendAdminCommand(svc.api.dataDir, { verb: "link", email: FIRST });
  const { page, faults, close } = await svc.open(pageOf(link), { size: PHONE });
  await page.getByText(`For ${FIRST}.`).waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  await page.getByLabel("New password").fill("chosen by a link");
  await page.getByRole("button", { name: "Set the password" }).click();
  await page.getByRole("heading", { name: "Projects", exact: true }).waitFor();
  expect(await signInStatus(FIRST, "chosen by a link")).toBe(200);
  expect(faults()).toEqual([]);
  await close();
});

test.each([
  ["of no token", "/welcome", "The link is incomplete"],
  ["of an unknown token", "/welcome?token=svc_ln_unknown", "has been used or has expired"],
  ["of markup", "/welcome?token=%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E", "has been used or has expired"],
])("a link %s shows the next step", async (_, path, words) => {
  const { page, faults, close } = await svc.open(path);
  await page.getByRole("alert").getByText(words).waitFor();
  await page.getByRole("link", { name: "Sign in" }).click();
  await page.getByLabel("E-mail").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("with open sign-up, a user signs up, and an existing address is an error", async () => {
  const { page, faults, close } = await svc.open("/login?next=%2Fsettings");
  await page.getByRole("link", { name: "Create an account" }).click();
  await fill(page, { "Your name": "Grace", "E-mail": "ada@example.com", Password: PASSWORD });
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByText("A user with this e-mail address already exists.").waitFor();
  expect(await barriers(page)).toEqual([]);
  await fill(page, { "E-mail": "grace@example.com" });
  await page.getByRole("button", { name: "Create the account" }).click();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await page.locator("dd", { hasText: "grace@example.com" }).waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("changing a password requires the current one, and signs out other browsers", async () => {
  const email = "changes@example.com";
  const other = await svc.openAs(email, "/settings");
  const { page, faults, close } = await svc.openAs(email, "/settings");
  const change = page.getByRole("button", { name: "Change the password" });
  await fill(page, { "Current password": "wrong", "New password": "another password" });
  await change.click();
  await page.getByText("The current password is wrong.").waitFor();
  await fill(page, { "Current password": PASSWORD });
  await change.click();
  await page.getByText("Changed").waitFor();
  await page.reload();
  await page.getByRole("heading", { name: "Settings" }).waitFor();
  await other.page.reload();
  await other.page.getByRole("heading", { name: "Sign in to svc" }).waitFor();
  expect(await signInStatus(email, "another password")).toBe(200);
  expect([...faults(), ...other.faults()]).toEqual([]);
  await Promise.all([close(), other.close()]);
});
