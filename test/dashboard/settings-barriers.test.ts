import { afterAll, beforeAll, expect } from "bun:test";
import {
  barriers,
  CHROMIUM,
  colourFindings,
  DESKTOP,
  overflow,
  PHONE,
  picture,
  TAKES_PICTURES,
} from "../helpers/browser.ts";
import { startDashboard } from "../helpers/dashboard.ts";
import { runGit } from "../helpers/git-repo.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { Remote } from "../helpers/remote.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
const ADA = "ada@example.com";

interface Shown {
  path: string;
  heading: string;
  /** What comes last. */
  last: string;
  /** What its picture is called, if it has one. */
  name?: string;
}

const shown: Shown[] = [
  { path: "/", heading: "Home", last: "Mobile app" },
  { path: "/new", heading: "New project", last: "Create the project" },
  { path: "/settings", heading: "Settings", last: "Laptop", name: "settings" },
  { path: "/projects/shop/secrets", heading: "Secrets", last: "SENTRY_DSN", name: "secrets" },
  { path: "/projects/shop/settings", heading: "Settings", last: "Nightly checks" },
  { path: "/projects/shop/nothing", heading: "Page not found", last: "All projects" },
];

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", {
    "svc.toml":
      'svc_version = 1\n[env]\nrequired = ["ANTHROPIC_API_KEY", "STRIPE_KEY"]\noptional = ["REGION"]\n',
  });
  const { api } = svc;
  const token = await api.mint(ADA);
  const post = async (path: string, body: object) => (await api.call("POST", path, { body, token })).body;
  const many = "A project whose name is as long as people sometimes make them, and a little longer than that";
  for (const name of ["Website", "Mobile app", many]) await post("/v1/projects", { name });
  const { project_id } = await post("/v1/projects", { name: "Shop" });
  const address = new URL(`/v1/git/${project_id}.git`, api.url);
  const credential = `Authorization: Basic ${btoa(`x-access-token:${token}`)}`;
  const push = ["-c", `http.extraHeader=${credential}`, "push", "--quiet", address.href, "main"];
  await runGit(remote.path, push);
  for (const name of ["ANTHROPIC_API_KEY", "SENTRY_DSN"])
    await post("/v1/projects/shop/secrets", { name, value: "x" });
  await post("/v1/accounts/tokens", { name: "Laptop" });
  await post("/v1/accounts/tokens", { name: "CI", expires_at: new Date(Date.now() + 3e9).toISOString() });
  await post("/v1/projects/shop/cli-token", { name: "Nightly checks" });
  const { accounts } = (await api.call("GET", "/v1/accounts/me", { token })).body;
  const account = `/accounts/${accounts[0].account_id}`;
  for (const [name, role] of [
    ["Grace Hopper", "admin"],
    ["Edsger W. Dijkstra", "member"],
  ] as const) {
    const email = `${name.split(" ")[0]?.toLowerCase()}@example.com`;
    const { url } = await post(`/v1${account}/invitations`, { role, email });
    const body = { token: new URL(url).searchParams.get("token"), name, password: "as long as it has to be" };
    await api.call("POST", "/v1/auth/link", { body, token: null, headers: { "X-Svc-Dashboard": "1" } });
  }
  await post(`/v1${account}/invitations`, { role: "member", email: "barbara@example.com" });
  shown.push({ path: account, heading: "ada", last: "barbara@example.com", name: "members" });
});
afterAll(() => remote.remove());

test("all pages are accessible: on a desktop, on a phone, in the dark", async () => {
  const { page, faults, close } = await svc.openAs(ADA, "/");
  const label = "svc on ada-laptop";
  const asked = await svc.api.call("POST", "/v1/auth/device", {
    body: { label, client_id: "svc/0.1.0" },
    token: null,
  });
  const path = `/cli/authorize?code=${asked.body.user_code}`;
  const all: Shown[] = [
    ...shown,
    { path, heading: "Sign in this terminal?", last: label, name: "authorize" },
  ];
  // every page is looked at in `every-page`: here they have other data, and some are in the documentation
  for (const { path, heading, last, name } of TAKES_PICTURES ? all : sample(3, all)) {
    await page.setViewportSize(DESKTOP);
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(svc.api.url + path);
    await page.getByRole("heading", { name: heading, level: 1, exact: true }).waitFor();
    await page.getByText(last, { exact: true }).first().waitFor();
    expect([path, await barriers(page)]).toEqual([path, []]);
    expect([path, await overflow(page)]).toEqual([path, 0]);
    if (name) await picture(page, `${name}-desktop`);
    await page.setViewportSize(PHONE);
    expect([path, await overflow(page)]).toEqual([path, 0]);
    if (name) await picture(page, `${name}-phone`);
    await page.emulateMedia({ colorScheme: "dark" });
    expect([path, await colourFindings(page)]).toEqual([path, []]);
  }
  expect(faults()).toEqual([]);
  await close();
});

test("the settings of a project on a git host are accessible", async () => {
  const body = { name: "Hosted elsewhere", repo_url: remote.url };
  await svc.api.call("POST", "/v1/projects", { body, token: await svc.api.mint(ADA) });
  const { page, faults, close } = await svc.openAs(ADA, "/projects/hosted-elsewhere/settings", {
    size: PHONE,
  });
  await page.getByRole("button", { name: "Change the address" }).waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test("all dialogs are accessible, also in the dark, and fit the window of a phone", async () => {
  const { page, faults, close } = await svc.openAs(ADA, "/settings", { size: PHONE });
  const asks: [path: string, button: string, focused: string][] = [
    ["/settings", "New token", "Token name"],
    ["/settings", "Revoke Laptop", "Cancel"],
    ["/projects/shop/secrets", "New secret", "Name"],
    ["/projects/shop/secrets", "Remove SENTRY_DSN", "Cancel"],
    ["/projects/shop/settings", "Delete the project …", "Type shop to confirm"],
  ];
  for (const [path, button, focused] of sample(3, asks)) {
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(svc.api.url + path);
    const opener = page.getByRole("button", { name: button, exact: true });
    await opener.click();
    const dialog = page.getByRole("dialog");
    await dialog.waitFor();
    const first = dialog
      .getByRole("textbox", { name: focused, exact: true })
      .or(dialog.getByRole("button", { name: focused, exact: true }));
    expect([button, await first.evaluate(hasFocus)]).toEqual([button, true]);
    expect([button, await barriers(page)]).toEqual([button, []]);
    expect([button, await overflow(page)]).toEqual([button, 0]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect([button, await colourFindings(page)]).toEqual([button, []]);
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect([button, await opener.evaluate(hasFocus)]).toEqual([button, true]);
  }
  expect(faults()).toEqual([]);
  await close();
});

const hasFocus = (element: Element) => element === document.activeElement;

test("Escape discards what was typed into a dialog only when it is pressed twice", async () => {
  const { page, close } = await svc.openAs(ADA, "/settings");
  await page.getByRole("button", { name: "New token", exact: true }).click();
  const dialog = page.getByRole("dialog");
  const warning = dialog.getByText("Press Escape again to discard what you have typed.");
  await page.keyboard.type("a b");
  await page.keyboard.press("Escape");
  await warning.waitFor();
  await page.keyboard.type("c");
  await warning.waitFor({ state: "detached" });
  expect(await dialog.getByLabel("Token name").inputValue()).toBe("a bc");
  await page.keyboard.press("Escape");
  await warning.waitFor();
  expect(await dialog.count()).toBe(1);
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  // it opens again, and without what was discarded
  await page.keyboard.press("Enter");
  expect(await dialog.getByLabel("Token name").inputValue()).toBe("");
  await close();
});
