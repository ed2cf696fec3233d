import { readFileSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from "playwright-core";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import type { Api } from "./api.ts";
import { openBrowser, signedIn } from "./cookie-browser.ts";
import { until } from "./until.ts";

/** The first is the same browser without its windows, and starts in half the time. */
const PROGRAMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];
const PROGRAM = PROGRAMS.map((name) => Bun.which(name)).find((path) => path !== null) ?? null;
/** For `needs(...CHROMIUM)`. */
export const CHROMIUM = ["a browser (chromium)", PROGRAM !== null] as const;

/** About the width of phones; WCAG 2.2, 1.4.10 requires 320. */
export const DESKTOP = { width: 1280, height: 800 };
export const PHONE = { width: 375, height: 740 };

const AXE = Bun.fileURLToPath(import.meta.resolve("axe-core/axe.min.js"));

/** The browser of this process, which ends with it: a profile is fresh for each visit, and a start takes a second. */
export async function sharedBrowser(): Promise<Browser> {
  if (!browser?.isConnected()) {
    if (PROGRAM === null) throw new Error("there is no browser here");
    browser = await chromium.launch({
      executablePath: PROGRAM,
      // as root it has no sandbox, and it shows only pages of the tests
      args: ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking"],
    });
  }
  return browser;
}
let browser: Browser | undefined;

/** Closes the profiles of a file's tests: those that are left open, and those that wait for the next visit. */
export async function closeProfiles(): Promise<void> {
  idle.length = 0;
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
}

/** Closes the browser of this process, which would keep it alive. */
export async function closeBrowser(): Promise<void> {
  await browser?.close();
}

export interface Visit {
  page: Page;
  /** Faults of the page so far: script errors, policy violations, requests to other origins. */
  faults(): string[];
  /** For the message of a failing test: the page's text, its faults, and failed and pending requests. */
  describe(): Promise<string>;
  close(): Promise<void>;
}

export interface VisitOptions {
  size?: typeof DESKTOP;
  dark?: boolean;
  /** A profile that no other visit has had or will have: for first visits, false clocks and scripts of a test's own. */
  fresh?: boolean;
}

/** A browser profile with one page, and what that has done since the visit began. */
interface Profile {
  context: BrowserContext;
  page: Page;
  notes: Notes;
}

interface Notes {
  origin: string;
  found: string[];
  underWay: Set<string>;
  unanswered: string[];
}

/**
 * Profiles whose visits have ended, without anything that those stored. The dashboard's code is in their cache, which
 * takes 0.5 s of CPU time less for each page that a test opens.
 */
const idle: Profile[] = [];

/** Opens a page in a browser profile in which nothing is stored. */
export async function visit(
  browser: Browser,
  url: string,
  { size = DESKTOP, dark = false, fresh = false }: VisitOptions = {},
): Promise<Visit> {
  const { origin } = new URL(url);
  const notes: Notes = { origin, found: [], underWay: new Set(), unanswered: [] };
  const profile = (fresh ? undefined : idle.pop()) ?? (await makeProfile(browser, notes));
  profile.notes = notes;
  const { context, page } = profile;
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
  if (page.url() !== url) await page.goto(url);
  const { found, underWay, unanswered } = notes;
  const describe = async () => {
    const text = await page.locator("body").textContent({ timeout: 5_000 }).catch(String);
    return [text, ...found, ...unanswered, ...[...underWay].map((url) => `under way: ${url}`)].join("\n");
  };
  return {
    page,
    faults: () => found,
    describe,
    async close() {
      if (!fresh && (await empty(profile))) idle.push(profile);
      else await context.close();
    },
  };
}

