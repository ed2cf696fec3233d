import { afterAll, beforeAll, expect, test as plain } from "bun:test";
import { dollars, spent } from "../../dashboard/parts/cost.ts";
import {
  barriers,
  CHROMIUM,
  closeProfiles,
  DESKTOP,
  overflow,
  PHONE,
  sharedBrowser,
  signIn,
  visit,
} from "../helpers/browser.ts";
import { FIRST } from "../helpers/dashboard.ts";
import { type ModelBench, startModels } from "../helpers/model-bench.ts";
import { needs } from "../helpers/needs.ts";
import { until } from "../helpers/until.ts";
import { bodyOf } from "../helpers/upstream.ts";

const test = needs(...CHROMIUM);

let bench: ModelBench;
let session: string;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  bench = await startModels();
  const { id, key } = await bench.session();
  session = id;
  const ask = { input: 400_000, output: 50_000 };
  for (const model of ["fast", "fast", "mapped"]) {
    const body = bodyOf("chat", model, ask, false);
    await (await bench.call(key, "openai/v1/chat/completions", body)).text();
  }
  const claude = bodyOf("messages", "claude", { input: 200_000, output: 10_000 }, false);
  await (await bench.call(key, "anthropic/v1/messages", claude)).text();
  await until("all are recorded", async () => (await bench.usage()).total.calls === 4);
});
afterAll(async () => {
  await closeProfiles();
  await bench?.[Symbol.asyncDispose]();
});

async function open(path: string, options: Parameters<typeof visit>[2] = {}) {
  const { api } = bench.sessions;
  const opened = await visit(await sharedBrowser(), `${api.url}/assets/icon.svg`, options);
  await signIn(opened, api, path, FIRST);
  return opened;
}

test("the usage of models is shown by day, project, person and model, with bars", async () => {
  const { page, faults, close } = await open(`/accounts/${bench.accountId}`);
  await page.getByRole("link", { name: "Model usage" }).click();
  await page.getByRole("heading", { name: "Model usage", level: 1 }).waitFor();
  // 2 × (0.8 + 0.4) + 0.4 + 0.08 dollars, of 3 × 450,000 + 210,000 tokens
  await page.getByText("$2.88").first().waitFor();
  await page
    .getByText("in 4 calls, for 1,400,000 tokens of input (0 cached) and 160,000 of output.")
    .waitFor();
  await page.getByText("does not include 1 call to models without prices").waitFor();
  const day = new Date().toISOString().slice(0, 10);
  await page.getByRole("row", { name: `${day} $2.88 4 1,400,000 160,000` }).waitFor();

  await page.getByRole("link", { name: "Model", exact: true }).click();
  await page.getByRole("row", { name: "mapped – 1 400,000 50,000" }).waitFor();
  const rows = await page.locator("tbody tr").evaluateAll((all) =>
    all.map((row) => {
      const bar = row.querySelector("div");
      return [row.querySelector("th")?.textContent, Number.parseFloat(bar?.style.width ?? "")];
    }),
  );
  expect(rows).toEqual([
    ["fast", 100],
    ["claude", expect.closeTo(20, 3)],
    ["mapped", 0],
  ]);
  await page.getByRole("link", { name: "Person" }).click();
  await page.getByRole("row", { name: /^first .*4 1,400,000/ }).waitFor();
  await page.getByRole("link", { name: "7 days" }).click();
  await page.waitForURL(/by=user&days=7$/);
  await page.getByRole("link", { name: "Project" }).click();
  await page.getByRole("row", { name: /4 1,400,000 160,000/ }).waitFor();
  expect(new URL(page.url()).search).toBe("?by=project&days=7");
  expect(faults()).toEqual([]);
  await close();
});

test.each([
  ["desktop", { size: DESKTOP }],
  ["phone", { size: PHONE }],
  ["dark", { dark: true }],
])("the usage is accessible (%s)", async (_, options) => {
  const { page, faults, close } = await open(`/accounts/${bench.accountId}/usage?by=model`, options);
  await page.getByRole("row", { name: /^mapped/ }).waitFor();
  expect([await barriers(page), await overflow(page)]).toEqual([[], 0]);
  expect(faults()).toEqual([]);
  await close();
});

test("a session and its change request show what they have used", async () => {
  const { api, projectId } = bench.sessions;
  bench.sessions.remote.commit(session, { b: "1\n" });
  const body = { title: "Costs", head_ref: session, session_id: session };
  const made = await api.call("POST", `/v1/projects/${projectId}/change-requests`, { body });
  expect(made.status).toBe(201);
  const { page, close } = await open(`/projects/${projectId}/sessions/${session}`);
  await page.getByText("$2.88, 1,560,000 tokens").waitFor();
  await page.goto(`${api.url}/projects/${projectId}/change-requests/${made.body.number}`);
  await page.getByText("that has used $2.88, 1,560,000 tokens").waitFor();
  await close();
});

plain("costs are shown with cents, small ones with two digits", () => {
  const shown = [null, 0, 0.000_123_4, 0.5, 1, 1234.567].map(dollars);
  expect(shown).toEqual(["–", "$0.00", "$0.00012", "$0.50", "$1.00", "$1,234.57"]);
  expect(spent({ cost: null, tokens: { input: 0, output: 0 } })).toBeNull();
  expect(spent({ cost: null, tokens: { input: 1_000, output: 1 } })).toBe("1,001 tokens");
  expect(spent({ cost: 0, tokens: { input: 0, output: 0 } })).toBe("$0.00, 0 tokens");
});
