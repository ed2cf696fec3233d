import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
/** The TXT records of every name. */
let records: string[] = [];
const svc = startDashboard({ deps: { txtRecords: async () => records } });
const remote = new Remote();
const HOSTILE = "<img src=x onerror=alert(1)>\u202emoc.elgoog";

const manifest = (dir: string, access = "members") =>
  `svc_version = 1\n[[apps]]\npreviews = true\naccess = "${access}"\nslug = "site"\nname = ${JSON.stringify(HOSTILE)}\nstatic = { dir = "${dir}" }\n`;

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { "svc.toml": manifest("public"), "public/index.html": "<h1>Served</h1>" });
  await svc.api.call("POST", "/v1/projects", { body: { name: "Empty" } });
  await svc.api.project(remote.url, { name: "Shop" });
  await until("the site is live", async () => (await state()) === "live");
});
afterAll(() => remote.remove());

const app = async () => (await svc.api.call("GET", "/v1/projects/shop/apps/site")).body;
const state = async () => (await app())?.app?.state;

test("a project without apps shows the next step", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/empty/apps");
  await page.getByText("No apps yet").waitFor();
  await page.getByText("svc validate").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("lists, shows, deploys, stops and opens apps", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/apps");
  await page.getByRole("link", { name: "onerror" }).click();
  await page.getByRole("heading", { name: "onerror" }).waitFor();
  await page.getByText("Deployment 1", { exact: true }).waitFor();
  await page.getByText("Live", { exact: true }).first().waitFor();

  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByText("Deployment 2", { exact: true }).waitFor();
  await page.getByText("Replaced", { exact: true }).waitFor();

  const opened = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Open the app" }).click();
  const tab = await opened;
  await tab.getByRole("heading", { name: "Served" }).waitFor();
  expect(new URL(tab.url()).host).toStartWith("site--shop.localhost");
  expect(tab.url()).not.toContain("token");
  await tab.close();

  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.getByRole("button", { name: "Stop the app" }).click();
  await page.getByText("Stopped", { exact: true }).first().waitFor();
  expect(await state()).toBe("stopped");
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByText("Deployment 3", { exact: true }).waitFor();
  await until("it is live again", async () => (await state()) === "live");
  expect(faults()).toEqual([]);
  await close();
});

test("shows what a deployment changed, and rolls back", async () => {
  remote.commit("main", { "public/index.html": "<h1>Broken</h1>" });
  await svc.api.call("POST", "/v1/projects/shop/apps/site/deploy");
  await until("it is live", async () => (await app()).app.live?.number === 4 && (await state()) === "live");
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/apps/site");
  await page.getByRole("button", { name: "Log of deployment 4" }).click();
  await page.getByRole("button", { name: "Show changes" }).click();
  await page.getByText("+<h1>Broken</h1>").waitFor();
  await page.getByRole("button", { name: "Roll back to deployment 3" }).click();
  await page.getByRole("button", { name: "Roll back", exact: true }).click();
  await page.getByText("rollback to 3").waitFor();
  await page.getByText("This app was rolled back.").waitFor();
  expect((await app()).app.auto_deploy).toBe(false);
  expect(await barriers(page)).toEqual([]);
  await page.getByRole("button", { name: "Deploy", exact: true }).click();
  await page.getByText("This app was rolled back.").waitFor({ state: "detached" });
  await until("it is live", async () => (await state()) === "live");
  expect(faults()).toEqual([]);
  await close();
});

test("a change request shows its preview, opens it, deploys it again, and says why it fails", async () => {
  const push = async (files: Record<string, string>) => {
    remote.commit("preview", files, { from: remote.has("preview") ? "preview" : "main" });
    await svc.api.call("PATCH", "/v1/projects/shop", { body: { default_branch: "main" } });
  };
  await push({ "public/index.html": "<h1>Previewed</h1>" });
  const cr = { title: "Preview", head_ref: "preview" };
  await svc.api.call("POST", "/v1/projects/shop/change-requests", { body: cr });
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/change-requests/1");
  const previews = page.getByRole("region", { name: "Previews" });
  await previews.getByText("onerror").waitFor();
  await previews.getByText("Live", { exact: true }).waitFor();
  const opened = page.context().waitForEvent("page");
  await previews.getByRole("button", { name: "Open site" }).click();
  const tab = await opened;
  await tab.getByRole("heading", { name: "Previewed" }).waitFor();
  expect(new URL(tab.url()).host).toStartWith("site-cr1-");
  await tab.close();

  const number = async () => {
    const { body } = await svc.api.call("GET", "/v1/projects/shop/change-requests/1/apps/site");
    return body.app.live?.number;
  };
  await previews.getByRole("button", { name: "Redeploy site" }).click();
  await until("it is deployed again", async () => (await number()) === 2);
  await push({ "svc.toml": manifest("nowhere") });
  await previews.getByText("The site's folder nowhere does not exist").waitFor();
  expect(await barriers(page)).toEqual([]);
  await svc.api.call("POST", "/v1/projects/shop/change-requests/1/close");
  await previews.waitFor({ state: "detached" });
  expect(faults()).toEqual([]);
  await close();
});

test("adds, verifies and removes a domain of a public app", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/apps/site");
  await page.getByText("Deployment 1", { exact: true }).waitFor();
  expect(await page.getByRole("heading", { name: "Domains" }).count()).toBe(0);
  remote.commit("main", { "svc.toml": manifest("public", "public") });
  await svc.api.call("PATCH", "/v1/projects/shop", { body: { default_branch: "main" } });
  await page.getByText("public: everybody can open it").waitFor();
  await page.getByRole("button", { name: "Add a domain" }).click();
  const name = page.getByRole("textbox", { name: "Domain" });
  await name.fill("localhost");
  await page.getByRole("button", { name: "Add the domain" }).click();
  await page.getByText('"localhost" is not a domain name').waitFor();
  await name.fill("www.example.com");
  await page.getByRole("button", { name: "Add the domain" }).click();
  await page.getByText("Waits for its record").waitFor();
  await page.getByText("_svc-challenge.www.example.com").waitFor();
  expect(await barriers(page)).toEqual([]);
  records = [(await page.getByText("svc-verify=").textContent()) ?? ""];
  await page.getByRole("button", { name: "Verify www.example.com" }).click();
  await page.getByText("Proven", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Remove www.example.com" }).click();
  await page.getByRole("button", { name: "Remove the domain" }).click();
  await page.getByText("This app has no domain of its own.").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("shows the reason of a failure on both pages, without a reload", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/projects/shop/apps/site");
  await page.getByRole("heading", { name: "onerror" }).waitFor();
  remote.commit("main", { "svc.toml": manifest("nowhere") });
  await svc.api.call("PATCH", "/v1/projects/shop", { body: { default_branch: "main" } });
  await page.getByText("The site's folder nowhere does not exist").first().waitFor();
  await page.getByText("Failed", { exact: true }).waitFor();
  expect(faults()).toEqual([]);
  await close();
});
