import { afterAll, beforeAll, expect } from "bun:test";
import { CHROMIUM, type Visit } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();

const FILES = 2_000;
/** Changed lines of each: removed, and added in their place. */
const CHANGED = 12;
const ADDED = 1;
/** The largest number of rendered rows, whatever the size of the diff. */
const ROWS = 500;
/** Frames that are scrolled by a row each. */
const FRAMES = 120;
const ROW_PX = 20;
/** Frames in a row in which the middle of the window shows no row while it scrolls. */
const BLANK_FRAMES = 20;

let changes: string;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  const lines = (file: number, word: string) =>
    Array.from({ length: 40 }, (_, line) => `export const value${line} = ${word}(${file}, "${line}");`);
  const paths = Array.from({ length: FILES }, (_, file) => `src/part-${file % 40}/module-${file}.ts`);
  const text = (path: string, file: number, after: boolean): [string, string] => {
    const kept = lines(file, "compute").slice(CHANGED);
    const first = lines(file, after ? "calculate" : "compute").slice(0, CHANGED);
    return [path, [...first, ...kept, ...(after ? [`// ${file}`] : []), ""].join("\n")];
  };
  remote.commit("main", Object.fromEntries(paths.map((path, file) => text(path, file, false))));
  remote.branch("large", "main");
  remote.commit("large", Object.fromEntries(paths.map((path, file) => text(path, file, true))));
  const { project_id, slug } = await svc.api.project(remote.url);
  const body = { title: "Large", head_ref: "large" };
  await svc.api.call("POST", `/v1/projects/${project_id}/change-requests`, { body });
  changes = `/projects/${slug}/change-requests/1?view=changes`;
});
afterAll(() => remote.remove());

/** The page of the changes, which the tests share: each begins at its start. */
let opened: Promise<Visit> | undefined;
async function open(): Promise<Visit> {
  opened ??= svc.openAs(FIRST, changes, { fresh: true });
  const visit = await opened;
  await visit.page.evaluate(() => window.scrollTo(0, 0));
  await visit.page.locator("[data-line]").first().waitFor();
  return visit;
}

test("a diff of 2,000 files and 50,000 lines opens with its totals, and renders only visible lines", async () => {
  const { page, faults } = await open();
  expect(await page.locator("[data-row]").count()).toBeLessThan(ROWS);
  expect(await page.getByRole("status").filter({ hasText: "viewed" }).textContent()).toBe("0 of 2000 viewed");
  for (const total of [`+${FILES * (CHANGED + ADDED)}`, `−${FILES * CHANGED}`])
    await page.getByText(total).first().waitFor();
  expect(faults()).toEqual([]);
});

test("rows come in blocks: most frames of scrolling change nothing in the document", async () => {
  const { page, faults } = await open();
  const changed = await page.evaluate(
    async ([frames, step]) => {
      const list = document.querySelector("[data-row]")?.parentElement;
      if (!list) throw new Error("there is no diff");
      const frame = () => new Promise(requestAnimationFrame);
      let isChanged = false;
      const observer = new MutationObserver(() => {
        isChanged = true;
      });
      observer.observe(list, { childList: true });
      let count = 0;
      for (let at = 0; at < frames; at++) {
        window.scrollBy({ top: step, behavior: "instant" });
        // the scroll event comes with the next frame, the rows before the one after it
        await frame();
        await frame();
        if (isChanged) count++;
        isChanged = false;
      }
      return count;
    },
    [FRAMES, ROW_PX] as const,
  );
  expect(changed).toBeGreaterThan(0);
  expect(changed).toBeLessThan(FRAMES / 4);
  expect(faults()).toEqual([]);
});

test("scrolls from start to end, and shows lines everywhere", async () => {
  const { page, faults } = await open();
  const seen = await page.evaluate(async () => {
    const STEPS = 120;
    const total = document.documentElement.scrollHeight - window.innerHeight;
    let [blank, longest] = [0, 0];
    for (let step = 0; step <= STEPS; step++) {
      window.scrollTo(0, total * (step / STEPS));
      await new Promise(requestAnimationFrame);
      const middle = document.elementFromPoint(window.innerWidth * 0.6, window.innerHeight / 2);
      blank = middle?.closest("[data-row]") ? 0 : blank + 1;
      longest = Math.max(longest, blank);
    }
    return { longest, total, rows: document.querySelectorAll("[data-row]").length };
  });
  expect(seen.total).toBeGreaterThan(FILES * 2 * CHANGED * 20);
  expect(seen.rows).toBeLessThan(ROWS);
  expect(seen.longest).toBeLessThan(BLANK_FRAMES);
  expect(faults()).toEqual([]);
});

test("jumps to a distant file in one step", async () => {
  const { page, faults } = await open();
  await page.getByLabel("Filter files").fill("module-1234");
  await page.getByRole("treeitem", { name: "module-1234.ts" }).click();
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("module-1234.ts"));
  const head = page.locator("[data-file-head]", { hasText: "module-1234.ts" });
  expect((await head.boundingBox())?.y).toBeLessThan(200);
  await page.getByText('calculate(1234, "0")').waitFor();
  expect(faults()).toEqual([]);
});
