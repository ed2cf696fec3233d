import type { Page } from "playwright-core";
import { openPostgres } from "../../db/client.ts";
import { caller } from "../../test/helpers/api.ts";
import { CHROMIUM, closeBrowser } from "../../test/helpers/browser.ts";
import { signedIn } from "../../test/helpers/cookie-browser.ts";
import { fillLists, titleOf } from "../../test/helpers/long-lists.ts";
import { devtoolsOf, profile, scroll } from "./frames.ts";
import { startPostgres } from "./postgres.ts";
import { startServer } from "./server.ts";
import type { Workbench } from "./workbench.ts";

const WHAT = "long list";
/** The user of the bench's server. */
const EMAIL = "bench@example.com";
const CHANGE_REQUESTS = 5_000;
const SESSIONS = 1_000;
/** Processor time of a frame, in milliseconds. */
const FRAME_MS = 8;
/** Ends a hang. */
const LIMIT_MS = 300_000;

/**
 * Measures the processor time of a frame while the lists of 5,000 change requests and of 1,000 sessions, all loaded, are
 * scrolled in Chromium. The peer is a list of the same titles without style or script.
 */
export async function longList(bench: Workbench): Promise<void> {
  if (!CHROMIUM[1]) return bench.report.skip(WHAT, "Chromium is not installed");
  const postgres = await startPostgres(bench);
  if ("missing" in postgres) return bench.report.skip(WHAT, postgres.missing);
  const databaseUrl = await postgres.createDatabase();
  const dataDir = bench.folder("data");
  const server = await startServer(bench, { dataDir, env: { DATABASE_URL: databaseUrl } });
  const project = await server.project();
  const amounts = {
    changeRequests: bench.amount(CHANGE_REQUESTS, 120),
    sessions: bench.amount(SESSIONS, 120),
  };
  const { db, close } = await openPostgres(databaseUrl);
  await fillLists(db, project.id, { email: EMAIL, ...amounts });
  await close();
  const plain = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: ({ url }) =>
      new Response(plainPage(Number(new URL(url).searchParams.get("rows"))), {
        headers: { "Content-Type": "text/html; charset=utf-8" },
      }),
  });
  const { cookie } = await signedIn({ dataDir, call: caller(server.url, server.token) }, EMAIL);
  for (const [what, part, rows] of [
    ["change requests", "change-requests", amounts.changeRequests],
    ["sessions", "sessions", amounts.sessions],
  ] as const) {
    const ours = await frame(
      bench,
      `${server.url}/projects/${project.id}/${part}`,
      cookie,
      `${rows} ${what}`,
    );
    const peer = await frame(bench, `${plain.url}?rows=${rows}`, null, null);
    bench.report.ratio({
      what: `${WHAT}: ${rows.toLocaleString("en")} ${what}`,
      unit: "ms",
      ours,
      peer: ["plain list", peer],
      bar: { atMost: Number((FRAME_MS / peer).toFixed(2)) },
    });
  }
  await closeBrowser();
  await plain.stop(true);
  await server.stop();
}

/** @param all the text that the page says when it has loaded the whole list; null: it has it at once */
async function frame(
  bench: Workbench,
  url: string,
  cookie: string | null,
  all: string | null,
): Promise<number> {
  const context = await profile(url, cookie);
  const page = await context.newPage();
  page.setDefaultTimeout(LIMIT_MS);
  await page.goto(url);
  if (all !== null) await loadAll(page, all);
  const devtools = await devtoolsOf(page);
  const ms = await scroll(bench, page, devtools);
  await context.close();
  return ms;
}

/** Scrolls to the end of a list until it is loaded, and back to its start. */
async function loadAll(page: Page, all: string): Promise<void> {
  await page.getByRole("status").filter({ hasText: /\d/ }).waitFor({ state: "attached" });
  await page.evaluate(async (text) => {
    const isAll = () =>
      [...document.querySelectorAll("[role=status]")].some((each) => each.textContent === text);
    while (!isAll()) {
      window.scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });
      await new Promise(requestAnimationFrame);
    }
    window.scrollTo({ top: 0, behavior: "instant" });
    await new Promise(requestAnimationFrame);
  }, all);
}

function plainPage(rows: number): string {
  const items = Array.from({ length: rows }, (_, at) => `<li><p>${titleOf(at + 1)}<p>#${at + 1}</li>`);
  return `<!doctype html><ul>${items.join("")}</ul>`;
}
