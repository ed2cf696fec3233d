import { afterAll, beforeAll, expect } from "bun:test";
import { CHROMIUM } from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";

const test = needs(...CHROMIUM);
let pages: SessionPages;

beforeAll(async () => {
  if (CHROMIUM[1]) pages = await startSessionPages();
});
afterAll(() => pages?.stop());

/** Opens the change request of a session that runs. */
async function work() {
  const { session_id: id } = await pages.running();
  pages.remote.commit(id, { a: `by ${id}\n` });
  const body = { title: "By an agent", head_ref: id, session_id: id };
  const opened = await pages.api.call("POST", `/v1/projects/${pages.projectId}/change-requests`, { body });
  return { id, ...(await pages.open(`/change-requests/${opened.body.number}`)) };
}

const lastPrompt = async (id: string): Promise<string> =>
  (await pages.call("GET", `/${id}/prompts`)).body.prompts.at(-1)?.text ?? "";

test("sends open comments to the session that opened the change request", async () => {
  const { id, page, faults, close } = await work();
  const send = page.getByRole("button", { name: "Send to the session" });
  await page.getByText("No open comments").waitFor();
  expect(await send.isDisabled()).toBe(true);
  await page.getByLabel("Comment", { exact: true }).fill("Say it shorter.");
  await page.getByRole("button", { name: "Comment", exact: true }).click();
  await page.getByText("the open comment").waitFor();
  await send.click();
  await page.getByText("Sent to the session.").waitFor();
  expect(await lastPrompt(id)).toContain("Say it shorter.");
  await page.getByRole("link", { name: "Open the session" }).click();
  await page.waitForURL(`**/sessions/${id}`);
  expect(faults()).toEqual([]);
  await close();
});

test("sends a conflict to the session, with its files", async () => {
  const { id, page, faults, close } = await work();
  await page.getByRole("heading", { name: "It can be merged" }).waitFor();
  pages.remote.commit("main", { a: "by somebody else\n" });
  await page.reload();
  await page.getByRole("heading", { name: "It conflicts with main" }).waitFor();
  await page.getByRole("button", { name: "Resolve in the session" }).click();
  await page.getByText("Sent to the session.").waitFor();
  expect(await lastPrompt(id)).toMatch(/conflict[\s\S]*^> a$/im);
  expect(faults()).toEqual([]);
  await close();
});
