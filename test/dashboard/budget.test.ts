import { beforeAll, expect } from "bun:test";
import { CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();

/** Requests before a field of the sign-in page can be typed into: the page, its style, its code, who is signed in. */
const REQUESTS = 12;
/** So long React keeps what stands for a part of a page that is not there yet (its `FALLBACK_THROTTLE_MS`). */
const PAUSE_MS = 300;
const FRESH = { fresh: true };
/** Compressed script of a first visit. */
const SCRIPT_BYTES = 250_000;

beforeAll(async () => {
  if (CHROMIUM[1]) await svc.api.call("POST", "/v1/projects", { body: { name: "Shop" } });
});

test("the sign-in page accepts input after few requests on a first visit", async () => {
  const { page, close } = await svc.open("/login", FRESH);
  await page.getByLabel("E-mail").fill("a");
  const requests = await page.evaluate(() => performance.getEntriesByType("resource").length + 1);
  expect(requests).toBeLessThanOrEqual(REQUESTS);
  await close();
});

test("a page is shown as soon as its code has loaded, without React's delays of 300 ms", async () => {
  const { page, close } = await svc.openAs(FIRST, "/assets/icon.svg", FRESH);
  // its clock stands; each look lets a millisecond pass, and however long the machine takes is not counted
  await page.clock.install();
  await page.clock.pauseAt(new Date(Date.now() + 60_000));
  await page.goto(`${svc.api.url}/projects/shop/secrets`);
  const heading = page.getByRole("heading", { name: "Secrets", exact: true });
  let passed = 0;
  await until("it is shown", async () => {
    await page.clock.runFor(1);
    passed++;
    return passed > PAUSE_MS || (await heading.isVisible());
  });
  expect(passed).toBeLessThan(PAUSE_MS);
  await close();
});

/** Pages that a signed-in user opens, and their headings. */
const PAGES: [path: string, heading: string][] = [
  ["/", "Projects"],
  ["/new", "New project"],
  ["/settings", "Settings"],
  ["/projects/shop/secrets", "Secrets"],
  ["/projects/shop/settings", "Settings"],
  ["/projects/shop/sessions", "Sessions"],
  ["/projects/shop/change-requests", "Change requests"],
  ["/projects/shop/apps", "Apps"],
  ["/projects/shop/sessions/new", "New session"],
  ["/cli/authorize", "Sign in a terminal"],
];

test.each([["/login", "Sign in to svc"], ...sample(3, PAGES)])(
  "a first visit to %s loads little script, all of which its document names",
  async (path, heading) => {
    const { page, close } =
      path === "/login" ? await svc.open(path, FRESH) : await svc.openAs(FIRST, path, FRESH);
    await page.getByRole("heading", { name: heading, exact: true }).waitFor();
    const scripts = await page.evaluate(() =>
      performance
        .getEntriesByType("resource")
        .flatMap((entry) =>
          entry instanceof PerformanceResourceTiming && entry.name.endsWith(".js")
            ? [{ url: entry.name, size: entry.encodedBodySize }]
            : [],
        ),
    );
    // signing in opens another page first
    const text = await (await fetch(svc.api.url + path)).text();
    expect(scripts.filter(({ url }) => !text.includes(url.slice(svc.api.url.length)))).toEqual([]);
    const total = scripts.reduce((sum, { size }) => sum + size, 0);
    expect(total).toBeGreaterThan(20_000);
    expect(total).toBeLessThan(SCRIPT_BYTES);
    await close();
  },
);
