import type { Page } from "playwright-core";
import { DESKTOP, type Visit, type VisitOptions } from "./browser.ts";

/** Opens a page for a user who is signed in. */
export type OpenAs = (email: string, path: string, options?: Omit<VisitOptions, "fresh">) => Promise<Visit>;

interface Kept extends Visit {
  /** The paths that it has been opened at. */
  readonly paths: Set<string>;
}

/**
 * Opens pages as `openAs` does, but a page that a test has closed stays open for the next one of the same user, which turns to
 * its address as a click on a link does. That takes a fraction of the work of a load. What the page has stored is removed. What it
 * has cached it shows until the server has answered again, so an address that it has been opened at is loaded.
 */
export function keepPages(openAs: OpenAs): OpenAs {
  const closed = new Map<string, Kept[]>();
  return async (email, path, options = {}) => {
    const found = closed.get(email)?.pop();
    const kept = found ?? { ...(await openAs(email, path, options)), paths: new Set() };
    const before = found === undefined ? 0 : kept.faults().length;
    if (found) await turnTo(found, path, options);
    kept.paths.add(pathOf(path));
    return {
      ...kept,
      faults: () => kept.faults().slice(before),
      async close() {
        if (await forget(kept.page)) closed.set(email, [...(closed.get(email) ?? []), kept]);
        else await kept.close();
      },
    };
  };
}

async function turnTo({ page, paths }: Kept, path: string, options: VisitOptions): Promise<void> {
  const { size = DESKTOP, dark = false } = options;
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
  const to = new URL(path, page.url()).href;
  if (paths.has(pathOf(path)) || pathOf(page.url()) === pathOf(path)) await page.goto(to);
  else await page.evaluate(turn, to);
}

/** Runs in the page. For its clock, more time passes than it uses a cached answer without asking again. */
function turn(href: string): void {
  const now = Date.now;
  Date.now = () => now() + 10_000;
  history.pushState(null, "", href);
}

const pathOf = (address: string) => new URL(address, "http://page").pathname;

/** Removes what a test has changed around a page. @returns whether another test may have it */
async function forget(page: Page): Promise<boolean> {
  if (page.context().pages().length > 1 || page.context().serviceWorkers().length > 0) return false;
  try {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await page.context().clearPermissions();
    await page.mouse.move(0, 0);
    return true;
  } catch {
    // it is being loaded
    return false;
  }
}
