import { expect } from "bun:test";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { barriers, CHROMIUM, overflow, PHONE } from "../helpers/browser.ts";
import { makeHome, svc as runSvc } from "../helpers/cli-run.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { svcOnScreen } from "../helpers/screen.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
let later = 0;
const svc = startDashboard({ deps: { clock: () => new Date(Date.now() + later) } });

/** `svc login` on a terminal, whose browser writes down which page it is to open. */
async function login() {
  const home = makeHome();
  const [browser, opened] = [join(home.home, "browser"), join(home.home, "opened")];
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > ${opened}.new && mv ${opened}.new ${opened}\n`);
  chmodSync(browser, 0o755);
  const terminal = svcOnScreen(["login", "--api", `${svc.api.url}/v1`], {
    home,
    env: { SVC_BROWSER: browser },
  });
  await terminal.shows(/Code {3}\w{4}-\w{4}/);
  const code = /Code {3}(\w{4}-\w{4})/.exec((await terminal.lines()).join("\n"))?.[1] ?? "";
  await until("the browser is opened", () => existsSync(opened));
  const address = new URL(readFileSync(opened, "utf8"));
  return { home, terminal, code, path: address.pathname + address.search };
}

test("svc login on a terminal is approved in the browser, after signing in", async () => {
  const { home, terminal, code, path } = await login();
  await svc.openAs(FIRST, "/").then(({ close }) => close());
  const { page, faults, close } = await svc.open(path);
  await page.waitForURL("**/login?next=**");
  await page.getByLabel("E-mail").fill(FIRST);
  await page.getByLabel("Password").fill("correct horse battery staple");
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("heading", { name: "Sign in this terminal?" }).waitFor();
  await page.getByText(code, { exact: true }).waitFor();
  const facts = await page.locator("dd").allTextContents();
  expect(facts).toEqual([
    expect.stringMatching(/^svc on /),
    expect.stringMatching(/^svc\//),
    "127.0.0.1",
    "just now",
    FIRST,
  ]);
  await page.getByText("Allow it only if you started svc login yourself and the codes match.").waitFor();
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("Return to your terminal").waitFor();
  await terminal.shows("Signed in to");
  expect((await terminal.exited).code).toBe(0);
  const who = await runSvc(["whoami", "--json"], { home });
  expect(JSON.parse(who.stdout)).toMatchObject({ email: FIRST, kind: "user" });

  await page.goto(svc.api.url + path);
  await page.getByText("The code is not valid").waitFor();
  await page.goto(`${svc.api.url}/settings`);
  await page.getByRole("button", { name: `Revoke ${facts[0]}` }).click();
  await page.getByRole("button", { name: "Revoke the token" }).click();
  await page.getByRole("button", { name: `Revoke ${facts[0]}` }).waitFor({ state: "detached" });
  expect((await runSvc(["whoami"], { home })).code).not.toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test("accepts the code in any spelling; a denial ends the command", async () => {
  const { terminal, code } = await login();
  const { page, faults, close } = await svc.openAs(FIRST, "/cli/authorize", { size: PHONE });
  const type = async (text: string) => {
    await page.getByLabel("Code").fill(text);
    await page.getByRole("button", { name: "Continue" }).click();
  };
  for (const wrong of ["BBBB-BBBB", "<img src=x onerror=alert(1)>", "../../tokens", "\u202eABC", "0"]) {
    await type(wrong);
    await page.getByText("The code is not valid").waitFor();
    await page.goto(`${svc.api.url}/cli/authorize`);
  }
  await type(` ${code.toLowerCase().replace("-", "")} `);
  await page.getByText(code, { exact: true }).waitFor();
  expect(await barriers(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  await page.getByRole("button", { name: "Deny" }).click();
  await page.getByText("The terminal is not signed in").waitFor();
  await terminal.shows("The sign-in was denied in the browser");
  expect((await terminal.exited).code).toBe(1);
  expect(faults()).toEqual([]);
  await close();
});

test("an expired code is rejected, with an error on both sides", async () => {
  const { terminal, path } = await login();
  const { page, close } = await svc.openAs(FIRST, path);
  await page.getByRole("button", { name: "Allow" }).waitFor();
  later = 11 * 60_000;
  await page.getByRole("button", { name: "Allow" }).click();
  await page.getByText("is older than ten minutes. Run svc login again.").waitFor();
  await page.reload();
  await page.getByText("is older than ten minutes. Run svc login again.").waitFor();
  await terminal.shows("The code expired");
  expect((await terminal.exited).code).toBe(1);
  await close();
});
