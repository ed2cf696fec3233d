import { afterAll, beforeAll, expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import {
  barriers,
  barriersInAllLooks,
  CHROMIUM,
  DESKTOP,
  overflow,
  PHONE,
  type Visit,
} from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
/** The page of the changes. */
let changes: string;

const BEFORE = {
  "src/app.ts": "export const limit = 10;\nexport function area(side: number) {\n  return side;\n}\n",
  "src/same.ts": "  spaced\n",
  "run.sh": "echo 1\n",
  "windows.txt": "one\r\ntwo\r\n",
  "gone.txt": "bye\n",
  "bun.lock": "1\n",
  "picture.bin": new Uint8Array([0, 1, 2]),
  "old/deep.txt": deep("before"),
};
const AFTER = {
  "src/app.ts": "export const limit = 20;\nexport function area(side: number) {\n  return side * side;\n}\n",
  "src/same.ts": "    spaced\n",
  "src/deep/down/new.ts": "/* one\ntwo */\nconst a = `x`;\n",
  "trojan.ts": "if (x) { /*\u202e } \u2066*/ f\u200b(); \u00ad}\n",
  "run.sh": { executable: "echo 1\n" },
  "windows.txt": "one\r\nthree\r\n",
  "gone.txt": null,
  "bun.lock": "2\n",
  "picture.bin": new Uint8Array([0, 3, 4]),
  "old/deep.txt": null,
  "zz/deep.txt": deep("after"),
  "no end.txt": "without",
  "empty.txt": "",
  "ünï\tcode.txt": "x\n",
  "long.js": `let a = "${"x".repeat(9_000)}END";\n`,
  "large.txt": "y\n".repeat(2_000),
};

/** A hundred lines, of which two differ. */
function deep(word: string): string {
  return Array.from({ length: 100 }, (_, at) => `${at === 29 || at === 79 ? word : `line ${at + 1}`}\n`).join(
    "",
  );
}

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", BEFORE);
  remote.branch("work", "main");
  remote.commit("work", AFTER);
  const { project_id, slug } = await svc.api.project(remote.url);
  const body = { title: "Everything at once", head_ref: "work" };
  await svc.api.call("POST", `/v1/projects/${project_id}/change-requests`, { body });
  changes = `/projects/${slug}/change-requests/1?view=changes`;
});
afterAll(() => remote.remove());

async function open(): Promise<Visit> {
  const visited = await svc.openAs(FIRST, changes);
  await visited.page.locator("[data-line]").first().waitFor();
  return visited;
}

/** What is drawn of a file, from its head to the next: the rows' numbers and text. */
async function rowsOf(page: Page, path: string): Promise<string[]> {
  await page.getByLabel("Filter files").fill(path);
  await page.getByRole("treeitem", { name: path.slice(path.lastIndexOf("/") + 1) }).click();
  await headOf(page, path).waitFor();
  await page.getByLabel("Filter files").fill("");
  const all = await page.locator("[data-row]").evaluateAll((elements) =>
    elements.map((element) => {
      const numbers = Array.from(element.querySelectorAll("[data-number]"), (each) =>
        each.getAttribute("data-number"),
      );
      return {
        index: Number(element.getAttribute("data-index")),
        head: element.querySelector("[data-file-head]") !== null,
        text: (numbers.length > 0 ? `${numbers.join(" ")}|` : "") + element.textContent,
      };
    }),
  );
  all.sort((a, b) => a.index - b.index);
  const first = all.findIndex(({ head, text }) => head && text.includes(path));
  const rest = all.slice(first + 1);
  const next = rest.findIndex(({ head }) => head);
  return rest
    .slice(0, next < 0 ? undefined : next)
    .map(({ text }) => text)
    .filter((text) => text !== "");
}

const headOf = (page: Page, path: string): Locator => page.locator("[data-file-head]", { hasText: path });

