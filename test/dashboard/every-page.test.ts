import { afterAll, beforeAll, expect } from "bun:test";
import { readFileSync } from "node:fs";
import { makeAutomation } from "../../scripts/screenshots-automation.ts";
import { makeReview } from "../../scripts/screenshots-review.ts";
import { CONSENT_PAGE } from "../../src/contract/connector-consent.ts";
import {
  CHROMIUM,
  colourFindings,
  DESKTOP,
  findings,
  overflow,
  untilCount,
  visit,
} from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";
import { generator, pick, SEED, share } from "../helpers/random.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";

const test = needs(...CHROMIUM);

/** The routes of the dashboard, as its router has them. */
const ROUTES = [
  ...readFileSync(new URL("../../dashboard/app.tsx", import.meta.url), "utf8").matchAll(
    /<Route path=["{]([^"}]+)/g,
  ),
].map(([, route = ""]) => route);

/** Sandboxes that never become ready, until the session is stopped. */
const never = (_: unknown, signal: AbortSignal) =>
  new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(new Error("ended"))));

let pages: SessionPages;
/** By route: what to open, and the heading of the page. */
let shown: Record<string, readonly (readonly [address: string, heading: string | RegExp])[]>;

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  pages = await startSessionPages();
  const { api, projectId } = pages;
  await makeReview(pages);
  await makeAutomation(pages);
  const at = `/v1/projects/${projectId}`;
  const post = async (path: string, body: object) => (await api.call("POST", path, { body })).body;
  await post(`${at}/labels`, { name: "bug", color: "d73a4a", description: "Something is broken" });
  await api.call("PATCH", `${at}/change-requests/1`, { body: { add_labels: ["bug"] } });
  await post(`${at}/change-requests/2/comments`, {
    body: "- [ ] one\n- [x] two\n\n### A title\n\n###### Below it\n\n# Above\n\n> quoted",
  });
  const webhook = await post(`${at}/webhooks`, { url: `${api.url}/hook` });
  const tries = await post(`${at}/tries`, { initial_prompt: "Make it dark", count: 2 });
  const { accounts } = (await api.call("GET", "/v1/accounts/me")).body;
  const account = `/accounts/${accounts[0].account_id}`;
  const [session] = (await pages.call("GET", "")).body.sessions;
  pages.provider.onStart = never;
  const starting = await pages.create({ name: "starts" });
  const project = (await api.call("GET", at)).body;
  const own = `/projects/${project.slug}`;
  const views = (page: string, heading: string | RegExp, ...names: string[]) =>
    ["", ...names.map((name) => `?view=${name}`)].map((view) => [page + view, heading] as const);
  shown = {
    "/": [["/", "Home"]],
    "/new": [["/new", "New project"]],
    "/settings": [["/settings", "Settings"]],
    "/server": [["/server", "Server"]],
    "/cli/authorize": [["/cli/authorize", /terminal/]],
    "/accounts/:accountId/usage": [[`${account}/usage`, /./]],
    "/accounts/:accountId": [[account, accounts[0].name]],
    "/projects/:projectId/*?": [[`${own}/nothing`, "Page not found"]],
    "/projects/:projectId": [[own, "Change requests"]],
    "/projects/:projectId/secrets": [[`${own}/secrets`, "Secrets"]],
    "/projects/:projectId/settings": [[`${own}/settings`, "Settings"]],
    "/projects/:projectId/webhooks/:webhookId": [[`${own}/webhooks/${webhook.webhook_id}`, /./]],
    "/projects/:projectId/apps": [[`${own}/apps`, "Apps"]],
    "/projects/:projectId/apps/:slug": [[`${own}/apps/handbook`, "Handbook"]],
    "/projects/:projectId/triggers": [[`${own}/triggers`, "Triggers"]],
    "/projects/:projectId/triggers/:trigger": [[`${own}/triggers/dependencies`, "Upgrade dependencies"]],
    "/projects/:projectId/sessions": [[`${own}/sessions`, "Sessions"]],
    "/projects/:projectId/sessions/new": [[`${own}/sessions/new`, "New session"]],
    "/projects/:projectId/sessions/:sessionId": [
      ...views(`${own}/sessions/${session.session_id}`, /./, "log", "saved", "prompts"),
      ...views(`${own}/sessions/${starting.session_id}`, "starts"),
    ],
    "/projects/:projectId/tries/:triesId": [[`${own}/tries/${tries.tries_id}`, /./]],
    "/projects/:projectId/change-requests": [
      [`${own}/change-requests`, "Change requests"],
      [`${own}/change-requests?q=nothing`, "Change requests"],
    ],
    "/projects/:projectId/change-requests/new": [[`${own}/change-requests/new`, "New change request"]],
    "/projects/:projectId/change-requests/:cr": [
      ...views(`${own}/change-requests/3`, /Keep the login/, "commits", "changes", "turns"),
      ...views(`${own}/change-requests/2`, /Upgrade the database/),
    ],
    CONSENT_PAGE: [[CONSENT_PAGE, /./]],
    "/login": [["/login", "Sign in"]],
    "/sign-up": [["/sign-up", /./]],
    "/welcome": [["/welcome", /./]],
  };
});
afterAll(() => pages?.stop());

test("a new page is in the list", () => {
  expect(Object.keys(shown).toSorted()).toEqual(ROUTES.toSorted());
});

/** The width of most phones. */
const PHONE = { width: 390, height: 844 };

test("axe has no findings on any page, and none scrolls sideways: on a desktop, on a phone, in the dark", async () => {
  const signedIn = await pages.open("/nothing");
  const signedOut = await visit(pages.browser, `${pages.api.url}/login`);
  const found: [string, look: string, string[], number][] = [];
  // a page on a phone or in the dark, as the seed draws; on a desktop, and whether it fits a phone, in every run
  const random = generator(SEED);
  for (const [address, heading] of Object.values(shown).flat()) {
    const { page } = /^\/(?:login|sign-up|welcome)$/.test(address) ? signedOut : signedIn;
    await page.setViewportSize(DESKTOP);
    await page.emulateMedia({ colorScheme: "light" });
    await page.goto(pages.api.url + address);
    await page.getByRole("heading", { name: heading, level: 1 }).waitFor();
    await untilCount(page.getByText(/^Loading/), 0);
    found.push([address, "desktop", await findings(page), await overflow(page)]);
    await page.setViewportSize(PHONE);
    const looks = pick(share(1, 2), ["phone", "dark"], random);
    found.push([address, "phone", looks.includes("phone") ? await findings(page) : [], await overflow(page)]);
    if (!looks.includes("dark")) continue;
    await page.emulateMedia({ colorScheme: "dark" });
    found.push([address, "dark", await colourFindings(page), 0]);
  }
  expect(found.filter(([, , rules, wide]) => rules.length > 0 || wide > 0)).toEqual([]);
  for (const { faults, close } of [signedIn, signedOut]) {
    expect(faults()).toEqual([]);
    await close();
  }
});
