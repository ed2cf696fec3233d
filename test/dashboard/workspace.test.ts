import { afterAll, beforeAll, expect } from "bun:test";
import { appendFileSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { runEgress } from "../../db/schema/index.ts";
import {
  CHROMIUM,
  closeProfiles,
  colourFindings,
  findings,
  overflow,
  PHONE,
  sharedBrowser,
  signIn,
  type Visit,
  visit,
} from "../helpers/browser.ts";
import { runClient } from "../helpers/gateway.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type Proxied, startProxied } from "../helpers/proxied.ts";

const isThere = POSTGRES && CHROMIUM[1];
const test = needs(CHROMIUM[1] ? "a real Postgres" : CHROMIUM[0], isThere);
let proxied: Proxied;
let browser: Browser;
let opened: Visit;
let at: string;

/** A red pixel. */
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const HOSTILE = "<img src=x onerror=document.title=1>\u202etxt";

beforeAll(async () => {
  if (!isThere) return;
  [proxied, browser] = await Promise.all([startProxied(), sharedBrowser()]);
  at = proxied.sandbox.workspace;
  await runClient(at, "update-ref", "refs/remotes/origin/main", "HEAD");
  appendFileSync(join(at, "a.txt"), "changed\n");
  mkdirSync(join(at, "src"));
  writeFileSync(join(at, "src", HOSTILE), "one\ntwo\n");
  writeFileSync(join(at, "dot.png"), Buffer.from(PNG, "base64"));
  writeFileSync(join(at, "large.bin"), "");
  truncateSync(join(at, "large.bin"), 5_000_000_000);
  opened = await visit(browser, `${proxied.bench.api.url}/assets/icon.svg`);
  const { project_id: project } = proxied.bench.hosted.project;
  await signIn(opened, proxied.bench.api, `/projects/${project}/sessions/${proxied.session.id}?view=files`);
});
afterAll(async () => {
  await opened?.close();
  await closeProfiles();
  await proxied?.stop();
});

test("a session's page shows the files of its sandbox and their changes, while they change", async () => {
  const { page } = opened;
  const changed = page.getByRole("list", { name: "Changed files" });
  const file = page.getByRole("region", { name: "File", exact: true });
  await changed.getByRole("button", { name: "a.txt" }).click();
  await file.getByText("+changed").waitFor();
  await file.getByRole("button", { name: "File", exact: true }).click();
  const content = page.getByRole("region", { name: "Content" });
  await content.getByText("changed").waitFor();
  expect(await content.locator("[data-number]").count()).toBe(
    readFileSync(join(at, "a.txt"), "utf8").split("\n").length - 1,
  );
  const download = page.waitForEvent("download");
  await file.getByRole("button", { name: /^Download/ }).click();
  expect(readFileSync(await (await download).path(), "utf8")).toBe(readFileSync(join(at, "a.txt"), "utf8"));

  // without a reload
  writeFileSync(join(at, "later.txt"), "later\n");
  await changed.getByRole("button", { name: "later.txt" }).waitFor();
  rmSync(join(at, "later.txt"));
  await changed.getByRole("button", { name: "later.txt" }).waitFor({ state: "detached" });

  await changed.getByRole("button", { name: "large.bin" }).click();
  await file.getByRole("button", { name: "File", exact: true }).click();
  await file.getByText("Binary, 5,000,000,000 bytes").waitFor();
  await changed.getByRole("button", { name: "dot.png" }).click();
  await file.getByRole("button", { name: "File", exact: true }).click();
  await file.getByRole("img", { name: "dot.png" }).waitFor();
  expect(await findings(page)).toEqual([]);

  // by keyboard: folders open, and a name is only a name
  await page.getByRole("button", { name: "All files" }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "src", exact: true }).focus();
  await page.keyboard.press("Enter");
  const hostile = page.getByRole("list", { name: "src" }).getByRole("button");
  await hostile.focus();
  await page.keyboard.press("Enter");
  await file.getByText("+two").waitFor();
  expect(await hostile.textContent()).toContain("<img src=x onerror=document.title=1>U+202Etxt");
  expect(await page.title()).not.toBe("1");
  expect(await findings(page)).toEqual([]);
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await colourFindings(page)).toEqual([]);
  await page.setViewportSize(PHONE);
  expect(await overflow(page)).toBe(0);
});

test("and says what its sandbox could not connect to, with the command that allows it", async () => {
  const { page } = opened;
  const { bench, session } = proxied;
  const row = { runId: session.id, connections: 1, sent: 0, received: 0, lastAt: new Date() };
  await bench.db.insert(runEgress).values([
    { ...row, outcome: "passed", host: "passed.example", port: 0 },
    { ...row, outcome: "not_allowed", host: "x.example", port: 443 },
    { ...row, outcome: "not_allowed", host: "y.example", port: 22 },
  ]);
  await page.getByRole("link", { name: "Conversation" }).click();
  const notice = page.getByRole("status").filter({ hasText: "refused:" });
  await notice.getByText("x.example:443").waitFor();
  const text = await notice.textContent();
  expect(text).toContain("refused: x.example:443; svc network allow x.example opens a change request");
  expect(text).toContain("svc network allow y.example:22");
  expect(text).not.toContain("passed.example");
  expect(await findings(page)).toEqual([]);
});
