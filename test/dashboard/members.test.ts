import { beforeAll, expect } from "bun:test";
import { CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const GUEST = "guest@example.com";

/** The first user's account. */
let account: string;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  account = (await svc.api.call("GET", "/v1/accounts/me")).body.accounts[0].account_id;
  await svc.api.call("POST", "/v1/projects", { body: { name: "Shared" } });
});

const here = () => `/accounts/${account}`;
const members = async (): Promise<{ email: string; role: string }[]> =>
  (await svc.api.call("GET", `/v1/accounts/${account}/members`)).body.members;
const roleOf = async (email: string) => (await members()).find((member) => member.email === email)?.role;

test("an invited person joins in their own browser, and sees the account's projects", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, here());
  await page.getByLabel("E-mail").fill("new@example.com");
  await page.getByLabel("Role", { exact: true }).selectOption("admin");
  await page.getByRole("button", { name: "Create an invitation" }).click();
  await page.getByText("Send this link to").waitFor();
  const link = new URL((await page.locator("code", { hasText: "/welcome?token=" }).textContent()) ?? "");
  await page.getByRole("button", { name: "Revoke the invitation of new@example.com" }).waitFor();

  const guest = await svc.open(link.pathname + link.search);
  await guest.page.getByText("as admin to work in its projects").waitFor();
  expect(await guest.page.getByLabel("E-mail").inputValue()).toBe("new@example.com");
  expect(await guest.page.getByLabel("E-mail").getAttribute("readonly")).not.toBeNull();
  await guest.page.getByLabel("Your name").fill("New One");
  await guest.page.getByLabel("Password").fill("long enough for now");
  await guest.page.getByRole("button", { name: "Join" }).click();
  await guest.page.getByRole("link", { name: "Shared", exact: true }).waitFor();
  expect(await roleOf("new@example.com")).toBe("admin");

  await page.reload();
  await page.getByText("New One").waitFor();
  expect(await page.getByRole("button", { name: "Revoke the invitation of new@example.com" }).count()).toBe(
    0,
  );
  await guest.page.goto(link.href.replace(link.origin, svc.api.url));
  await guest.page.getByText("has been used or has expired").waitFor();
  expect([...faults(), ...guest.faults()]).toEqual([]);
  await Promise.all([close(), guest.close()]);
});

test("an existing user joins as themselves; links for others and withdrawn links are rejected", async () => {
  const { page, close } = await svc.openAs(FIRST, here());
  const invite = async (email: string) => {
    await page.getByLabel("E-mail").fill(email);
    await page.getByRole("button", { name: "Create an invitation" }).click();
    await page.getByLabel("E-mail").and(page.locator('[value=""]')).waitFor();
    const code = page.locator("code", { hasText: "/welcome?token=" });
    const link = new URL((await code.textContent()) ?? "");
    await page.reload();
    return link.pathname + link.search;
  };
  const [forAnother, withdrawn, open] = [
    await invite("another@example.com"),
    await invite("never@example.com"),
    await invite(""),
  ];
  await page.getByRole("button", { name: "Revoke the invitation of never@example.com" }).click();
  await page.getByText("never@example.com").waitFor({ state: "detached" });

  const guest = await svc.openAs(GUEST, forAnother);
  await guest.page.getByRole("button", { name: "Join", exact: true }).click();
  await guest.page.getByText(`you are signed in as ${GUEST}. Sign out first.`).waitFor();
  await guest.page.goto(svc.api.url + withdrawn);
  await guest.page.getByText("has been used or has expired").waitFor();
  await guest.page.goto(svc.api.url + open);
  await guest.page.getByText(`You are signed in as ${GUEST}.`).waitFor();
  await guest.page.getByRole("button", { name: "Join", exact: true }).click();
  await guest.page.getByRole("link", { name: "Shared", exact: true }).waitFor();
  expect(await roleOf(GUEST)).toBe("member");
  // several accounts now: one may be looked at alone
  await guest.page.getByLabel("Account").selectOption({ label: "guest" });
  await guest.page.getByText("No projects yet").waitFor();
  expect(guest.faults()).toEqual([]);
  await Promise.all([close(), guest.close()]);
});

test("changes roles; the last owner cannot be changed", async () => {
  const owner = await svc.openAs(FIRST, here());
  await owner.page.getByLabel("Role of first").selectOption("member");
  await owner.page.getByText("An account must have an owner. Make another member an owner first.").waitFor();
  expect(await owner.page.getByLabel("Role of first").inputValue()).toBe("owner");
  await owner.page.getByRole("button", { name: "Leave" }).click();
  await owner.page.getByRole("button", { name: "Leave the account" }).click();
  await owner.page.getByRole("dialog").getByText("An account must have an owner.").waitFor();
  await owner.page.keyboard.press("Escape");

  const guest = await svc.openAs(GUEST, here());
  await guest.page.getByText("You", { exact: true }).waitFor();
  expect(await guest.page.getByLabel(/^Role of/).count()).toBe(0);
  expect(await guest.page.getByRole("heading", { name: "Invitations" }).count()).toBe(0);
  await guest.page.goto(`${svc.api.url}/projects/shared/settings`);
  await guest.page.getByText("Only an owner or an admin of the account can delete it.").waitFor();

  await owner.page.getByLabel("Role of guest").selectOption("admin");
  while ((await roleOf(GUEST)) !== "admin") await Bun.sleep(20);
  await guest.page.goto(svc.api.url + here());
  await guest.page.getByRole("heading", { name: "Invitations" }).waitFor();
  await guest.page.getByLabel("Role of New One").waitFor();
  expect(await guest.page.getByLabel("Role of first").count()).toBe(0);
  expect(await guest.page.getByLabel("Role of New One").locator("option").allTextContents()).toEqual([
    "Admin",
    "Member",
  ]);

  await owner.page.getByRole("button", { name: "Remove New One" }).click();
  await owner.page.getByRole("button", { name: "Remove the member" }).click();
  await owner.page.getByLabel("Role of New One").waitFor({ state: "detached" });
  await guest.page.getByRole("button", { name: "Leave" }).click();
  await guest.page.getByRole("button", { name: "Leave the account" }).click();
  await guest.page.getByText("No projects yet").waitFor();
  expect((await members()).map(({ email }) => email)).toEqual([FIRST]);
  expect([...owner.faults(), ...guest.faults()]).toEqual([]);
  await Promise.all([owner.close(), guest.close()]);
});

test("renames an account", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, here());
  await page.getByLabel("Name", { exact: true }).fill("The team");
  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: "The team", level: 1 }).waitFor();
  expect((await svc.api.call("GET", "/v1/accounts/me")).body.accounts[0].name).toBe("The team");
  expect(faults()).toEqual([]);
  await close();
});
