import { afterAll, beforeAll, expect } from "bun:test";
import { parse } from "smol-toml";
import { barriers, CHROMIUM, overflow, PHONE } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { holdsNothing, named } from "../helpers/hostile-page.ts";
import { HOSTILE_TEXTS } from "../helpers/hostile-text.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();

const GOOD = 'svc_version = 1\nsandbox.dockerfile = "Dockerfile"\n';
/** Hostile texts as keys, at most as many as are reported; their messages repeat the beginning of each. */
const KEYS = HOSTILE_TEXTS.filter((text) => text.length < 60 && isKey(text))
  .toSorted((a, b) => Number(named(b) !== b) - Number(named(a) !== a))
  .slice(0, 45);

let pages: string;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { "svc.toml": GOOD, Dockerfile: "FROM scratch", a: "1\n" });
  remote.commit("breaks", { "svc.toml": `${GOOD}sandbox.cpu = 0\ntypo = 1\n` }, { from: "main" });
  remote.commit("takes-away", { Dockerfile: null }, { from: "main" });
  remote.commit("harmless", { a: "2\n" }, { from: "main" });
  const hostile = KEYS.map((key) => `${JSON.stringify(key)} = 1\n`).join("");
  remote.commit(
    "opens",
    { "svc.toml": `${GOOD}[[apps]]\nslug = "site"\naccess = "public"\nstatic.dir = "."\n` },
    { from: "main" },
  );
  remote.commit("hostile", { "svc.toml": GOOD + hostile }, { from: "main" });
  const { project_id, slug } = await svc.api.project(remote.url);
  for (const head_ref of ["breaks", "takes-away", "harmless", "hostile", "opens"]) {
    const body = { title: head_ref, head_ref };
    await svc.api.call("POST", `/v1/projects/${project_id}/change-requests`, { body });
  }
  pages = `/projects/${slug}`;
});
afterAll(() => remote.remove());

test("a change request that breaks the manifest has a warning beside the merge, also on a phone and in dark mode", async () => {
  for (const options of [{}, { size: PHONE, dark: true }]) {
    const { page, faults, close } = await svc.openAs(FIRST, `${pages}/change-requests/1`, options);
    const region = page.getByRole("region", { name: "svc.toml would have 1 error and 1 warning" });
    await region.getByText("After this merge svc ignores the entries with errors").waitFor();
    expect(await region.getByRole("listitem").allTextContents()).toEqual([
      "Errorline 3, column 15sandbox.cpu must be a number above 0.",
      expect.stringMatching(/^Warningline 4, column 1typo is not a known key/),
    ]);
    // it can be merged all the same
    await page.getByRole("heading", { name: "It can be merged" }).waitFor();
    expect(await barriers(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    expect(faults()).toEqual([]);
    await close();
  }
});

test("warns if it removes files that the manifest names, and not if it is harmless", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/change-requests/2`);
  const region = page.getByRole("region", { name: "svc.toml would have 1 error" });
  await region.getByText('names the file "Dockerfile", which is not in the repository').waitFor();
  await region.getByText("does not change the file, but removes").waitFor();
  const answered = page.waitForResponse((response) => response.url().endsWith("/change-requests/3/manifest"));
  await page.goto(`${svc.api.url}${pages}/change-requests/3`);
  await answered;
  await page.getByRole("heading", { name: "It can be merged" }).waitFor();
  expect(await page.getByText("svc.toml would have").count()).toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test("says above the merge button that the merge opens an app to the public", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/change-requests/5`);
  await page.getByText('Merging makes the app "site" public.').waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("hostile content of a manifest is shown as text", async () => {
  expect(KEYS.length).toBeGreaterThan(30);
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/change-requests/4`);
  const problems = page.getByRole("list", { name: "Problems of the manifest" }).locator("bdi");
  await problems.first().waitFor();
  const texts = await problems.allTextContents();
  const says = (key: string) =>
    texts.some((text) => text.startsWith(`${named(shown(key))} is not a known key`));
  expect(KEYS.filter((key) => !says(key))).toEqual([]);
  await holdsNothing(page);
  expect(faults()).toEqual([]);
  await close();
});

test("a project's settings show the problems of its default branch until they are fixed", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/settings`);
  await page.getByRole("heading", { name: "General" }).waitFor();
  expect(await page.getByRole("heading", { name: "Manifest" }).count()).toBe(0);
  remote.commit("main", { "svc.toml": `${GOOD}[[triggers]]\nslug = "x"\n` });
  await page.reload();
  const region = page.getByRole("region", { name: "Manifest" });
  await region.getByText("It has 2 errors").waitFor();
  await region.getByText("triggers[0].type is missing").waitFor();
  expect(await barriers(page)).toEqual([]);
  remote.commit("main", { "svc.toml": GOOD });
  await page.reload();
  await page.getByRole("heading", { name: "General" }).waitFor();
  await region.waitFor({ state: "detached" });
  expect(faults()).toEqual([]);
  await close();
});

const shown = (key: string): string => (/^[\w-]+$/.test(key) ? key : JSON.stringify(key));

/** Whether a file can hold it. */
function isKey(text: string): boolean {
  try {
    return Object.keys(parse(`${JSON.stringify(text)} = 1`)).includes(text);
  } catch {
    return false;
  }
}
