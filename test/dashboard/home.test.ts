import { afterAll, beforeAll, expect } from "bun:test";
import { type Database, openPostgres } from "../../db/client.ts";
import type { projectSessions } from "../../db/schema/index.ts";
import { barriersInAllLooks, CHROMIUM, DESKTOP, overflow, PHONE, picture } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { Remote } from "../helpers/remote.ts";
import { insertSession, type RunValues } from "../helpers/session-row.ts";

const test = needs("a real Postgres and a browser", POSTGRES && CHROMIUM[1]);
const svc = startDashboard();
const remote = new Remote();
const HOSTILE = "<img src=x onerror=alert(1)> \u202Egpj.exe";
let database: Database;
let project: { project_id: string; account_id: string };
let userId: string;

beforeAll(async () => {
  if (!POSTGRES || !CHROMIUM[1]) return;
  remote.commit("main", { a: "1\n" });
  project = await svc.api.project(remote.url, { name: "Shop" });
  userId = (await svc.api.call("GET", "/v1/accounts/me")).body.user_id;
  database = await openPostgres(svc.api.databaseUrl ?? "");
});
afterAll(async () => {
  await database?.close();
  remote.remove();
});

async function session(name: string, values: Partial<typeof projectSessions.$inferInsert>, run?: RunValues) {
  const { project_id: projectId, account_id: accountId } = project;
  const sessionId = crypto.randomUUID();
  const of = { sessionId, projectId, accountId, createdBy: userId };
  await insertSession(database.db, { ...of, name, activityAt: new Date(), ...values }, run);
  return sessionId;
}

/** Below the project's path. */
const call = (method: string, path: string, body: object) =>
  svc.api.call(method, `/v1/projects/${project.project_id}${path}`, { body });

/** Opens a change request of a new branch. @returns its head */
async function open(title: string, more: object = {}): Promise<string> {
  const head = `work-${crypto.randomUUID()}`;
  const sha = remote.commit(head, { [head]: "1\n" }, { from: "main" });
  await call("POST", "/change-requests", { title, head_ref: head, ...more });
  return sha;
}

const fail = (sha: string) => call("POST", `/statuses/${sha}`, { context: "test", state: "failure" });

test("the start page says that nothing needs the user, and then what does, by itself", async () => {
  const { page, faults, close } = await svc.openAs(FIRST, "/assets/icon.svg", { fresh: true });
  await page.clock.install();
  await page.goto(svc.api.url);
  const needed = page.getByRole("region", { name: "Needs you" });
  await needed.getByText("Nothing needs you now.").waitFor();
  await needed.getByRole("link", { name: "start an agent in Shop" }).waitFor();
  expect(await page.getByRole("region", { name: "Your sessions" }).count()).toBe(0);
  await fail(await open(HOSTILE));
  await page.clock.runFor(30_000);
  const failed = needed.getByRole("list", { name: "Failed checks" });
  await failed.getByText("Failed: test").waitFor();
  expect(await failed.getByRole("link").textContent()).toContain("U+202E");
  expect(await needed.getByRole("list").count()).toBe(1);
  await failed.getByRole("link").focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/projects/shop/change-requests/1");
  expect(faults()).toEqual([]);
  await close();
});

test("a person without projects is told how to begin", async () => {
  const { page, close } = await svc.openAs("nobody@example.com", "/");
  await page.getByRole("heading", { name: "No projects yet" }).waitFor();
  expect(await page.getByRole("region", { name: "Needs you" }).count()).toBe(0);
  await close();
});

/** Sessions in each column of the board, and with each need. */
async function fill(): Promise<void> {
  await call("PATCH", "/change-requests/1", { title: "Speed up the search" });
  const request = { request_id: "per_1", kind: "permission" as const, kept: false, questions: [] };
  const waitingFor = { ...request, permission: "bash", patterns: ["npm publish --access public"] };
  await session("a".repeat(200), { status: "stopped" });
  for (const name of ["Prices in euros", "Sizes of shoes", "Sitemap", "Fonts", "Broken links"])
    await session(name, { activity: "idle" });
  await session("Publish the packages", { activity: "waiting", waitingFor });
  await session("Fix the login page", { activity: "working" });
  await session(
    "Update the dependencies",
    { status: "failed" },
    { error: "The image node:99 is not found." },
  );
  const session_id = await session("Dark mode", { activity: "idle" });
  await open("Dark mode for the settings", { session_id });
}

test("needs and sessions are accessible on a desk, on a phone and in the dark", async () => {
  await fill();
  const { page, faults, close } = await svc.openAs(FIRST, "/");
  const board = page.getByRole("region", { name: "Your sessions" });
  await board.getByRole("list", { name: "Working" }).getByText("Fix the login page").waitFor();
  const review = board.getByRole("list", { name: "In review" });
  expect(await review.getByRole("link").allTextContents()).toEqual(["Dark mode", "#2"]);
  const waiting = page.getByRole("list", { name: "Agents that wait for you" });
  await waiting.getByText("It asks for permission: bash npm publish --access public").waitFor();
  await page.getByRole("link", { name: "Shop", exact: true }).waitFor();
  expect(await barriersInAllLooks(page)).toEqual([]);
  for (const [look, size] of [
    ["phone", PHONE],
    ["desktop", DESKTOP],
  ] as const) {
    await page.setViewportSize(size);
    await picture(page, `home-${look}`);
  }
  const done = board.getByRole("list", { name: "Done" });
  expect(await done.getByRole("listitem").count()).toBe(5);
  await board.getByRole("button", { name: "Show all 6 in Done" }).press("Enter");
  expect(await done.getByRole("listitem").count()).toBe(6);
  for (const size of [PHONE, DESKTOP]) {
    await page.setViewportSize(size);
    expect(await overflow(page)).toBe(0);
  }
  expect(faults()).toEqual([]);
  await close();
});
