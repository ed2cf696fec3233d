import { afterAll, beforeAll } from "bun:test";
import type { Browser } from "playwright-core";
import { type Api, startApi } from "./api.ts";
import { CHROMIUM, closeProfiles, sharedBrowser, signIn, type Visit, visit } from "./browser.ts";
import { keepPages, type OpenAs } from "./kept-pages.ts";

export interface Dashboard {
  readonly api: Api;
  readonly browser: Browser;
  /** Opens a page in a new browser profile, without a signed-in user. */
  open(path: string, options?: Parameters<typeof visit>[2]): Promise<Visit>;
  /** The same, signed in as a user. */
  openAs(email: string, path: string, options?: Parameters<typeof visit>[2]): Promise<Visit>;
  /** The same, in a page that an earlier test has closed, if there is one. */
  at: OpenAs;
}

/** The first user of each server that a test starts. */
export const FIRST = "first@example.com";

/** A server for the tests of a file, and a browser; the server and every open profile end with the file. */
export function startDashboard(options: Parameters<typeof startApi>[0] = {}): Dashboard {
  let api: Api | undefined;
  let browser: Browser | undefined;
  beforeAll(async () => {
    if (CHROMIUM[1]) [api, browser] = await Promise.all([startApi(options), sharedBrowser()]);
  });
  afterAll(async () => {
    await closeProfiles();
    await api?.stop();
  });
  const started = <T>(what: T | undefined): T => {
    if (what === undefined) throw new Error("the server and the browser start with the first test");
    return what;
  };
  const openAs: Dashboard["openAs"] = async (email, path, options) => {
    const opened = await visit(started(browser), `${started(api).url}/assets/icon.svg`, options);
    await signIn(opened, started(api), path, email);
    return opened;
  };
  return {
    get api() {
      return started(api);
    },
    get browser() {
      return started(browser);
    },
    open: (path, options) => visit(started(browser), started(api).url + path, options),
    openAs,
    at: keepPages(openAs),
  };
}
