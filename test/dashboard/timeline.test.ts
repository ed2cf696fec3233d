import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM, overflow, PHONE } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { holdsNothing, named } from "../helpers/hostile-page.ts";
import { HOSTILE_TEXTS } from "../helpers/hostile-text.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
let api: string;
let pages: string;

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { a: "1\n" });
  const { project_id, slug } = await svc.api.project(remote.url);
  [api, pages] = [`/v1/projects/${project_id}/change-requests`, `/projects/${slug}/change-requests`];
});
afterAll(() => remote.remove());

test("events stand between the comments, live; a force push leads to what it changed; the stack is shown", async () => {
  remote.commit("work", { b: "1\n" }, { from: "main" });
  const call = (method: string, at: string, body?: object) => svc.api.call(method, `${api}/1${at}`, { body });
  await svc.api.call("POST", api, { body: { title: "t", head_ref: "work" } });
  await call("PATCH", "", { title: "First" });
  await call("POST", "/comments", { body: "In between" });
  remote.commit("work", { b: "2\n" });
  const events = async () => (await call("GET", "/timeline")).body.events;
  await until("the push is counted", async () => (await events()).at(-1).commits === 1);
  remote.commit("work", { b: "3\n" }, { from: "main" });
  await until("it is a force push", async () => (await events()).at(-1).event === "head_ref_force_pushed");

  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/1`);
  const history = page.getByRole("region", { name: "Comments", exact: true });
  await history.getByText("force-pushed the branch").waitFor();
  const text = (await history.textContent()) ?? "";
  const places = ['changed the title from "t" to "First"', "In between", "pushed 1 commit", "force-pushed"];
  expect(places.map((words) => text.indexOf(words)).toSorted((a, b) => a - b)).toEqual(
    places.map((words) => text.indexOf(words)),
  );
  expect(text).not.toContain("wants to merge");
  remote.commit("top", { c: "1\n" }, { from: "work" });
  await svc.api.call("POST", api, { body: { title: "On top", head_ref: "top", base_ref: "work" } });
  const stack = page.getByRole("region", { name: "Stack" });
  await stack.getByRole("link", { name: "On top" }).waitFor();
  await stack.getByText("the base of #2 becomes main").waitFor();
  const hostile = HOSTILE_TEXTS.at(0) ?? "";
  await call("PATCH", "", { title: hostile });
  await history.getByText(named(`to "${hostile}"`)).waitFor();
  await holdsNothing(page);
  expect(await barriers(page)).toEqual([]);
  await page.setViewportSize(PHONE);
  expect(await overflow(page)).toBe(0);
  await history.getByRole("link", { name: "Compare" }).click();
  await page.waitForURL(/view=changes&since=2$/);
  expect(faults()).toEqual([]);
  await close();
});
