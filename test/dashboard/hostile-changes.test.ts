import { afterAll, beforeAll, expect } from "bun:test";
import { CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { holdsNothing, named } from "../helpers/hostile-page.ts";
import { HOSTILE_TEXTS } from "../helpers/hostile-text.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { git, Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();

/** Texts as names of files: whatever has no zero byte and no slash. */
const FILES = HOSTILE_TEXTS.map((text) => text.replaceAll("/", "\u2215"));
/** Titles, with and without hidden characters: each is a change request, for which git starts a dozen times. */
const TITLES = [
  ...sample(
    25,
    HOSTILE_TEXTS.filter((text) => named(text) === text),
  ),
  ...sample(
    15,
    HOSTILE_TEXTS.filter((text) => named(text) !== text),
  ),
];
/** The same as names of branches, where git takes them. */
const BRANCHES = TITLES.map((text) =>
  text.replace(/[\0-\x20\x7f~^:?*[\\]|@\{|\.\.|\/(?=\/|$)|^[-/]|\.$/g, "_"),
).filter(isBranch);

/** What Markdown makes hidden characters of. */
const REFERENCES = ["&#x202e;a", "&#8238;b", "&rlm;c", "&ZeroWidthSpace;d", "`\u202e`e"];

let api: string;
let pages: string;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { a: "1\n" });
  remote.branch("work", "main");
  const files = FILES.map((name, at) => [name, `${HOSTILE_TEXTS[at]}\n`]);
  remote.commit("work", Object.fromEntries(files), { message: HOSTILE_TEXTS.join("\n\n") });
  for (const branch of BRANCHES) remote.branch(branch, "work");
  const { project_id, slug } = await svc.api.project(remote.url);
  [api, pages] = [`/v1/projects/${project_id}/change-requests`, `/projects/${slug}/change-requests`];
  for (const [at, title] of TITLES.entries()) {
    const body = { title, description: title, head_ref: BRANCHES[at % BRANCHES.length] };
    const { status, text } = await svc.api.call("POST", api, { body });
    if (status !== 201) throw new Error(`${JSON.stringify(body)} was not taken: ${text}`);
  }
  const description = [...HOSTILE_TEXTS, ...REFERENCES].join("\n\n");
  await svc.api.call("PATCH", `${api}/1`, { body: { description } });
});
afterAll(() => remote.remove());

test("hostile titles and branch names are shown as text", async () => {
  expect(BRANCHES.length).toBeGreaterThan(TITLES.length / 2);
  const { page, faults, close } = await svc.openAs(FIRST, pages);
  // the pages of the list are loaded as the reader scrolls, and only rows near the window are in the document
  const shown = new Set<string>();
  await until("each title and branch was shown", async () => {
    for (const text of await page.locator("main bdi").allTextContents()) shown.add(text);
    await holdsNothing(page);
    await page.evaluate(() => window.scrollBy(0, window.innerHeight));
    return [...TITLES, ...BRANCHES].every((text) => shown.has(named(text)));
  });
  expect(faults()).toEqual([]);
  await close();
});

test("a hostile description has no active content", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/1`);
  await page.getByRole("heading", { name: "It can be merged" }).waitFor();
  await holdsNothing(page);
  const described = (await page.getByRole("region", { name: "Description" }).textContent()) ?? "";
  const disguised = HOSTILE_TEXTS.map(named).filter((text) => text.includes("U+"));
  expect(disguised.filter((text) => !described.includes(text))).toEqual([]);
  for (const shown of ["U+202Ea", "U+202Eb", "U+200Fc", "U+200Bd", "U+202Ee"])
    expect(described).toContain(shown);
  const addresses = await page
    .locator("main a")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  expect(
    addresses.filter((href) => href !== null && /^\s*(?:javascript|data|vbscript):/i.test(href)),
  ).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("hostile file names and lines are shown as text, with hidden characters visible", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/1?view=changes`);
  await page.locator("[data-line]").first().waitFor();
  const [names, lines] = [new Set<string>(), new Set<string>()];
  // a list that is drawn as it is scrolled to may grow at its end
  for (let next = 0, atEnd = 0; atEnd < 10; next++) {
    for (const name of await page.locator("[data-file-head] bdi").allTextContents()) names.add(name);
    for (const line of await page.locator(".code").allTextContents()) lines.add(line);
    await holdsNothing(page);
    const isEnd = await page.evaluate(() => {
      const { scrollY, innerHeight } = window;
      window.scrollBy(0, 2 * innerHeight);
      return scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
    });
    atEnd = isEnd ? atEnd + 1 : 0;
    await page.waitForTimeout(50);
    expect(next).toBeLessThan(200);
  }
  expect(FILES.map(named).filter((name) => !names.has(name))).toEqual([]);
  const said = HOSTILE_TEXTS.map(named);
  expect(said.filter((text) => !lines.has(text))).toEqual([]);
  const hints = await page
    .locator("[title]")
    .evaluateAll((all) => all.map((each) => each.getAttribute("title") ?? ""));
  expect(hints.filter((hint) => named(hint) !== hint)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

function isBranch(name: string): boolean {
  try {
    git(["check-ref-format", "--branch", name]);
    return true;
  } catch {
    return false;
  }
}
