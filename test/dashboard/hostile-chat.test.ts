import { afterAll, beforeAll, expect } from "bun:test";
import { HIDDEN_IN_TEXT } from "../../src/contract/hidden.ts";
import { CHROMIUM } from "../helpers/browser.ts";
import { HOSTILE_TEXTS } from "../helpers/hostile-text.ts";
import { needs } from "../helpers/needs.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";

// a browser on a busy machine
const test = needs(...CHROMIUM);

let pages: SessionPages;
beforeAll(async () => {
  if (CHROMIUM[1]) pages = await startSessionPages();
});
afterAll(() => pages?.stop());

test("hostile messages cannot run code, load resources, hide text or link elsewhere", async () => {
  const { session_id } = await pages.running();
  const runtime = pages.runtimeOf(session_id);
  const { page, faults, close } = await pages.open(`/sessions/${session_id}`);
  const chat = page.getByRole("region", { name: "Conversation" });
  await chat.getByText("No messages yet").waitFor();
  const run = runtime.run();
  run.begin();
  // as Markdown, each a paragraph of its own, in pieces that end anywhere
  const answer = HOSTILE_TEXTS.join("\n\n");
  await run.say(...(answer.match(/.{1,97}/gs) ?? []), "\n\nsaid");
  const all = HOSTILE_TEXTS.join("\n");
  run.tool(`bash ${HOSTILE_TEXTS[0]}`, {
    status: "completed",
    input: { command: all, [HOSTILE_TEXTS[6] ?? ""]: all },
    output: all,
    title: all,
  });
  const diff = HOSTILE_TEXTS.map((text) => `+${text.replaceAll("\n", "")}`).join("\n");
  run.tool("edit", {
    status: "completed",
    input: { filePath: all },
    metadata: { diff, filediff: { additions: 1, deletions: 1 } },
  });
  void run.permission(all, [...HOSTILE_TEXTS]);
  await chat.getByText("The agent requests permission").waitFor();
  await chat.getByRole("button", { name: "Allow once" }).click();
  void run.question([
    { question: all, options: HOSTILE_TEXTS.map((text) => ({ label: text, description: text })) },
  ]);
  await chat.getByText("Question from the agent", { exact: true }).waitFor();
  await chat.getByText("said", { exact: true }).waitFor();
  for (const summary of await chat.locator("summary").all()) await summary.click();
  await page.mouse.move(300, 300);

  const made =
    "script, iframe, object, embed, svg:not(.lucide), math, img, form[action], style, base, link, meta, video, audio";
  expect(await chat.locator(made).count()).toBe(0);
  const links = await chat
    .locator("a")
    .evaluateAll((all) =>
      all.map((each) => (each instanceof HTMLAnchorElement ? each.getAttribute("href") : null)),
    );
  expect(links.filter((href) => !/^(?:https?:)?\/\/|^$|^\.\.\//.test(href ?? ""))).toEqual([]);
  const shown = (await chat.textContent()) ?? "";
  expect([...shown.matchAll(HIDDEN_IN_TEXT)].map(([found]) => found.codePointAt(0)?.toString(16))).toEqual(
    [],
  );
  expect(shown).toContain("payU+202Egpj.exe");
  expect(faults()).toEqual([]);
  await close();
});
