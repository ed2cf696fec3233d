import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM, DESKTOP, overflow, PHONE } from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";

// a browser on a busy machine
const test = needs(...CHROMIUM);

let pages: SessionPages;
beforeAll(async () => {
  if (CHROMIUM[1]) pages = await startSessionPages();
});
afterAll(() => pages?.stop());

/** Sandboxes that never become ready, until the session is stopped. */
const never = (_: unknown, signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))));

test.each([
  ["desktop", { size: DESKTOP }],
  ["phone", { size: PHONE }],
  ["in the dark", { dark: true }],
])("all pages are accessible (%s)", async (_, options) => {
  const session = await pages.running({ name: "open to all" });
  pages.provider.onStart = never;
  const starting = await pages.create({ name: "starts" });
  pages.provider.onStart = () => {};
  const visited = await pages.open("/sessions", options);
  const { page } = visited;
  const shown: [string, string][] = [
    ["/sessions", "Sessions"],
    ["/sessions/new", "New session"],
    [`/sessions/${starting.session_id}`, "starts"],
    ...["", "?view=log", "?view=saved", "?view=prompts"].map((view): [string, string] => [
      `/sessions/${session.session_id}${view}`,
      "open to all",
    ]),
  ];
  for (const [path, title] of shown) {
    await page.goto(`${pages.api.url}/projects/${pages.projectId}${path}`);
    await page.getByRole("heading", { name: title, level: 1 }).waitFor();
    expect([path, await barriers(page)]).toEqual([path, []]);
    expect([path, await overflow(page)]).toEqual([path, 0]);
  }
  expect(visited.faults()).toEqual([]);
  await visited.close();
  await pages.call("DELETE", `/${starting.session_id}`);
});
