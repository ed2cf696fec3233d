import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
const other = new Remote();

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  for (const each of [remote, other]) each.commit("main", { a: "1\n" });
  remote.commit("next", { a: "2\n" }, { from: "main" });
  await svc.api.project(remote.url, { name: "Remote" });
  await svc.api.call("POST", "/v1/projects", { body: { name: "Hosted" } });
});
afterAll(() => {
  remote.remove();
  other.remove();
});

const read = async (slug: string) => (await svc.api.call("GET", `/v1/projects/${slug}`)).body;

test("changes name and default branch; an unknown branch is an error at its field", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/remote/settings");
  const save = page.getByRole("button", { name: "Save" });
  await page.getByLabel("Name", { exact: true }).fill("Renamed");
  await page.getByLabel("Default branch").fill("gone");
  await save.click();
  await page.getByLabel("Default branch").and(page.locator("[aria-invalid=true]")).waitFor();
  expect((await read("remote")).name).toBe("Remote");
  await page.getByLabel("Default branch").fill("next");
  await save.click();
  await page.getByRole("navigation").getByText("Renamed").waitFor();
  expect(await read("remote")).toMatchObject({ name: "Renamed", default_branch: "next" });
  expect(faults()).toEqual([]);
  await close();
});

test("shows changes by others without a reload", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/remote/settings");
  await page.getByLabel("Name", { exact: true }).waitFor();
  await svc.api.call("PATCH", "/v1/projects/remote", { body: { name: "By another" } });
  await page.getByRole("navigation").getByText("By another").waitFor();
  await svc.api.call("PATCH", "/v1/projects/remote", { body: { name: "Renamed" } });
  await page.getByRole("navigation").getByText("Renamed").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("changes the repository's URL and credential, and never shows the credential", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/remote/settings");
  const address = page.getByLabel("Address on its git host");
  await address.fill("file:///nowhere.git");
  await page.getByRole("button", { name: "Change the address" }).click();
  await address.and(page.locator("[aria-invalid=true]")).waitFor();
  await address.fill(other.url);
  await page.getByRole("button", { name: "Change the address" }).click();
  await until("it is changed", async () => (await read("remote")).repo_url === other.url);
  await page.locator("[aria-invalid=true]").waitFor({ state: "detached" });
  await page.getByLabel("Token, password or private key").fill("very-secret-token");
  await page.getByRole("button", { name: "Store the credential" }).click();
  await page.getByText("Stored. It replaces the previous one").waitFor();
  expect(await page.getByLabel("Token, password or private key").inputValue()).toBe("");
  expect(await page.content()).not.toContain("very-secret-token");
  expect(faults()).toEqual([]);
  await close();
});

test("a member can only view the settings of owners and admins", async () => {
  const account = (await svc.api.call("GET", "/v1/accounts/me")).body.accounts[0].account_id;
  const invitation = await svc.api.call("POST", `/v1/accounts/${account}/invitations`, {
    body: { role: "member" },
  });
  const link = new URL(invitation.body.url);
  const { page, faults, close } = await svc.openAs("member@example.com", link.pathname + link.search);
  await page.getByRole("button", { name: "Join", exact: true }).click();
  await page.getByRole("link", { name: "Renamed", exact: true }).waitFor();
  await page.goto(`${svc.api.url}/projects/remote/settings`);
  await page.getByText("can change its address or credential").waitFor();
  await page.getByText(other.url, { exact: true }).waitFor();
  expect(await page.getByLabel("Default branch").isDisabled()).toBe(true);
  expect(await page.getByLabel("Address on its git host").count()).toBe(0);
  await page.getByLabel("Name", { exact: true }).fill("By a member");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("navigation").getByText("By a member").waitFor();
  await svc.api.call("PATCH", "/v1/projects/remote", { body: { name: "Renamed" } });
  expect(faults()).toEqual([]);
  await close();
});

test("the clone URL and the next commands can be copied", async () => {
  const { page, close } = await svc.openAs(FIRST, "/projects/hosted/settings");
  await page.getByText((await read("hosted")).git_url).waitFor();
  await page.getByText("svc projects link hosted").waitFor();
  expect(await page.getByLabel("Address on its git host").count()).toBe(0);
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy the address" }).click();
  await page.getByText("Copied").waitFor();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe((await read("hosted")).git_url);
  await close();
});

test("deleting a project requires typing its name", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/hosted/settings");
  await page.getByRole("button", { name: "Delete the project …" }).click();
  const button = page.getByRole("dialog").getByRole("button", { name: "Delete the project" });
  const field = page.getByLabel("Type hosted to confirm");
  for (const typed of ["", "Hosted", "hoste", "remote"]) {
    await field.fill(typed);
    await page.keyboard.press("Enter");
    expect(await button.isDisabled()).toBe(true);
  }
  expect((await svc.api.call("GET", "/v1/projects/hosted")).status).toBe(200);
  await field.fill("hosted");
  await button.click();
  await page.waitForURL(`${svc.api.url}/`);
  await page.getByRole("link", { name: "Renamed", exact: true }).waitFor();
  expect(await page.getByRole("link", { name: "Hosted" }).count()).toBe(0);
  expect((await svc.api.call("GET", "/v1/projects/hosted")).status).toBe(404);
  expect(faults()).toEqual([]);
  await close();
});

test("a label is created, renamed and deleted, and a name that exists is an error at its field", async () => {
  await svc.api.call("POST", "/v1/projects", { body: { name: "Labelled" } });
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/labelled/settings");
  const labels = page.getByRole("region", { name: "Labels" });
  const all = async () => (await svc.api.call("GET", "/v1/projects/labelled/labels")).body.labels;
  await labels.getByText("No labels yet.").waitFor();
  for (const name of ["bug", "ui"]) {
    await labels.getByRole("button", { name: "New label" }).click();
    await page.getByLabel("Name", { exact: true }).last().fill(name);
    await page.getByLabel("Color").fill("#D73A4A");
    await page.getByRole("button", { name: "Create the label" }).click();
    await labels.getByRole("button", { name: `Edit ${name}` }).waitFor();
  }
  await labels.getByRole("button", { name: "Edit ui" }).click();
  const dialog = page.getByRole("dialog", { name: "Edit ui" });
  await dialog.getByLabel("Name").fill("BUG");
  await dialog.getByLabel("Description").fill("What people see");
  await dialog.getByRole("button", { name: "Save the label" }).click();
  await dialog.getByRole("alert").waitFor();
  await dialog.getByLabel("Name").fill("look");
  await dialog.getByRole("button", { name: "Save the label" }).click();
  await labels.getByText("What people see").waitFor();
  expect(await all()).toEqual([
    { name: "bug", color: "d73a4a", description: null },
    { name: "look", color: "d73a4a", description: "What people see" },
  ]);
  await labels.getByRole("button", { name: "Delete bug" }).click();
  await page.getByRole("button", { name: "Delete the label" }).click();
  await labels.getByRole("button", { name: "Delete bug" }).waitFor({ state: "detached" });
  expect((await all()).length).toBe(1);
  expect(await barriers(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});