async function makeProfile(browser: Browser, notes: Notes): Promise<Profile> {
  // each frame of a transition is drawn by the processor
  const context = await browser.newContext({ reducedMotion: "reduce" });
  const page = await context.newPage();
  const profile: Profile = { context, page, notes };
  page.setDefaultTimeout(WAIT_LIMIT_MS);
  const note = (fault: string) => void profile.notes.found.push(fault);
  page.on("pageerror", (error) => note(`error: ${error.message}`));
  page.on("console", (message) => {
    const isStatus = message.text().startsWith("Failed to load resource");
    if (message.type() === "error" && !isStatus) note(`console: ${message.text()}`);
  });
  page.on("dialog", (dialog) => {
    note(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("requestfinished", (request) => void profile.notes.underWay.delete(request.url()));
  page.on("requestfailed", (request) => {
    profile.notes.underWay.delete(request.url());
    profile.notes.unanswered.push(`${request.failure()?.errorText}: ${request.url()}`);
  });
  page.on("response", (response) => {
    if (response.status() >= 400) profile.notes.unanswered.push(`${response.status()}: ${response.url()}`);
  });
  page.on("request", (request) => {
    profile.notes.underWay.add(request.url());
    const { origin, protocol } = new URL(request.url());
    if (protocol !== "data:" && origin !== profile.notes.origin) note(`asked: ${request.url()}`);
  });
  await page.exposeFunction("noteViolation", (text: string) => note(`policy: ${text}`));
  await page.addInitScript(() => {
    document.addEventListener("securitypolicyviolation", (event) => {
      const note: unknown = Reflect.get(window, "noteViolation");
      if (typeof note === "function") note(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
    });
  });
  return profile;
}

/** How long a page may take to be left. */
const LEAVE_MS = 20_000;

/** Removes what a visit has left in its profile. @returns whether another visit may have it */
async function empty({ context, page, notes }: Profile): Promise<boolean> {
  if (context.pages().length !== 1 || context.serviceWorkers().length > 0) return false;
  try {
    await page.unrouteAll({ behavior: "ignoreErrors" });
    // leaving a page may store something
    await page.goto(`${notes.origin}/assets/icon.svg`, { timeout: LEAVE_MS });
    await page.evaluate(() => {
      localStorage.clear();
      sessionStorage.clear();
    });
    await context.clearCookies();
    await context.clearPermissions();
    await page.mouse.move(0, 0);
    return true;
  } catch {
    // its server has ended, or the page did not let itself be left
    return false;
  }
}

/** Cookies by server and user: comparing a password is slow on purpose. */
const cookies = new WeakMap<Api, Map<string, string>>();

/**
 * Signs a page's browser profile in, and opens a page there. A user may be signed in in several profiles.
 * @param path of a page, from `/`
 */
export async function signIn(
  { page }: Pick<Visit, "page">,
  api: Api,
  path = "/",
  email = "first@example.com",
): Promise<void> {
  const known = cookies.get(api) ?? new Map<string, string>();
  cookies.set(api, known);
  const kept = known.get(email) ?? "";
  const cookie = (await isSignedIn(api, kept)) ? kept : ((await signedIn(api, email)).cookie ?? "");
  known.set(email, cookie);
  const [name = "", value = ""] = cookie.split("=");
  await page.context().addCookies([{ name, value, url: api.url, httpOnly: true, sameSite: "Lax" }]);
  await page.goto(api.url + path);
}

/** A test may have ended it, for example with a new password. */
async function isSignedIn(api: Api, cookie: string): Promise<boolean> {
  if (cookie === "") return false;
  const headers = { Cookie: cookie };
  return (await openBrowser(api).call("GET", "/v1/auth/session", { headers })).body.signed_in;
}

/** Waits for this number of elements: other parts of the page may come from another request. */
export async function untilCount(found: Locator, count: number): Promise<void> {
  await until(`there are ${count} of ${found}`, async () => (await found.count()) === count);
}

/** What axe finds against WCAG 2.2 AA and its best practices, a line each: the rule, and where. */
export async function findings(page: Page): Promise<string[]> {
  return linesOf(await violations(page, RULES));
}

/** The same of colours only, for a page in other colours: the rest does not depend on them. */
export async function colourFindings(page: Page): Promise<string[]> {
  return linesOf(await violations(page, ["color-contrast", "link-in-text-block"]));
}

/** Those that are serious or critical. */
export async function barriers(page: Page): Promise<string[]> {
  const found = await violations(page, RULES);
  return linesOf(found.filter(({ impact }) => impact === "serious" || impact === "critical"));
}

/** The barriers and overflows of a page on a desktop, on a phone, and in the dark, where only colours differ. */
export async function barriersInAllLooks(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const size of [PHONE, DESKTOP]) {
    await page.setViewportSize(size);
    found.push(...(await barriers(page)));
    const wide = await overflow(page);
    if (wide > 0) found.push(`${wide} pixels wider than ${size.width}`);
  }
  await page.emulateMedia({ colorScheme: "dark" });
  found.push(...(await colourFindings(page)).map((line) => `dark: ${line}`));
  await page.emulateMedia({ colorScheme: "light" });
  return found;
}

const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

/** @param only tags of axe's rules, or their names */
async function violations(page: Page, only: readonly string[]): Promise<Violation[]> {
  // evaluated, not loaded: the page's policy lets in no script but its own
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(readFileSync(AXE, "utf8"));
  // a colour on its way to another has a contrast of its own; a transition could also begin while axe reads the page
  await page.evaluate(async () => {
    const still = new CSSStyleSheet();
    still.replaceSync("*, ::before, ::after { transition: none !important }");
    document.adoptedStyleSheets.push(still);
    const underWay = () => document.getAnimations().filter((each) => each instanceof CSSTransition);
    do {
      for (const each of underWay()) each.finish();
      await new Promise(requestAnimationFrame);
    } while (underWay().length > 0);
  });
  // only what is read is computed and sent: most of the results are of rules that hold
  const options = { runOnly: only, resultTypes: ["violations"], selectors: false };
  const results: unknown = await page.evaluate(
    `axe.run(${JSON.stringify(options)}).then(({ violations }) => violations)`,
  );
  if (!Array.isArray(results)) throw new Error("axe did not answer");
  return results;
}

function linesOf(violations: readonly Violation[]): string[] {
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** Pixels by which a page is wider than its window. */
export async function overflow(page: Page): Promise<number> {
  return page.evaluate(() => {
    const { scrollWidth, clientWidth } = document.documentElement;
    return Math.max(0, scrollWidth - clientWidth);
  });
}

/** The folder for screenshots, `docs/screenshots`, if they are requested. */
const PICTURES = process.env["SVC_SCREENSHOTS"];
export const TAKES_PICTURES = PICTURES !== undefined;

/** Takes a screenshot of the window if screenshots are requested. @param name without `.png` */
export async function picture(page: Page, name: string): Promise<void> {
  if (PICTURES === undefined) return;
  // without the pointer and the focus
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.activeElement instanceof HTMLElement && document.activeElement.blur());
  await page.screenshot({ path: `${PICTURES}/${name}.png`, animations: "disabled" });
}
