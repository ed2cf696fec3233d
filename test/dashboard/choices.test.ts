import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM, DESKTOP, overflow, PHONE } from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);

let pages: SessionPages;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  pages = await startSessionPages();
  const body = {
    format: "openai",
    url: "https://models.example.com/v1",
    key: "a-key",
    models: [{ id: "small" }, { id: "<b>large</b>" }],
  };
  const path = `/v1/projects/${pages.projectId}/model-upstreams/own`;
  expect((await pages.api.call("PUT", path, { body })).status).toBe(200);
});
afterAll(() => pages?.stop());

test("what the agent works with is chosen by the prompt, and follows changes of others", async () => {
  const { session_id: id } = await pages.running();
  const { page, faults, close } = await pages.open(`/sessions/${id}`);
  const choice = page.getByRole("group", { name: "For the next prompt" });
  const select = (label: string) => choice.getByLabel(label, { exact: true });
  await select("Mode").selectOption("Asks first");
  await until("the mode is ask", async () => (await pages.get(id)).mode === "ask");
  expect(await select("Model").locator("option").allTextContents()).toEqual([
    "The agent's own",
    "small (svc/small)",
    "<b>large</b> (svc/<b>large</b>)",
  ]);
  await select("Model").selectOption("svc/<b>large</b>");
  await until("the model is chosen", async () => (await pages.get(id)).model === "svc/<b>large</b>");
  await select("Effort").selectOption("high");
  await until("the effort is chosen", async () => (await pages.get(id)).effort === "high");
  await select("Agent").selectOption("plan");
  await until("the agent is chosen", async () => (await pages.get(id)).agent_name === "plan");
  await select("Agent").selectOption("The project's own");
  await until("no agent is chosen", async () => (await pages.get(id)).agent_name === null);
  // a model cannot be unset
  expect(await select("Model").locator("option").first().textContent()).toBe("small (svc/small)");
  await pages.call("PATCH", `/${id}`, { body: { mode: "auto-edit", effort: null } });
  await until("the page follows", async () => (await select("Mode").inputValue()) === "auto-edit");
  expect(await select("Effort").inputValue()).toBe("");
  await page.getByText("Edits files, asks for the rest", { exact: true }).last().waitFor();
  for (const size of [DESKTOP, PHONE]) {
    await page.setViewportSize(size);
    expect(await overflow(page)).toBe(0);
  }
  expect(await barriers(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("a new session is started with a mode and an effort, and says which runtime lacks what", async () => {
  pages.provider.runtimeProblem = (name) =>
    name === "codex" ? "Codex is not installed on the server." : null;
  const { page, faults, close } = await pages.open("/sessions/new");
  const runtime = page.getByLabel("Runtime", { exact: true });
  await runtime.getByText("Codex (not installed)").waitFor({ state: "attached" });
  await runtime.selectOption("codex");
  await page.getByText("Codex is not installed on the server.").waitFor();
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByText("Codex is not installed on the server.").nth(1).waitFor();
  await runtime.selectOption("Claude Code (no key)");
  await page.getByText("It has no key: set one of the secrets ANTHROPIC_API_KEY").waitFor();
  await runtime.selectOption("");
  await page.getByLabel("Model", { exact: true }).fill("svc/large");
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByText('opencode has no model "svc/large" here. Available: svc/small').waitFor();
  await page.getByLabel("Model", { exact: true }).fill("svc/small");
  await page.getByLabel("Mode", { exact: true }).selectOption("ask");
  await page.getByLabel("Effort", { exact: true }).fill("low");
  await page.getByRole("button", { name: "Start the session" }).click();
  await page.getByText("Running", { exact: true }).waitFor();
  const id = page.url().split("/").at(-1) ?? "";
  expect(await pages.get(id)).toMatchObject({ model: "svc/small", mode: "ask", effort: "low" });
  expect(faults().filter((fault) => !/40[09]/.test(fault))).toEqual([]);
  await close();
});
