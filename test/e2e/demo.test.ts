import { afterAll, beforeAll, expect } from "bun:test";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Browser, Page } from "playwright-core";
import { type Api, startApi } from "../helpers/api.ts";
import { CHROMIUM, closeProfiles, sharedBrowser, signIn, visit } from "../helpers/browser.ts";
import { makeHome, spawnSvc, svc, svcOnTerminal } from "../helpers/cli-run.ts";
import { needs } from "../helpers/needs.ts";
import { createDatabase, POSTGRES, type TestDatabase } from "../helpers/postgres.ts";
import { AGENT, RUNTIME, RUNTIME_PLUGINS } from "../helpers/runtime.ts";
import { until } from "../helpers/until.ts";

const isPresent = CHROMIUM[1] && AGENT[1];

/** The whole loop as a new user has it: the binaries, a local sandbox and the real agent runtime. No model, no key. */
let api: Api;
let browser: Browser;
let database: TestDatabase | null = null;

beforeAll(async () => {
  if (!isPresent) return;
  database = POSTGRES ? await createDatabase() : null;
  [api, browser] = await Promise.all([
    startApi({
      env: {
        SVC_SANDBOX_PROVIDER: "local",
        ...(database && { DATABASE_URL: database.url }),
        ...(RUNTIME !== null && { SVC_RUNTIME_BIN: RUNTIME }),
        ...(RUNTIME_PLUGINS !== null && { SVC_RUNTIME_PLUGINS: RUNTIME_PLUGINS }),
      },
    }),
    sharedBrowser(),
  ]);
});
afterAll(async () => {
  await closeProfiles();
  await api?.stop();
  await database?.drop();
});

/** A user's machine, signed in. */
function someone(): ReturnType<typeof makeHome> {
  const home = makeHome();
  mkdirSync(dirname(home.config), { recursive: true });
  const hosts = { here: { url: `${api.url}/v1`, token: api.token } };
  writeFileSync(home.config, JSON.stringify({ active: "here", hosts }), { mode: 0o600 });
  return home;
}

const projects = async (): Promise<{ name: string }[]> =>
  (await api.call("GET", "/v1/projects")).body.projects;

needs(`${CHROMIUM[0]} and ${AGENT[0]}`, isPresent)(
  "killed while the agent works, it continues, also after what is done in the pages; --clean deletes only the demo",
  async () => {
    const home = someone();
    const files = () => readdirSync(dirname(home.config)).toSorted();
    await api.call("POST", "/v1/projects", { body: { name: "Demo" } });
    const first = spawnSvc(["demo", "--yes"], { home });
    let said = "";
    for await (const chunk of first.stderr) {
      said += Buffer.from(chunk).toString();
      if (said.includes("starting the agent")) first.kill("SIGKILL");
    }
    expect([await first.exited, first.signalCode]).toEqual([137, "SIGKILL"]);
    expect(said).toContain("No model is used.");

    const terminal = svcOnTerminal(["demo"], { home, env: { SVC_BROWSER: "true" } });
    await terminal.shows("Your comment.");
    const [, path = "", slug = ""] =
      /In the dashboard: \S+?(\/projects\/([^/\s]+)\/\S+)/.exec(terminal.screen()) ?? [];
    const { page, faults, close } = await visit(browser, `${api.url}/assets/icon.svg`);
    await signIn({ page }, api, `${path}?view=changes`);
    await review(page, 'The page could say "Welcome aboard" instead.');
    await terminal.shows("Merge change request #1?");
    await page.getByText("(A script wrote this reply.)").waitFor();
    await page.getByRole("button", { name: "Merge", exact: true }).click();
    await page.getByRole("heading", { name: "Merged into main" }).waitFor();
    await terminal.shows('the app says "Welcome aboard"');
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    // as it is open at one address, the page's requests to another are faults
    expect(faults()).toEqual([]);
    await page.goto(api.url + path.replace(/change-requests.*/, "apps/site"));
    const opens = page.context().waitForEvent("page");
    await page.getByRole("button", { name: "Open the app" }).click();
    const app = await opens;
    await app.getByRole("heading", { name: "Welcome aboard" }).waitFor();
    // the app's script writes it
    await app.locator("#greeting", { hasText: /^Good (night|morning|afternoon|evening)!$/ }).waitFor();
    await close();

    await expectEachStepOnce(slug);
    expect((await projects()).map(({ name }) => name).toSorted()).toMatchObject([
      "Demo",
      expect.stringMatching(/^Demo [0-9a-f]{12}$/),
    ]);
    expect(files()).toEqual(["config.json", "demo-here.json"]);
    const cleaned = await svc(["demo", "--clean", "--yes", "--json"], { home });
    expect(JSON.parse(cleaned.stdout)).toMatchObject({ project_slug: slug, deleted: true });
    expect((await projects()).map(({ name }) => name)).toEqual(["Demo"]);
    expect(readdirSync(`${api.dataDir}/sandboxes`)).toEqual([]);
    expect(files()).toEqual(["config.json"]);
  },
);

async function expectEachStepOnce(project: string): Promise<void> {
  const of = `/v1/projects/${project}`;
  const { comments } = (await api.call("GET", `${of}/change-requests/1/comments`)).body;
  expect(comments).toMatchObject([
    { path: "site/index.html", line: 12, author: { kind: "user" } },
    { reply_to: comments[0].comment_id, author: { kind: "agent" } },
  ]);
  const { commits } = (await api.call("GET", `${of}/commits`)).body;
  expect(commits.map(({ subject }: { subject: string }) => subject)).toEqual([
    "Change the heading",
    "Greet visitors by the time of day",
    "A small web app",
  ]);
  expect((await api.call("GET", `${of}/sessions`)).body.sessions).toMatchObject([{ status: "running" }]);
}

/** Comments on the added line, and sends the comment to the session. */
async function review(page: Page, text: string): Promise<void> {
  await page.getByRole("button", { name: "Comment on line 12, added" }).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.type(text);
  await page.keyboard.press("Control+Enter");
  await page.getByText(text).first().waitFor();
  await page.getByRole("link", { name: "Conversation" }).click();
  await page.getByRole("button", { name: "Send to the session" }).click();
  await page.getByText("Sent to the session.").waitFor();
  await until("the page has the reply", async () => (await page.getByText("A script wrote").count()) > 0);
}