test("shows every kind of change", async () => {
  const { page, faults, close } = await open();
  expect(await rowsOf(page, "src/app.ts")).toEqual([
    "@@ -1,4 +1,4 @@",
    "1 |-export const limit = 10;",
    " 1|+export const limit = 20;",
    "2 2| export function area(side: number) {",
    "3 |-  return side;",
    " 3|+  return side * side;",
    "4 4| }",
  ]);
  expect(await page.locator(".code .bg-added-strong").first().textContent()).toBe("20");
  expect(await rowsOf(page, "run.sh")).toEqual([
    "Mode changed: plain file (100644) → executable file (100755)",
  ]);
  expect(await rowsOf(page, "windows.txt")).toEqual([
    "@@ -1,2 +1,2 @@",
    "1 1| one",
    "2 |-two␍",
    " 2|+three␍",
  ]);
  expect((await rowsOf(page, "gone.txt")).at(-1)).toBe("1 |-bye");
  expect(await rowsOf(page, "picture.bin")).toEqual(["Binary file not shown."]);
  expect((await rowsOf(page, "no end.txt")).at(-1)).toBe(" 1|+without⊘ No newline at end of file");
  expect(await rowsOf(page, "empty.txt")).toEqual(["The file is empty."]);
  expect((await rowsOf(page, "code.txt")).at(-1)).toBe(" 1|+x");
  const trojan = (await rowsOf(page, "trojan.ts")).at(-1);
  expect(trojan).toBe(" 1|+if (x) { /*U+202E } U+2066*/ fU+200B(); U+00AD}");
  expect(await page.getByText("This file may be misleading").locator("..").textContent()).toContain(
    "2 characters that change the order in which text is shown and 2 invisible characters",
  );
  expect(faults()).toEqual([]);
  await close();
});

test("more lines around a change are shown, and the first of them has the focus", async () => {
  const { page, faults, close } = await open();
  const path = "zz/deep.txt";
  expect((await rowsOf(page, path))[0]).toContain("@@ -27,7 +27,7 @@");
  const numbers = async () =>
    (await rowsOf(page, path)).flatMap((row) => /^\d* ?(\d+)\|/.exec(row)?.[1] ?? []).map(Number);
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const expected = [...range(27, 33), ...range(77, 83)];
  expect(await numbers()).toEqual(expected);
  const press = async (name: string, at: number, focused: number) => {
    await page.getByRole("button", { name }).nth(at).click();
    await page.locator(`[data-line]:focus[aria-label="Comment on line ${focused}"]`).waitFor();
  };
  await press("20 more lines before", 1, 57);
  expect(await numbers()).toEqual([...range(27, 33), ...range(57, 83)]);
  await press("20 more lines after", 0, 34);
  expect(await numbers()).toEqual([...range(27, 53), ...range(57, 83)]);
  await press("Show all hidden lines", 1, 54);
  expect(await numbers()).toEqual(range(27, 83));
  await press("Show all hidden lines", 1, 84);
  // rows far above the window are not rendered
  await page.evaluate(() => window.scrollBy({ top: -1_200, behavior: "instant" }));
  await press("20 more lines before", 0, 7);
  await press("Show all hidden lines", 0, 1);
  // rows far below the window are not rendered
  const rendered = await numbers();
  expect(rendered).toEqual(range(1, rendered.length));
  expect(rendered.length).toBeGreaterThan(40);
  expect(await headOf(page, path).textContent()).toContain("old/deep.txt");
  expect(await barriers(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("long, large and generated files are collapsed until they are opened", async () => {
  const { page, faults, close } = await open();
  expect(await rowsOf(page, "bun.lock")).toEqual([
    "Generated file: 2 changed lines are not shown.Show them in bun.lock",
  ]);
  await page.getByRole("button", { name: /^Show them\s+in bun.lock/ }).click();
  await page.getByText("@@ -1 +1 @@").first().waitFor();
  expect((await rowsOf(page, "large.txt"))[0]).toContain("Large file: 2000 changed lines");
  expect((await rowsOf(page, "long.js")).at(-1)).toMatch(/x\d+ more characters$/);
  await page.getByRole("button", { name: "more characters" }).click();
  await page.getByText(/END";$/).waitFor();
  expect(await overflow(page)).toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test("everything works with the keyboard, and the focus is never lost", async () => {
  const { page, faults, close } = await open();
  const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
  await page.keyboard.press("j");
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("src/app.ts"));
  await page.keyboard.press("j");
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("src/same.ts"));
  await page.keyboard.press("k");
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("src/app.ts"));
  await page.keyboard.press("Enter");
  expect(await headOf(page, "src/app.ts").getAttribute("aria-expanded")).toBe("false");
  expect(await focused()).toContain("src/app.ts");
  await page.keyboard.press("Enter");
  const mark = page.getByRole("checkbox", { name: "Viewed src/app.ts" });
  for (const [key, viewed, open] of [
    ["v", true, "false"],
    ["v", false, "true"],
    ["x", false, "false"],
    ["x", false, "true"],
  ] as const) {
    await page.keyboard.press(key);
    await page.locator(`[data-file-head][aria-expanded=${open}]`, { hasText: "src/app.ts" }).waitFor();
    expect([key, await mark.isChecked()]).toEqual([key, viewed]);
  }
  await page.keyboard.press("n");
  await page.waitForFunction(
    () => document.activeElement?.getAttribute("aria-label") === "Comment on line 1, removed",
  );
  await page.keyboard.press("n");
  await page.waitForFunction(() =>
    document.activeElement?.closest("[data-row]")?.textContent?.includes("spaced"),
  );
  await page.keyboard.press("p");
  await page.waitForFunction(
    () => document.activeElement?.getAttribute("aria-label") === "Comment on line 1, removed",
  );
  await page.keyboard.press("k");
  await page.keyboard.press("j");
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("src/app.ts"));
  // from the head by way of the path and the mark to the first line, then from line to line
  for (let i = 0; i < 3; i++) await page.keyboard.press("Tab");
  const label = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
  expect(await label()).toBe("Comment on line 1, removed");
  await page.keyboard.press("ArrowDown");
  await page.waitForFunction(
    () => document.activeElement?.getAttribute("aria-label") === "Comment on line 1, added",
  );
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.tagName === "TEXTAREA");
  await page.keyboard.press("Escape");
  await page.waitForFunction(
    () => document.activeElement?.getAttribute("aria-label") === "Comment on line 1, added",
  );
  // the tree
  await page.getByLabel("Filter files").focus();
  await page.keyboard.type("vx?");
  expect(await page.getByLabel("Filter files").inputValue()).toBe("vx?");
  expect(await page.getByRole("dialog").count()).toBe(0);
  await page.getByLabel("Filter files").fill("");
  await page.getByRole("treeitem").first().waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Home");
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("3 files"));
  await page.keyboard.press("ArrowLeft");
  expect(await page.getByRole("treeitem", { name: /^src.*3 files/ }).getAttribute("aria-expanded")).toBe(
    "false",
  );
  await page.keyboard.press("End");
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.activeElement?.textContent?.includes("code.txt"));
  expect(faults()).toEqual([]);
  await close();
});

