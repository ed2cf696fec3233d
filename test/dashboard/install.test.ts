import { afterAll, expect } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { barriers, CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { makeInstaller } from "../helpers/installer.ts";
import { needs } from "../helpers/needs.ts";
import { makeRelease, makeReleaseKey } from "../helpers/release.ts";

const test = needs(...CHROMIUM);
const releases = mkdtempSync(join(tmpdir(), "svc-releases-"));
const svc = startDashboard({ env: { SVC_RELEASES_DIR: releases } });
afterAll(() => rmSync(releases, { recursive: true }));

const commands = async (page: Page) => page.locator("code").allTextContents();

test("without a release, no page offers to install the CLI; with one, each does, by a command that works", async () => {
  await svc.api.call("POST", "/v1/projects", { body: { name: "Shop" } });
  const pages = [
    ["/settings", "Settings"],
    ["/projects/shop/settings", "Settings"],
  ];
  const line = `curl -fsSL ${svc.api.url}/install.sh | sh`;
  const { page, faults, close } = await svc.openAs(FIRST, "/settings");
  for (const isThere of [false, true]) {
    if (isThere) makeRelease(releases, { version: "1.2.3", key: makeReleaseKey() });
    for (const [path, heading = ""] of pages) {
      const known = page.waitForResponse((response) => response.url().endsWith("/v1/release"));
      await page.goto(svc.api.url + path);
      await (await known).finished();
      await page.getByRole("heading", { name: heading, level: 1, exact: true }).waitFor();
      if (isThere) await page.getByText(line, { exact: true }).waitFor();
      expect([path, (await commands(page)).includes(line)]).toEqual([path, isThere]);
      expect(await barriers(page)).toEqual([]);
    }
  }
  expect(faults()).toEqual([]);
  await close();
  const installer = makeInstaller();
  const script = (await svc.api.call("GET", "/install.sh", { token: null })).text;
  expect((await installer.run(script.replaceAll("/usr/local/bin", installer.system))).code).toBe(0);
  expect(existsSync(join(installer.system, "svc"))).toBe(true);
  installer.remove();
});

test("a user without projects sees it too", async () => {
  const { page, faults, close } = await svc.openAs("new@example.com", "/");
  await page.getByText(`curl -fsSL ${svc.api.url}/install.sh | sh`, { exact: true }).waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});
