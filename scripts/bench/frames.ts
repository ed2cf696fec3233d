import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { sharedBrowser } from "../../test/helpers/browser.ts";
import type { Workbench } from "./workbench.ts";

/** Frames that are scrolled, and pixels of each: a fast reader. */
const FRAMES = 400;
const STEP = 60;

/** Opens a browser profile. @param cookie of a user who is signed in at the origin of the URL; null for none */
export async function profile(url: string, cookie: string | null): Promise<BrowserContext> {
  const browser = await sharedBrowser();
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const [name = "", value = ""] = cookie?.split("=") ?? [];
  if (cookie !== null)
    await context.addCookies([{ name, value, url: new URL(url).origin, httpOnly: true, sameSite: "Lax" }]);
  return context;
}

/** A session of the browser's tools that measures processor time, not time of the clock. */
export async function devtoolsOf(page: Page): Promise<CDPSession> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send("Performance.enable", { timeDomain: "threadTicks" });
  return devtools;
}

/**
 * Scrolls a page, and measures each frame.
 * @param step pixels of each frame; negative upwards
 * @returns the mean processor time of the page's main thread for a frame, in milliseconds
 */
export async function scroll(
  bench: Workbench,
  page: Page,
  devtools: CDPSession,
  step = STEP,
): Promise<number> {
  const frames = bench.amount(FRAMES, 20);
  const before = await metrics(devtools);
  await page.evaluate(
    async ([count, by]) => {
      for (let frame = 0; frame < count; frame++) {
        window.scrollBy({ top: by, behavior: "instant" });
        await new Promise(requestAnimationFrame);
      }
    },
    [frames, step] as const,
  );
  const after = await metrics(devtools);
  return (((after["TaskDuration"] ?? 0) - (before["TaskDuration"] ?? 0)) * 1000) / frames;
}

/** The figures of the browser's tools by name. */
export async function metrics(devtools: CDPSession): Promise<Record<string, number>> {
  const { metrics: found } = await devtools.send("Performance.getMetrics");
  return Object.fromEntries(found.map(({ name, value }) => [name, value]));
}
