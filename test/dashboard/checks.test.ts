import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM, untilCount } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { benchChecks, endCommand, manifestOf, sandboxOf } from "../helpers/own-checks.ts";
import { Remote } from "../helpers/remote.ts";
import { StandInProvider } from "../helpers/stand-in-provider.ts";

const test = needs(...CHROMIUM);
const provider = new StandInProvider();
// sessions ignore what is of checks
provider.firstHealth = { app: { stage: "running" }, check: null };
const svc = startDashboard({ deps: { sandboxes: provider.sandboxesOf } });
const remote = new Remote();
let at: string;
let slug: string;

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { "svc.toml": 'svc_version = 1\n[checks]\nrequired = ["test"]\n', a: "1\n" });
  const project = await svc.api.project(remote.url);
  [at, slug] = [`/v1/projects/${project.project_id}`, project.slug];
});
afterAll(async () => {
  remote.remove();
  await provider.close();
});

test("a page shows the checks of the head as they are reported, and merges after the required ones", async () => {
  remote.commit("work", { a: "2\n" }, { from: "main" });
  const body = { title: "Change a", head_ref: "work" };
  const { number } = (await svc.api.call("POST", `${at}/change-requests`, { body })).body;
  const report = (fields: object) =>
    svc.api.call("POST", `${at}/statuses/${remote.sha("work")}`, { body: fields });
  const { page } = await svc.openAs(FIRST, `/projects/${slug}/change-requests/${number}`);
  const checks = page.getByRole("region", { name: "Checks" });
  await checks.getByText("0 of 1 passed").waitFor();
  await page.getByRole("heading", { name: "It waits for required checks" }).waitFor();
  const merge = page.getByRole("button", { name: "Merge", exact: true });
  expect(await merge.count()).toBe(0);

  await report({ state: "failure", context: "test", description: "<b>2</b> of 80" });
  await page.getByRole("heading", { name: "A required check has failed" }).waitFor();
  await checks.getByText("failed, required: <b>2</b> of 80").waitFor();
  // the counts stay as they were
  await report({ state: "failure", context: "test", description: "3 of 80" });
  await checks.getByText("failed, required: 3 of 80").waitFor();
  await report({ state: "pending", context: "lint", target_url: "https://ci.example.com/7" });
  const link = checks.getByRole("link", { name: "Details of lint" });
  await link.waitFor();
  expect(await link.getAttribute("href")).toBe("https://ci.example.com/7");
  expect(await link.getAttribute("rel")).toContain("noopener");
  expect(await barriers(page)).toEqual([]);
  expect(await merge.count()).toBe(0);

  await report({ state: "success", context: "test" });
  await checks.getByText("1 of 2 passed").waitFor();
  await merge.click();
  await page.getByRole("heading", { name: "Merged into main" }).waitFor();
});

test("the output of a check run is shown as text and safe Markdown, with its annotations", async () => {
  remote.commit("noted", { a: "3\n" }, { from: "main" });
  const opened = { title: "Change a", head_ref: "noted" };
  const { number } = (await svc.api.call("POST", `${at}/change-requests`, { body: opened })).body;
  const annotation = { path: "src/<i>a</i>.ts", start_line: 3, annotation_level: "failure" };
  const made = await svc.api.call("POST", `${at}/check-runs`, {
    body: {
      ...{ name: "lint", head_sha: remote.sha("noted"), conclusion: "failure" },
      output: {
        ...{ title: "2 problems", summary: "**Two** problems <script>x</script>\u202e", text: "The end" },
        annotations: [
          { ...annotation, end_line: 3, title: "no-unused", message: "unused <b>x</b>\u202e" },
          { ...annotation, end_line: 5, message: "too long" },
        ],
      },
    },
  });
  const { page } = await svc.openAs(FIRST, `/projects/${slug}/change-requests/${number}`);
  const checks = page.getByRole("region", { name: "Checks" });
  await checks.getByText("failed: 2 problems").waitFor();
  await checks.getByRole("button", { name: "Output of lint" }).click();
  await checks.locator("strong", { hasText: "Two" }).waitFor();
  await checks.getByText("<script>x</script>").waitFor();
  const notes = checks.getByRole("list", { name: "Annotations of lint" }).getByRole("listitem");
  await notes.first().waitFor();
  expect(await notes.allInnerTexts()).toEqual([
    expect.stringMatching(/^src\/<i>a<\/i>\.ts:3 failure: no-unused\s+unused <b>x<\/b>.*202e/i),
    expect.stringMatching(/^src\/<i>a<\/i>\.ts:3–5 failure\s+too long$/),
  ]);
  await checks.getByText("The end").waitFor();
  expect(await barriers(page)).toEqual([]);
  // it is followed
  const more = { output: { summary: "**Three** problems" } };
  await svc.api.call("PATCH", `${at}/check-runs/${made.body.id}`, { body: more });
  await checks.locator("strong", { hasText: "Three" }).waitFor();

  // beside the lines of the diff, and only those
  const beside = { path: "a", start_line: 1, end_line: 4, annotation_level: "warning", message: "too old" };
  const annotations = [beside, { ...beside, annotation_level: "failure" }, { ...beside, start_line: 2 }];
  const output = { summary: "Noted", annotations: [...annotations, { ...beside, path: "b" }] };
  await svc.api.call("PATCH", `${at}/check-runs/${made.body.id}`, { body: { output } });
  await page.getByRole("link", { name: "Changes" }).click();
  const folded = page.getByRole("button", { name: "Checks: 1 failure, 1 warning" });
  await folded.waitFor();
  expect(await page.getByText("too old").count()).toBe(0);
  await folded.click();
  await page.getByText("too old").first().waitFor();
  expect(await page.getByText("too old").count()).toBe(2);
  expect(await page.getByRole("button", { name: "Checks:" }).count()).toBe(1);
  expect(await barriers(page)).toEqual([]);
  // those of an earlier commit are not shown
  remote.commit("noted", { a: "4\n" });
  await page.getByText("4", { exact: true }).waitFor();
  await untilCount(page.getByRole("button", { name: "Checks:" }), 0);
});

test("a check that svc runs has a log, can be run again, and goes to the session when it has failed", async () => {
  const bench = benchChecks({ projectId: at.split("/").at(-1) ?? "", remote, call: svc.api.call });
  await bench.rule(manifestOf('name = "test"\ncommand = "npm test"'));
  const { number, sha } = await bench.open();
  const { page } = await svc.openAs(FIRST, `/projects/${slug}/change-requests/${number}`);
  const checks = page.getByRole("region", { name: "Checks" });
  const standIn = await sandboxOf(provider, "test", sha);
  await checks.getByText("pending: Running").waitFor();
  provider.log = "2026-01-02T03:04:05.678Z check \u001b[31m<b>2 of 80</b>\u202e failed\n";
  await checks.getByRole("button", { name: "Log of test" }).click();
  await checks.getByText("<b>2 of 80</b>").waitFor();
  expect(await barriers(page)).toEqual([]);

  endCommand(standIn, { exit_code: 1 });
  await checks.getByText("failed: Exit status 1 after 3 s").waitFor();
  await checks.getByRole("button", { name: "Send failed checks to the session" }).click();
  await page.getByText("A new session was started.").waitFor();
  await checks.getByRole("button", { name: "Run test again" }).click();
  endCommand(await sandboxOf(provider, "test", sha));
  await checks.getByText("passed: Passed after 3 s").waitFor();
});
