import { afterAll, beforeAll, expect } from "bun:test";
import { openPostgres } from "../../db/client.ts";
import { CHROMIUM } from "../helpers/browser.ts";
import { outputOf, storeLongConversation } from "../helpers/long-conversation.ts";
import { needs } from "../helpers/needs.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);

const SIZE = { turns: 600, output: 20_000, tools: 2 };
/** The largest number of elements of the conversation in the document, whatever its size. */
const NODES = 1_500;
/** Bytes of the conversation that are fetched before anything is scrolled or opened: 24 MB are stored. */
const OPENED_BYTES = 400_000;
/** Bytes of all pages, without the outputs of tools. */
const READ_BYTES = 4_000_000;
/** Frames in a row in which the middle of the window shows no row while it scrolls. */
const BLANK_FRAMES = 20;

let pages: SessionPages;
let id: string;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  pages = await startSessionPages();
  id = (await pages.running()).session_id;
  const { db, close } = await openPostgres(pages.api.databaseUrl ?? "");
  await storeLongConversation(db, id, SIZE);
  await close();
});
afterAll(() => pages?.stop());

/** The page of the session, with the bytes of the conversation that it has fetched. */
async function open() {
  const visited = await pages.open("/sessions", { fresh: true });
  let bytes = 0;
  visited.page.on("response", (response) => {
    if (!/\/conversation(?:\?|\/parts)/.test(response.url())) return;
    void response.body().then((body) => {
      bytes += body.byteLength;
    });
  });
  await visited.page.goto(`${pages.api.url}/projects/${pages.projectId}/sessions/${id}`);
  const chat = visited.page.getByRole("region", { name: "Conversation" });
  await chat.getByText(`Answer ${SIZE.turns} is done.`).waitFor();
  return { ...visited, chat, nodes: () => chat.locator("*").count(), fetched: () => bytes };
}

test("a conversation of 600 turns and 24 MB is read from its end to its beginning, with few elements and few bytes", async () => {
  const { page, chat, nodes, fetched, faults, close } = await open();
  expect(await nodes()).toBeLessThan(NODES);
  await until("the page is fetched", () => fetched() > 0);
  const opened = fetched();
  expect(opened).toBeLessThan(OPENED_BYTES);
  expect(await chat.getByText("Answer 1 is done.").count()).toBe(0);

  // the output of a tool is fetched when it is opened
  const use = chat.locator("details").last();
  await use.locator("summary").click();
  const output = outputOf(SIZE.turns, 1, SIZE.output).slice(0, 60).split("\n")[0] ?? "";
  await chat.getByText(output).waitFor();
  await until("it is fetched", () => fetched() > opened);
  expect(fetched() - opened).toBeLessThan(2 * SIZE.output);
  // it stays open when it is scrolled away and back; the row with the focus stays in the document
  const scroll = (top: number) =>
    page.evaluate((by) => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
      window.scrollBy({ top: by, behavior: "instant" });
    }, top);
  await scroll(-6_000);
  await chat.getByText(output).waitFor({ state: "detached" });
  await scroll(20_000);
  await chat.getByText(output).waitFor();

  // rows are everywhere, to the beginning
  await page.mouse.move(400, 300);
  let most = 0;
  let blank = 0;
  await until("the first turn is shown", async () => {
    await page.mouse.wheel(0, -4_000);
    const isBlank = await page.evaluate(async () => {
      await new Promise(requestAnimationFrame);
      const { innerWidth, innerHeight } = window;
      return !document.elementFromPoint(innerWidth * 0.3, innerHeight / 2)?.closest("[data-index]");
    });
    blank = isBlank ? blank + 1 : 0;
    if (blank > BLANK_FRAMES) throw new Error(`no row is shown for ${blank} frames`);
    most = Math.max(most, await nodes());
    return (await chat.getByText("Answer 1 is done.").count()) > 0;
  });
  expect(most).toBeLessThan(NODES);
  expect(fetched()).toBeLessThan(READ_BYTES);
  expect(faults()).toEqual([]);
  await close();
});
