import { afterAll, expect } from "bun:test";
import type { Page } from "playwright-core";
import { CHROMIUM, untilCount } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
remote.commit("main", { a: "1\n" });
remote.commit("next", { a: "2\n" }, { from: "main" });
afterAll(() => remote.remove());

const make = (page: Page) => page.getByRole("button", { name: "Create the project" }).click();

test("without projects, explains how to create one there and on the command line", async () => {
  const { page, faults, close } = await svc.openAs("nobody@example.com", "/");
  await page.getByText("No projects yet").waitFor();
  await page.getByText('svc projects new --repo "$(git remote get-url origin)" --link').waitFor();
  await page.getByRole("link", { name: "here", exact: true }).click();
  await page.getByRole("heading", { name: "New project" }).waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("a page whose code failed to load is shown once the network is back", async () => {
  const { page, close } = await svc.openAs(FIRST, "/");
  await page.getByRole("heading", { level: 1 }).waitFor();
  const refused: string[] = [];
  await page.route("**/assets/*.js", (route, request) => {
    // until one was asked for twice
    if (new Set(refused).size < refused.length) return route.continue();
    refused.push(request.url());
    return route.abort("internetdisconnected");
  });
  await page.getByRole("link", { name: "New project" }).click();
  await page.getByLabel("Address of the repository").waitFor({ timeout: 20_000 });
  expect(refused.length).toBeGreaterThan(1);
  await close();
});

test("creates a project from a repository's URL, named after it, and shows the next commands", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/new");
  await page.getByLabel("Address of the repository").fill(remote.url);
  await make(page);
  await page.getByRole("heading", { name: "repo is ready" }).waitFor();
  const start = await page.getByRole("link", { name: "Start an agent" }).getAttribute("href");
  expect(start).toBe("/projects/repo/sessions/new");
  const commands = await page.locator("code").allInnerTexts();
  expect(commands).toEqual([
    `svc login --api ${svc.api.url}/v1`,
    "svc projects link repo",
    'svc sessions new --prompt "Fix the login page"',
  ]);
  await page.getByRole("link", { name: "Open the project" }).click();
  await page.waitForURL("**/projects/repo**");
  const { body } = await svc.api.call("GET", "/v1/projects/repo");
  expect(body).toMatchObject({ name: "repo", repo_url: remote.url, default_branch: "main", managed: false });
  expect(faults()).toEqual([]);
  await close();
});

test("creates a project that svc hosts, with the keyboard only", async () => {
  const { page, faults, close } = await svc.open("/login");
  await svc.openAs(FIRST, "/").then(({ close }) => close());
  await page.getByLabel("E-mail").waitFor();
  const type = async (name: string, text: string) => {
    await tabTo(page, name);
    await page.keyboard.type(text);
  };
  await type("E-mail", FIRST);
  await type("Password", "correct horse battery staple");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Projects", exact: true }).waitFor();
  await tabTo(page, "New project");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "New project" }).waitFor();
  await tabTo(page, /^On a git host/);
  await page.keyboard.press("ArrowDown");
  await type("Name", "By hand");
  await type("Default branch", "trunk");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "By hand is ready" }).waitFor();
  const { body } = await svc.api.call("GET", "/v1/projects/by-hand");
  expect(body).toMatchObject({ name: "By hand", default_branch: "trunk", managed: true });
  expect(faults()).toEqual([]);
  await close();
});

test("invalid input is an error at its field, and nothing is stored", async () => {
  const { page, close } = await svc.openAs(FIRST, "/new");
  const count = async () => (await svc.api.call("GET", "/v1/projects")).body.projects.length;
  const before = await count();
  await page.getByLabel("Name", { exact: true }).fill("Refused");
  for (const [url, branch, label, words] of [
    ["file:///nowhere/at/all.git", "", "Address of the repository", /repository/],
    ["ext::sh -c x", "", "Address of the repository", /address|repo_url|URL/i],
    [remote.url, "gone", "Default branch", /no branch "gone"/],
    [remote.url, "-x", "Default branch", /branch/],
  ] as const) {
    await page.getByLabel("Address of the repository").fill(url);
    await page.getByLabel("Default branch").fill(branch);
    await make(page);
    const field = page.getByLabel(label).and(page.locator("[aria-invalid=true]"));
    await field.waitFor();
    await untilCount(page.locator("[aria-invalid=true]"), 1);
    const notes = (await field.getAttribute("aria-describedby"))?.split(" ") ?? [];
    expect(await page.locator(`[id="${notes.at(-1)}"]`).textContent()).toMatch(words);
  }
  expect(await count()).toBe(before);
  await close();
});

test("a credential is hidden while it is typed, and never shown", async () => {
  const { page, close } = await svc.openAs(FIRST, "/new");
  await page.getByText("Credential for a private repository").click();
  const field = page.getByLabel("Token, password or private key");
  await field.fill("very-secret-token");
  const look = () =>
    field.evaluate((element) => Reflect.get(getComputedStyle(element), "webkitTextSecurity"));
  expect(await look()).toBe("disc");
  await page.getByLabel("Show what I type").check();
  expect(await look()).toBe("none");
  await page.getByLabel("Address of the repository").fill(remote.url);
  await page.getByLabel("Name", { exact: true }).fill("Private");
  await make(page);
  await page.getByRole("heading", { name: "Private is ready" }).waitFor();
  await page.goto(`${svc.api.url}/projects/private/settings`);
  await page.getByLabel("Address on its git host").waitFor();
  expect(await page.content()).not.toContain("very-secret-token");
  await close();
});

test("filters projects by text and account", async () => {
  const email = "many@example.com";
  const token = await svc.api.mint(email);
  for (const name of ["Alpha", "Beta", "Gamma", "Delta", "Shop front", "Shop back", "Omega"])
    await svc.api.call("POST", "/v1/projects", { body: { name }, token });
  const { page, faults, close } = await svc.openAs(email, "/");
  await page.getByLabel("Find a project").fill("SHOP back");
  await page.getByRole("link", { name: "Shop front" }).waitFor({ state: "detached" });
  await untilCount(page.getByRole("main").getByRole("listitem"), 1);
  await page.getByLabel("Find a project").fill("none like this");
  await page.getByText("No project matches your search.").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

/** Presses Tab until the control with this name has the focus, as who has no mouse does. */
async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const wanted = page.getByLabel(name).or(page.getByRole("link", { name })).first();
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab");
    if (await wanted.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`the keyboard does not come to ${name}`);
}
