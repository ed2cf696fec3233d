import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM } from "../helpers/browser.ts";
import { connectMcp } from "../helpers/mcp.ts";
import { needs } from "../helpers/needs.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";
import { until } from "../helpers/until.ts";

// a browser on a busy machine
const test = needs(...CHROMIUM);

const MANIFEST = `svc_version = 1
[[connectors]]
slug = "hub"
type = "http"
url = "https://127.0.0.1"
[[connectors.policies]]
match = "POST *"
action = "ask"
`;

let pages: SessionPages;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  pages = await startSessionPages();
  const commit = pages.remote.commit("main", { "svc.toml": MANIFEST });
  const project = `/v1/projects/${pages.projectId}`;
  await pages.api.call("PATCH", project, { body: { name: "Example" } });
  await until(
    "the manifest is in force",
    async () => (await pages.api.call("GET", `${project}/triggers`)).body.commit === commit,
  );
});
afterAll(() => pages?.stop());

test("a call that needs an approval appears on its session's page, and is answered there", async () => {
  const [own, other] = [await pages.running(), await pages.running()];
  const agentOf = async (session: string) => {
    const token = pages.provider.sandboxes.get(session)?.environment["SVC_EXECUTOR_TOKEN"];
    return await connectMcp(pages.api.url, token ?? "");
  };
  const agent = await agentOf(own.session_id);
  const send = (text: string) => agent.call("hub_request", { method: "POST", path: "/a", body: { text } });
  const { page, faults, close } = await pages.open(`/sessions/${own.session_id}`);
  const region = page.getByRole("region", { name: "Calls that need your approval" });
  await page.getByRole("region", { name: "Conversation" }).waitFor();
  expect(await region.count()).toBe(0);

  const others = (await agentOf(other.session_id)).call("hub_request", { method: "POST", path: "/other" });
  const first = send("<b>one\u202e</b>");
  await region.getByText("POST /a").waitFor();
  // as text, with what is invisible shown
  await region.getByText("<b>oneU+202E</b>").waitFor();
  expect(await region.getByText("/other").count()).toBe(0);
  expect(await barriers(page)).toEqual([]);
  await region.getByRole("button", { name: "Deny" }).click();
  expect((await first).value).toMatchObject({ code: "tool_denied" });
  await region.waitFor({ state: "detached" });

  const second = send("two");
  await region.getByRole("button", { name: "Approve" }).click();
  // it was let through, to an address that is not allowed
  expect((await second).value).toMatchObject({ code: "url_not_allowed" });
  await region.waitFor({ state: "detached" });
  expect(faults()).toEqual([]);
  await close();

  const asks = `/v1/projects/${pages.projectId}/connector-asks`;
  const [waiting] = (await pages.api.call("GET", `${asks}?state=pending`)).body.asks;
  await pages.api.call("POST", `${asks}/${waiting.ask_id}/answer`, { body: { answer: "deny" } });
  await others;
});