test("a viewed file stays marked until it changes", async () => {
  const { page, faults, close } = await open();
  const mark = (path: string) => page.getByRole("checkbox", { name: `Viewed ${path}` });
  await rowsOf(page, "src/app.ts");
  await mark("src/app.ts").check();
  await page.getByText("1 of 15 viewed").waitFor();
  expect(await headOf(page, "src/app.ts").getAttribute("aria-expanded")).toBe("false");
  await rowsOf(page, "src/same.ts");
  await mark("src/same.ts").check();
  remote.commit("work", { "src/same.ts": "changed again\n" });
  await page.reload();
  await page.getByText("1 of 15 viewed").waitFor();
  await rowsOf(page, "src/app.ts");
  expect(await mark("src/app.ts").isChecked()).toBe(true);
  expect(await mark("src/same.ts").isChecked()).toBe(false);
  expect(faults()).toEqual([]);
  await close();
});

test("old and new are shown side by side on wide screens", async () => {
  const { page, faults, close } = await open();
  await page.getByText("Split").click();
  expect(await rowsOf(page, "src/app.ts")).toEqual([
    "@@ -1,4 +1,4 @@",
    "1 1|-export const limit = 10;+export const limit = 20;",
    "2 2| export function area(side: number) { export function area(side: number) {",
    "3 3|-  return side;+  return side * side;",
    "4 4| } }",
  ]);
  await page.setViewportSize(PHONE);
  await page.getByText(/^Files \(\d+\)$/).waitFor();
  expect(await page.getByText("Split").count()).toBe(0);
  await page.setViewportSize(DESKTOP);
  await page.reload();
  await page.locator("[data-line=old]").first().waitFor();
  expect(await page.getByRole("button", { name: "Split" }).getAttribute("aria-pressed")).toBe("true");
  expect(await barriers(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("the changes are accessible", async () => {
  const { page, faults, close } = await open();
  await page.locator(".hljs-keyword").first().waitFor();
  expect(await barriersInAllLooks(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});
