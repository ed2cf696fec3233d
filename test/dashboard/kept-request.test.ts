import { afterAll, beforeAll, expect } from "bun:test";
import type { Session } from "../../src/contract/session.ts";
import { barriers, CHROMIUM } from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";
import { followedSession, hostRuntimes } from "../helpers/runtime-host.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const HOSTILE = "<img src=x onerror=alert(1)>";
let pages: SessionPages;

beforeAll(async () => {
  if (CHROMIUM[1]) pages = await startSessionPages();
});
afterAll(() => pages?.stop());

/** A session that was stopped while its agent waited. */
async function freed(kind: "permission" | "question", request: Record<string, unknown>): Promise<Session> {
  const { id, runtime } = await followedSession(pages, hostRuntimes(pages.provider));
  runtime.setBusy(true);
  runtime.ask(kind, { id: "ask_1", ...request });
  await until("the agent waits", async () => (await pages.get(id)).activity === "waiting");
  pages.advance(51 * 60);
  pages.look();
  return await pages.becomes(id, "stopped");
}

const promptOf = async (id: string): Promise<string> =>
  (await pages.call("GET", `/${id}/prompts`)).body.prompts[0]?.text ?? "";

test("a question that outlived its sandbox is answered on the page, and starts the session again", async () => {
  const options = ["Left", HOSTILE].map((label) => ({ label, description: "" }));
  const questions = [
    { question: "Which one?", options, multiple: true, custom: false },
    { question: "What name?", options: [], multiple: false, custom: true },
  ];
  const { session_id: id } = await freed("question", { questions });
  const { page, faults, close } = await pages.open(`/sessions/${id}`);
  const asked = page.getByRole("alert").filter({ hasText: "Question from the agent" });
  await asked.getByText("Your answer starts it again and continues its work.").waitFor();
  expect(await page.getByRole("group", { name: "What name?" }).count()).toBe(1);
  expect(await barriers(page)).toEqual([]);
  await asked.getByLabel(HOSTILE).check();
  await asked.getByLabel("Left").check();
  await asked.getByLabel("Other answer").fill("Ada");
  await asked.getByRole("button", { name: "Answer" }).click();
  await asked.waitFor({ state: "detached" });
  await pages.becomes(id, "running");
  expect(await promptOf(id)).toContain(
    `The answer: ${HOSTILE}, Left\n\nYou asked: What name?\n\nThe answer: Ada`,
  );
  expect(faults()).toEqual([]);
  await close();
});

test.each([
  ["Allow once", "allowed. Do it again"],
  ["Reject", "not allowed."],
])("a permission is given or refused there: %s", async (button, text) => {
  const { session_id: id } = await freed("permission", { permission: "bash", patterns: ["rm *"] });
  const { page, faults, close } = await pages.open(`/sessions/${id}`);
  const asked = page.getByRole("alert").filter({ hasText: "The agent requests permission" });
  await asked.getByText("Allow it to use bash?").waitFor();
  await asked.getByText("rm *").waitFor();
  await asked.getByRole("button", { name: button }).click();
  await asked.waitFor({ state: "detached" });
  expect(await promptOf(id)).toContain(text);
  expect(faults()).toEqual([]);
  await close();
});
