import { beforeAll, expect } from "bun:test";
import type { Page } from "playwright-core";
import { openPostgres } from "../../db/client.ts";
import { CHROMIUM, findings } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { fillLists, titleOf } from "../helpers/long-lists.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { until } from "../helpers/until.ts";

const test = needs(CHROMIUM[0], CHROMIUM[1] && POSTGRES);
const svc = startDashboard();
const COUNTS = { changeRequests: 420, sessions: 320 };
/** Rows of the first request of a list. */
const FIRST_PAGE = 30;
/** The largest number of rows in the document, whatever the length of the list. */
const ROWS = 60;
/** A row that is reached by keyboard, some windows below the first. */
const FAR = 100;

let pages: string;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  const { project_id, slug } = (await svc.api.call("POST", "/v1/projects", { body: { name: "Long" } })).body;
  pages = `/projects/${slug}`;
  const { db, close } = await openPostgres(svc.api.databaseUrl ?? "");
  await fillLists(db, project_id, { email: FIRST, ...COUNTS });
  await close();
});

const rows = (page: Page) => page.locator("[data-row-link]");
/** The title of the focused row, without what it has besides. */
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? "");

test.each([
  ["change-requests", COUNTS.changeRequests, "change requests", (index: number) => titleOf(index)],
  ["sessions", COUNTS.sessions, "sessions", (index: number) => `Session number ${index}`],
])("of a long list of %s only rows near the window are in the document", async (part, count, noun, title) => {
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/${part}`);
  const says = (text: string) =>
    page.getByRole("status").filter({ hasText: text }).waitFor({ state: "attached" });
  await says(`${FIRST_PAGE} and more ${noun}`);
  // the first page is there as a whole, for the search of the browser
  expect(await rows(page).count()).toBe(FIRST_PAGE);
  await until("the whole list is loaded", async () => {
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    return (await page.getByRole("status").allTextContents()).includes(`${count} ${noun}`);
  });
  expect(await rows(page).count()).toBeLessThan(ROWS);
  // the order of change requests is that of their numbers, the newest first; of sessions, that of their last change
  const titleAt = (index: number) => title(part === "sessions" ? index + 1 : count - index);
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.getByRole("link", { name: titleAt(0), exact: true }).waitFor();
  await page.keyboard.press("j");
  expect(await focused(page)).toBe(titleAt(0));
  for (let index = 1; index <= FAR; index++) await page.keyboard.press("j");
  await until(`the focus is on row ${FAR}`, async () => (await focused(page)) === titleAt(FAR));
  const row = page.getByRole("listitem").filter({ has: page.locator(":focus") });
  expect([await row.getAttribute("aria-posinset"), await row.getAttribute("aria-setsize")]).toEqual([
    `${FAR + 1}`,
    `${count}`,
  ]);
  expect(await rows(page).count()).toBeLessThan(ROWS);
  expect(await findings(page)).toEqual([]);
  // the row with the focus stays in the document when it leaves the window
  await page.evaluate(() => window.scrollTo(0, 0));
  await page.getByRole("link", { name: titleAt(0), exact: true }).waitFor();
  expect(await focused(page)).toBe(titleAt(FAR));
  await page.keyboard.press("k");
  await until("the focus is on the row before it", async () => (await focused(page)) === titleAt(FAR - 1));
  const box = await page.locator(":focus").boundingBox();
  expect(box?.y).toBeWithin(0, 800);
  expect(faults()).toEqual([]);
  await close();
});

test("the browser's back button returns to the same row, and an event reads only the pages in view again", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/change-requests`);
  const asked: string[] = [];
  page.on("request", (request) => {
    if (request.url().includes("/change-requests?")) asked.push(request.url());
  });
  const link = (number: number) => page.getByRole("link", { name: titleOf(number), exact: true });
  const scrollTo = async (number: number) =>
    until(`row ${number} is in the document`, async () => {
      await page.evaluate(
        (at) => {
          const [list] = [...document.querySelectorAll("ul")].filter((each) =>
            each.querySelector("[data-key]"),
          );
          window.scrollTo(0, (list?.offsetTop ?? 0) + (list?.offsetHeight ?? 0) * at);
        },
        1 - number / COUNTS.changeRequests,
      );
      return (await link(number).count()) > 0;
    });
  await until("the whole list is loaded", async () => {
    await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
    return (await page.getByRole("status").allTextContents()).includes(
      `${COUNTS.changeRequests} change requests`,
    );
  });
  await scrollTo(120);
  const before = await link(120).boundingBox();
  await link(120).click();
  await page.getByRole("heading", { name: `${titleOf(120)} #120`, level: 1 }).waitFor();
  expect(await page.evaluate(() => window.scrollY)).toBe(0);
  await page.goBack();
  await link(120).waitFor();
  await until("the row is where it was", async () => {
    const after = await link(120).boundingBox();
    return Math.abs((after?.y ?? 0) - (before?.y ?? 0)) <= 2;
  });

  const rename = (number: number, title: string) =>
    svc.api.call("PATCH", `/v1${pages}/change-requests/${number}`, { body: { title } });
  asked.length = 0;
  await rename(120, "Renamed in view");
  await page.getByRole("link", { name: "Renamed in view", exact: true }).waitFor();
  const pagesOf = () => new Set(asked.map((url) => new URL(url).searchParams.get("cursor"))).size;
  // of five: the first, and one or two in view
  expect(pagesOf()).toBeWithin(1, 4);
  await rename(260, "Renamed elsewhere");
  await scrollTo(261);
  await page.getByRole("link", { name: "Renamed elsewhere", exact: true }).waitFor();
  expect(await page.getByRole("status").allTextContents()).toContain(
    `${COUNTS.changeRequests} change requests`,
  );
  expect(faults()).toEqual([]);
  await close();
});
