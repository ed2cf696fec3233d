import { afterAll, beforeAll, expect } from "bun:test";
import { readFileSync } from "node:fs";
import type { Locator } from "playwright-core";
import { CHROMIUM } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { invited } from "../helpers/invited.ts";
import { needs } from "../helpers/needs.ts";
import { benchChecks, type CheckBench, endCommand, sandboxOf } from "../helpers/own-checks.ts";
import { Remote } from "../helpers/remote.ts";
import { StandInProvider } from "../helpers/stand-in-provider.ts";

const test = needs(...CHROMIUM);
const provider = new StandInProvider();
// sessions ignore what is of checks
provider.firstHealth = { app: { stage: "running" }, check: null };
const svc = startDashboard({ deps: { sandboxes: provider.sandboxesOf } });
const remote = new Remote();
const MANIFEST = `svc_version = 1
[change_requests]
required_approvals = 1
[[checks]]
name = "test"
command = "npm test"
required = true
`;

let bench: CheckBench;
let pages: string;
/** A token of the person whose changes are reviewed. */
let author: string;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { "a.txt": "one\ntwo\nthree\n" });
  const { project_id, slug } = await svc.api.project(remote.url);
  pages = `${svc.api.url}/projects/${slug}/change-requests`;
  bench = benchChecks({ projectId: project_id, remote, call: svc.api.call });
  await bench.rule(MANIFEST);
  author = await invited(svc.api, "author@example.com");
});
afterAll(async () => {
  remote.remove();
  await provider.close();
});

/** The tasks of the table in the documentation, with their clicks. */
function documented(): Record<string, number> {
  const text = readFileSync(new URL("../../docs/review.md", import.meta.url), "utf8");
  const [, section = ""] = text.split("### Clicks\n");
  const rows = section.split("\n#")[0]?.matchAll(/^\| (?!Task )([^|]+) \|[^|]+\| (\d+) \|$/gm) ?? [];
  return Object.fromEntries([...rows].map(([, task = "", clicks]) => [task, Number(clicks)]));
}

test("a reviewer needs as many clicks for each task as the documentation says, and no terminal", async () => {
  remote.commit("work", { "a.txt": "one\n2\n3\nfour\n" }, { from: "main" });
  const body = { title: "Write digits", head_ref: "work" };
  const { number } = (await bench.project("POST", "/change-requests", body, author)).body;
  const { page, faults, close } = await svc.openAs(FIRST, "/");
  const counted: Record<string, number> = {};
  let clicks = 0;
  const click = async (what: Locator) => {
    await what.click();
    clicks++;
  };
  const button = (name: string) => page.getByRole("button", { name, exact: true });
  const says = (text: string | RegExp) => page.getByText(text).first().waitFor();
  /** @param address where the reviewer is at first; the page of the change request */
  const task = async (name: string, steps: () => Promise<unknown>, address = `${pages}/${number}`) => {
    if (page.url() !== address) await page.goto(address);
    clicks = 0;
    await steps();
    counted[name] = clicks;
  };

  await task(
    "Open what waits for you",
    async () => {
      await click(page.getByRole("link", { name: "Write digits" }));
      await page.waitForURL(`**/change-requests/${number}`);
    },
    `${svc.api.url}/`,
  );
  endCommand(await sandboxOf(provider, "test", remote.sha("work")), { exit_code: 1 });
  await says("failed, required: Exit status 1");
  await task("Run a failed check again", async () => {
    await click(button("Run test again"));
    endCommand(await sandboxOf(provider, "test", remote.sha("work")));
    await says("passed, required");
  });
  await task("Comment on a line", async () => {
    await click(page.getByRole("link", { name: "Changes" }));
    await click(button("Comment on line 2, added"));
    await page.keyboard.type("Why a digit?");
    await click(button("Comment"));
    await says("Why a digit?");
  });
  await task("Suggest a change", async () => {
    await click(page.getByRole("link", { name: "Changes" }));
    await click(button("Comment on line 3, added"));
    await click(button("Suggest a change"));
    await page.keyboard.press("Backspace");
    await page.keyboard.type("III");
    await click(button("Comment"));
    await page.locator("code", { hasText: "III" }).waitFor();
  });
  await task("Request changes", async () => {
    await click(button("Request changes"));
    await page.keyboard.type("Say why.");
    await click(button("Request changes"));
    await page.getByRole("article", { name: /^Changes requested by/ }).waitFor();
  });
  await task("Send the review to the agent", async () => {
    await click(button("Send to the session"));
    await says("A new session was started.");
  });
  await task("Commit a suggestion", async () => {
    await click(button("Commit suggestion"));
    await button("Commit suggestion").waitFor({ state: "detached" });
  });
  expect(remote.git("show", "work:a.txt")).toBe("one\n2\nIII\nfour\n");
  await task("Read what is new since your review", async () => {
    await click(page.getByRole("link", { name: "Changes" }));
    // a menu is opened and an entry chosen
    await page.getByLabel("Which changes").selectOption({ label: "Since your review" });
    clicks += 2;
    await page.waitForURL(/since=/);
    await says("III");
  });
  await task("Approve", async () => {
    await click(button("Approve"));
    await button("Withdraw my approval").waitFor();
  });
  await task("Merge when the checks pass", async () => {
    await click(button("Merge when ready"));
    await says("Auto-merge is on");
    endCommand(await sandboxOf(provider, "test", remote.sha("work")));
    await page.getByRole("heading", { name: "Merged into main" }).waitFor();
  });
  await task("Revert", async () => {
    await click(button("Revert"));
    await page.getByRole("heading", { name: /^Revert / }).waitFor();
  });
  const revert = Number(page.url().split("/").at(-1));
  const { head_ref } = (await bench.project("GET", `/change-requests/${revert}`)).body.change_request;
  endCommand(await sandboxOf(provider, "test", remote.sha(head_ref)));
  await bench.project("POST", `/change-requests/${revert}/approve`, undefined, author);
  await page.getByRole("heading", { name: "It can be merged" }).waitFor();
  await task(
    "Merge",
    async () => {
      await click(button("Merge"));
      await page.getByRole("heading", { name: "Merged into main" }).waitFor();
    },
    page.url(),
  );
  expect(remote.git("show", "main:a.txt")).toBe("one\ntwo\nthree\n");
  expect(counted).toEqual(documented());
  expect(faults()).toEqual([]);
  await close();
});
