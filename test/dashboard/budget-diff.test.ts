import { afterAll, beforeAll, expect } from "bun:test";
import { CHROMIUM } from "../helpers/browser.ts";
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
/** From the navigation to the first lines. */
const OPEN_MS = 2_000;
/** Without any row in the middle of the window while it scrolls. */
const BLANK_MS = 1_000;
/** The best of some visits is what the page takes; the rest is what else the machine does. */
const VISITS = 3;

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

test("a diff of 2,000 files and 50,000 lines opens within two seconds", async () => {
  const took: number[] = [];
  for (let visits = 0; visits < VISITS; visits++) {
    const { page, faults, close } = await svc.openAs(FIRST, changes);
    await page.locator("[data-line]").first().waitFor();
    took.push(await page.evaluate(() => performance.now()));
    expect(await page.getByRole("status").filter({ hasText: "viewed" }).textContent()).toBe(
      "0 of 2000 viewed",
    );
    await page
      .getByText(`+${FILES * (CHANGED + ADDED)}`)
      .first()
      .waitFor();
    await page
      .getByText(`−${FILES * CHANGED}`)
      .first()
      .waitFor();
    expect(faults()).toEqual([]);
    await close();
  }
  expect(Math.min(...took)).toBeLessThan(OPEN_MS);
});

test("it scrolls from end to end without a blank second", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, changes);
  await page.locator("[data-line]").first().waitFor();
  const seen = await page.evaluate(async () => {
    const DURATION_MS = 5_000;
    const total = document.documentElement.scrollHeight - window.innerHeight;
    const begun = performance.now();
    let [frames, blankSince, longest] = [0, begun, 0];
    for (let now = begun; now - begun < DURATION_MS; now = performance.now()) {
      window.scrollTo(0, total * ((now - begun) / DURATION_MS));
      await new Promise(requestAnimationFrame);
      const middle = document.elementFromPoint(window.innerWidth * 0.6, window.innerHeight / 2);
      if (middle?.closest("[data-row]")) blankSince = performance.now();
      longest = Math.max(longest, performance.now() - blankSince);
      frames++;
    }
    return { frames, longest, total, rows: document.querySelectorAll("[data-row]").length };
  });
  expect(seen.total).toBeGreaterThan(FILES * 2 * CHANGED * 20);
  expect(seen.rows).toBeLessThan(500);
  expect(seen.frames).toBeGreaterThan(10);
  expect(seen.longest).toBeLessThan(BLANK_MS);
  expect(faults()).toEqual([]);
  await close();
});

test("a file far away is one step away", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, changes);
  await page.getByLabel("Filter files").fill("module-1234");
  await page.getByRole("treeitem", { name: "module-1234.ts" }).click();
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("module-1234.ts"));
  const head = page.locator("[data-file-head]", { hasText: "module-1234.ts" });
  expect((await head.boundingBox())?.y).toBeLessThan(200);
  await page.getByText('calculate(1234, "0")').waitFor();
  expect(faults()).toEqual([]);
  await close();
});
