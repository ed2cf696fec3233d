import { afterAll, beforeAll, expect } from "bun:test";
import type { Browser } from "playwright-core";
import {
  CHROMIUM,
  closeProfiles,
  findings,
  sharedBrowser,
  signIn,
  type Visit,
  visit,
} from "../helpers/browser.ts";
import { needs } from "../helpers/needs.ts";
import { POSTGRES } from "../helpers/postgres.ts";
import { type Proxied, startProxied } from "../helpers/proxied.ts";
import { until } from "../helpers/until.ts";

const isThere = POSTGRES && CHROMIUM[1];
const test = needs(CHROMIUM[1] ? "a real Postgres" : CHROMIUM[0], isThere);
let proxied: Proxied;
let browser: Browser;
let opened: Visit;

beforeAll(async () => {
  if (!isThere) return;
  [proxied, browser] = await Promise.all([startProxied(), sharedBrowser()]);
  opened = await visit(browser, `${proxied.bench.api.url}/assets/icon.svg`);
  const { project_id: project } = proxied.bench.hosted.project;
  await signIn(opened, proxied.bench.api, `/projects/${project}/sessions/${proxied.session.id}`);
});
afterAll(async () => {
  await opened?.close();
  await closeProfiles();
  await proxied?.stop();
});

test("a session's page has a shell, which goes on behind the other views", async () => {
  const { page } = opened;
  const blocked: string[] = [];
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) blocked.push(message.text());
  });
  await page.getByRole("link", { name: "Terminal" }).click();
  const screen = page.getByRole("region", { name: "Terminal" });
  const shown = async () => (await screen.locator(".xterm-rows > div").allTextContents()).join("\n");
  const hasPrompt = async () => /[$#]$/.test((await shown()).trimEnd());
  const type = async (line: string) => {
    await page.keyboard.type(line);
    await page.keyboard.press("Enter");
  };
  await until("it has a prompt, and the focus", hasPrompt);
  await type("printf '\\033[38;2;1;2;3mcolour\\033[m '; echo be''gun");
  await until("it runs a command", async () => (await shown()).includes("begun"));
  // the rules of the terminal are there, although the page may not have any <style>
  const row = screen.locator(".xterm-rows > div").first();
  expect(await row.evaluate((each) => getComputedStyle(each).overflow)).toBe("hidden");
  const colour = screen.locator("span[style*=color]", { hasText: "colour" }).last();
  expect(await colour.evaluate((each) => getComputedStyle(each).color)).not.toBe("");
  expect(blocked).toEqual([]);
  expect(await findings(page)).toEqual([]);

  // keys of the page and of the shell
  await page.keyboard.press("Control+k");
  await type("j?k");
  await until("the shell has them", async () => (await shown()).includes("j?k"));
  expect(await page.getByRole("dialog").count()).toBe(0);

  await page.getByRole("link", { name: "Saved work" }).click();
  await page.getByRole("link", { name: "Terminal" }).click();
  expect(await shown()).toContain("begun");
  await screen.click();
  await page.keyboard.press("Shift+Escape");
  expect(await screen.evaluate((each) => each.contains(document.activeElement))).toBe(false);

  await screen.click();
  await type("exit 3");
  await page.getByText("The shell has ended with exit status 3.").waitFor();
  await page.getByRole("button", { name: "New shell" }).click();
  await until("it has a prompt", hasPrompt);
  expect(await shown()).not.toContain("begun");
  const { commands } = (
    await proxied.bench.api.call(
      "GET",
      `/v1/projects/${proxied.bench.hosted.project.project_id}/sessions/${proxied.session.id}/exec`,
    )
  ).body;
  expect(commands.map(({ command, tty }: { command: string[]; tty: boolean }) => [command, tty])).toEqual([
    [[], true],
    [[], true],
  ]);
});
