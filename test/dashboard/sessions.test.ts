import { afterAll, beforeAll, expect } from "bun:test";
import type { Session } from "../../src/contract/session.ts";
import { barriers, CHROMIUM } from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";
import { until } from "../helpers/until.ts";

// a browser on a busy machine
const test = needs(...CHROMIUM);

let pages: SessionPages;
beforeAll(async () => {
  if (CHROMIUM[1]) pages = await startSessionPages();
});
afterAll(() => pages?.stop());

test("a project without sessions shows how to start one", async () => {
  const { page, faults, close } = await pages.open("/sessions");
  await page.getByRole("heading", { name: "No sessions yet" }).waitFor();
  expect(await page.locator("code").textContent()).toStartWith("svc sessions new --project ");
  await page.getByRole("link", { name: "New session" }).click();
  await page.getByRole("heading", { name: "New session" }).waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("creates, follows, renames, stops, restarts and deletes a session", async () => {
  const step = Promise.withResolvers<void>();
  pages.provider.onStart = () => step.promise;
  const { page, faults, close } = await pages.open("/sessions/new");
  await page.getByLabel("Prompt").fill("Fix the login page");
  await page.getByLabel("Name").fill("login");
  await page.getByLabel("Base branch").selectOption({ label: "main (default)" });
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByRole("heading", { name: "login", level: 1 }).waitFor();
  await page.locator("li[aria-current=step]", { hasText: "Sandbox" }).waitFor();
  step.resolve();
  await page.getByText("Running", { exact: true }).waitFor();
  pages.provider.onStart = () => {};
  const id = page.url().split("/").at(-1) ?? "";
  expect(await pages.get(id)).toMatchObject({ name: "login", base_ref: "main", status: "running" });
  expect((await pages.call("GET", `/${id}/prompts`)).body.prompts).toMatchObject([
    { text: "Fix the login page" },
  ]);

  await page.getByRole("button", { name: "Rename" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("sign-up");
  await page.getByRole("dialog").getByRole("button", { name: "Rename" }).click();
  await page.getByRole("heading", { name: "sign-up", level: 1 }).waitFor();

  await page.getByRole("button", { name: "Stop" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
  await page.getByText("Stopped", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Start again" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
  await page.getByText("Running", { exact: true }).waitFor();
  expect(pages.provider.sandboxes.get(id)?.spec.sessionId).toBe(id);

  await page.getByRole("button", { name: "Delete" }).click();
  const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete the session" });
  expect(await confirm.isDisabled()).toBe(true);
  await page.getByLabel(`Type ${id.slice(0, 8)} to confirm`).fill(id.slice(0, 8));
  await confirm.click();
  await page.getByRole("heading", { name: "Sessions", exact: true }).waitFor();
  await until("it is gone", async () => (await pages.call("GET", `/${id}`)).status === 404);
  expect(faults()).toEqual([]);
  await close();
});

test("offers the project's agents, and rejects an unknown one with their names", async () => {
  pages.remote.commit("main", {
    ".svc/agentrt/agents/developer.md": "---\ndescription: Does it.\n---\n",
    ".svc/agentrt/agents/dev\u202eeloper.md": "x",
    ".svc/agentrt/agents/finder.md": "---\nmode: subagent\n---\n",
  });
  const { page, faults, close } = await pages.open("/sessions/new");
  const field = page.getByLabel("Agent", { exact: true });
  const list = page.locator(`datalist[id="${await field.getAttribute("list")}"] option`);
  await until("they are offered", async () => (await list.count()) > 0);
  expect(
    await list.evaluateAll((all) => all.map((each) => [each.getAttribute("value"), each.textContent])),
  ).toEqual([
    ["developer", "Does it."],
    ["build", "Works on the code, with every tool."],
    ["plan", "Reads the code and makes plans, without editing."],
  ]);
  await field.fill("nobody");
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByText('Agent "nobody" not found on the branch main').waitFor();
  await field.fill("developer");
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByText("Running", { exact: true }).waitFor();
  const id = page.url().split("/").at(-1) ?? "";
  expect((await pages.get(id)).agent_name).toBe("developer");
  expect(faults()).toEqual([]);
  await close();
});

test("a failed start shows its step and the end of the log; the list stays up to date", async () => {
  pages.provider.onStart = () => Promise.reject(new Error("no room"));
  const list = await pages.open("/sessions");
  const { session_id } = await pages.create({ name: "doomed" });
  await pages.becomes(session_id, "failed");
  await list.page.getByText("Failed: sandbox").waitFor();
  await list.page.getByRole("link", { name: "doomed" }).click();
  await list.page.getByText("Step 1 of a build").waitFor();
  expect(await list.page.getByRole("alert").textContent()).toStartWith("The sandbox could not be started");
  pages.provider.onStart = () => {};
  await list.page.getByRole("button", { name: "Start it again" }).click();
  await list.page.getByRole("dialog").getByRole("button", { name: "Start" }).click();
  await list.page.getByText("Running", { exact: true }).waitFor();
  expect(list.faults()).toEqual([]);
  await list.close();
});

test("a restart prompts for the saved work, and restores it only on request", async () => {
  const { session_id } = await pages.running({ name: "unpushed" });
  const { page, close } = await pages.open(`/sessions/${session_id}`);
  for (const [button, restores] of [
    ["Without the saved work", false],
    ["Restore the saved work", true],
  ] as const) {
    const { generation } = pages.provider.sandboxes.get(session_id)?.spec ?? {};
    await page.getByRole("button", { name: "Restart" }).click();
    const asked = page.waitForRequest((request) => request.url().endsWith("/restart"));
    await page.getByRole("dialog").getByRole("button", { name: button }).click();
    expect((await asked).postDataJSON()).toEqual({ restore: restores });
    await until("there is another sandbox", () => {
      const sandbox = pages.provider.sandboxes.get(session_id);
      return sandbox !== undefined && sandbox.spec.generation !== generation;
    });
    await pages.becomes(session_id, "running");
    await page.getByText("Running", { exact: true }).waitFor();
  }
  await close();
});

test("follows and pauses a log, without colours, with hidden characters visible", async () => {
  const { session_id } = await pages.running({ name: "talkative" });
  pages.provider.log = "\u001b[31mred\u001b[0m <img src=x onerror=alert(1)> \u202egnp.exe\n";
  const { page, faults, close } = await pages.open(`/sessions/${session_id}?view=log`);
  const log = page.getByRole("region", { name: "Log" });
  await log.getByText("red <img src=x onerror=alert(1)>").waitFor();
  expect(await log.textContent()).toContain("U+202Egnp.exe");
  await page.getByRole("button", { name: "Pause" }).click();
  pages.provider.log += "one more\n";
  await page.getByText("Paused, 1 new").waitFor();
  expect(await log.getByText("one more").count()).toBe(0);
  await page.getByRole("button", { name: "Resume" }).click();
  await log.getByText("one more").waitFor();
  expect(faults()).toEqual([]);
  pages.provider.log = "";
  await close();
});

const PAYLOADS = ["<img src=x onerror=alert(1)>", "a\u202eb\u2066c", "javascript:alert(1)", "{{7*7}}\u0000"];

test("hostile names are shown as text", async () => {
  for (const name of PAYLOADS) await pages.create({ name: name.replaceAll("\u0000", "") });
  const { page, faults, close } = await pages.open("/sessions");
  await page.getByRole("link", { name: "<img src=x onerror=alert(1)>" }).waitFor();
  await page.getByRole("link", { name: "aU+202EbU+2066c" }).click();
  await page.getByRole("heading", { name: "aU+202EbU+2066c", level: 1 }).waitFor();
  expect(await page.title()).toBe("aU+202EbU+2066c – svc");
  expect(await page.locator("img[src=x]").count()).toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test("reports an unknown session, and one that is deleted meanwhile", async () => {
  const { session_id } = await pages.running();
  const { page, faults, close } = await pages.open(`/sessions/${session_id}`);
  await page.getByText("Running", { exact: true }).waitFor();
  await pages.call("DELETE", `/${session_id}`);
  await page.getByRole("heading", { name: "The session was deleted" }).waitFor();
  await page.goto(page.url().replace(session_id, crypto.randomUUID()));
  await page.getByRole("alert").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("opens a preview in a new tab, with a link for this browser", async () => {
  const { session_id } = await pages.running({ name: "shown" });
  const { page, close } = await pages.open(`/sessions/${session_id}`);
  await page.getByLabel("Preview of a port").fill("70000");
  await page.getByText("A port must be an integer from 1 to 65535.").waitFor();
  await page.getByLabel("Preview of a port").fill("5173");
  const opened = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Open the preview" }).click();
  const tab = await opened;
  await until("the tab is led there", () => tab.url().includes(`p5173-${session_id}`));
  expect(await tab.evaluate("window.opener")).toBeNull();
  await close();
});

test("files are sent with the first prompt, which they need", async () => {
  const { page, faults, close } = await pages.open("/sessions/new");
  const file = { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Blue.\n") };
  await page
    .getByLabel("Files to attach")
    .setInputFiles({ ...file, name: "a.bin", buffer: Buffer.from("\0") });
  await page.getByText("a.bin cannot be attached.").waitFor();
  await page.getByLabel("Files to attach").setInputFiles(file);
  await page.getByText("Add a prompt to send the attached files.").waitFor();
  expect(await page.getByRole("button", { name: "Start the session" }).isDisabled()).toBe(true);
  await page.getByLabel("Prompt").fill("Paint it");
  expect(await barriers(page)).toEqual([]);
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByRole("heading", { name: "Paint it", level: 1 }).waitFor();
  const id = page.url().split("/").at(-1) ?? "";
  const { prompts } = (await pages.call("GET", `/${id}/prompts`)).body;
  expect(prompts[0]).toMatchObject({ text: "Paint it", attachments: [{ name: "notes.txt", size: 6 }] });
  expect(faults()).toEqual([]);
  await close();
});

test("several tries start from one prompt, are compared, and one is chosen after a question", async () => {
  const { page, faults, close } = await pages.open("/sessions/new");
  await page.getByLabel("Prompt").fill("Make it faster");
  await page.getByLabel("Tries").selectOption("2");
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByRole("heading", { name: "Make it faster", level: 1 }).waitFor();
  const triesId = page.url().split("/").at(-1) ?? "";
  const read = () => pages.api.call("GET", `/v1/projects/${pages.projectId}/tries/${triesId}`);
  const [first, second] = (await read()).body.tries.map(({ session }: { session: Session }) => session);
  for (const { session_id } of [first, second]) await pages.becomes(session_id, "running");
  pages.remote.commit(second.branch_name, { fast: "1\n2\n" });
  await page.reload();
  await page.getByText("+2 −0 in 1 file").waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole("button", { name: `Choose session ${second.session_id.slice(0, 8)}` }).click();
  await page.getByRole("dialog").getByText("1 other session").waitFor();
  expect((await read()).body.tries[1].change_request).toBeNull();
  await page.getByRole("dialog").getByRole("button", { name: "Choose it" }).click();
  await page.getByRole("link", { name: /^#\d+$/ }).waitFor();
  await pages.becomes(first.session_id, "stopped");
  await page.getByRole("link", { name: `Session ${second.session_id.slice(0, 8)}` }).click();
  await page.getByRole("link", { name: "Compare with the others" }).click();
  await page.waitForURL(`**/tries/${triesId}`);
  expect(faults()).toEqual([]);
  await close();
});
