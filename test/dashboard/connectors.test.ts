import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM, DESKTOP, overflow, PHONE } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { startOauthService } from "../helpers/oauth-service.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard({ env: { SVC_ALLOW_PRIVATE_ADDRESSES: "1", SVC_ALLOW_PRIVATE_REPOS: "1" } });
const service = startOauthService();
const remote = new Remote();
let settings = "";

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  const commit = remote.commit("main", {
    "svc.toml": `svc_version = 1
[[connectors]]
slug = "hub"
type = "mcp"
url = "${service.url}/mcp"
auth = "oauth"
[[connectors]]
slug = "plain"
type = "mcp"
url = "${service.url}/mcp"
auth = "PLAIN_TOKEN"
`,
  });
  const { project_id: id, slug } = await svc.api.project(remote.url);
  settings = `/projects/${slug}/settings`;
  await until(
    "the manifest is in force",
    async () => (await svc.api.call("GET", `/v1/projects/${id}/triggers`)).body.commit === commit,
  );
});
afterAll(async () => {
  await service.stop();
  remote.remove();
});

test("connects a connector by the page of its service, and disconnects it", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, settings);
  await page.route(`${service.url}/authorize*`, async (route) => {
    const back = service.consent(route.request().url());
    // where this browser is signed in
    back.host = new URL(svc.api.url).host;
    await route.fulfill({ status: 302, headers: { Location: back.href } });
  });
  const section = page.getByRole("region", { name: "Connectors" });
  await section.getByText("Not connected").waitFor();
  await section.getByText("Secret not set").waitFor();
  await section.getByRole("button", { name: "Connect hub" }).click();
  await page.getByText("hub is connected").waitFor();
  await page.getByRole("link", { name: "Settings" }).last().click();
  await section.getByText("connected by").waitFor();
  await section.getByRole("button", { name: "Disconnect hub" }).click();
  await section.getByText("Not connected").waitFor();
  expect(faults()).toEqual([expect.stringContaining(`asked: ${service.url}/authorize?`)]);
  await close();
});

test("a return without consent, and one that svc did not ask for, connect nothing", async () => {
  const { page, close } = await svc.openAs(FIRST, "/connectors/callback?error=access_denied&state=x");
  await page.getByText("Nothing was connected").waitFor();
  const forged = `${settings.split("/")[2]}.forged`;
  await page.goto(`${svc.api.url}/connectors/callback?state=${forged}&code=stolen`);
  await page.getByText("unknown, was started by another person, or has expired").waitFor();
  expect(service.exchanges.filter(({ form }) => form["code"] === "stolen")).toEqual([]);
  await close();
});

test("the section has no barriers and fits, on a desktop and on a phone", async () => {
  for (const size of [DESKTOP, PHONE]) {
    const { page, close } = await svc.openAs(FIRST, settings, { size });
    await page.getByText("Not connected").waitFor();
    expect([await overflow(page), await barriers(page)]).toEqual([0, []]);
    await close();
  }
});
