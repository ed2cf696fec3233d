import { afterAll, beforeAll, expect } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import { barriers, CHROMIUM, overflow, PHONE } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
/** The project, in the API and on its pages. */
let project: string;
let pages: string;

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { "a.txt": "one\ntwo\nthree\n", "b.txt": "b\n" });
  const { project_id, slug } = await svc.api.project(remote.url);
  project = `/v1/projects/${project_id}`;
  pages = `/projects/${slug}/change-requests`;
});
afterAll(() => remote.remove());

/** Opens a change request of a new branch that changes one file, and returns its number. */
async function propose(title: string, head: string, text: string, description = ""): Promise<number> {
  remote.branch(head, "main");
  remote.commit(head, { "a.txt": text }, { message: `Change for ${head}\n\nBecause.` });
  const body = { title, head_ref: head, description };
  const opened = await svc.api.call("POST", `${project}/change-requests`, { body });
  expect(opened.status).toBe(201);
  return opened.body.number;
}

test("the list has filters and a search, which are kept in the address", async () => {
  const { page, faults, close } = await svc.at(FIRST, pages);
  await page.getByText("No open change requests").waitFor();
  await page.getByText('svc cr open --title "What it does" --head my-branch').waitFor();
  const number = await propose("Count from four", "listed", "four\n");
  // without a reload: the page receives an event
  await page.getByRole("link", { name: "Count from four" }).waitFor();
  await page.getByRole("button", { name: "Closed" }).click();
  await page.waitForURL("**?q=is%3Aclosed");
  await page.getByText("No closed change requests").waitFor();
  await svc.api.call("POST", `${project}/change-requests/${number}/close`);
  await page.getByRole("link", { name: "Count from four" }).waitFor();
  await page.goBack();
  await page.getByText("No open change requests").waitFor();

  await page.keyboard.press("/");
  const box = page.getByRole("searchbox", { name: "Search change requests" });
  expect(await box.evaluate((element) => element === document.activeElement)).toBe(true);
  await box.fill("is:closd four");
  await box.press("Enter");
  await page.getByText("Did you mean is:closed?").waitFor();
  expect(await box.getAttribute("aria-invalid")).toBe("true");
  // a slash in the box is text
  await box.fill("is:closed");
  await box.press("End");
  await page.keyboard.type(" sort:created-asc a/");
  expect(await box.inputValue()).toBe("is:closed sort:created-asc a/");
  await box.fill("is:closed from sort:created-asc");
  await box.press("Enter");
  await page.getByRole("link", { name: "Count from four" }).waitFor();
  expect(await page.getByLabel("Sort by").inputValue()).toBe("created-asc");
  await page.getByRole("button", { name: "Failed checks" }).click();
  await page.getByText("No change request matches").waitFor();
  expect(await box.inputValue()).toBe("is:closed from checks:failure sort:created-asc");
  await page.getByRole("button", { name: "Failed checks" }).click();
  await page.getByRole("button", { name: "Mine" }).click();
  await page.getByRole("link", { name: "Count from four" }).waitFor();
  await page.getByText("What can be searched for").click();
  await page.getByText("mergeable:clean|conflicts|unknown").waitFor();
  // the one that the server refused
  expect(faults().filter((fault) => !fault.includes("400"))).toEqual([]);
  expect(await barriers(page)).toEqual([]);
  await close();
});

test("a row of the list says whether it conflicts, and which checks and approvals it has", async () => {
  const number = await propose("Judged", "judged", "five\n");
  const { page, faults, close } = await svc.at(FIRST, pages, { size: PHONE });
  const row = page.getByRole("listitem").filter({ has: page.getByRole("link", { name: "Judged" }) });
  const facts = row.getByRole("list", { name: "State" }).getByRole("listitem");
  const become = (...texts: string[]) =>
    until("it says so", async () => isDeepStrictEqual(await facts.allTextContents(), texts));
  await row.waitFor();
  await become();
  const sha = remote.sha("judged");
  const report = (context: string, state: string) =>
    svc.api.call("POST", `${project}/statuses/${sha}`, { body: { context, state } });
  await report("lint", "success");
  await become("1 check passed");
  await report("test", "pending");
  await become("1 of 2 checks passed");
  await report("test", "failure");
  await become("1 of 2 checks failed");
  remote.commit("main", { "a.txt": "six\n" });
  await svc.api.call("GET", `${project}/change-requests/${number}/merge-preview`);
  await page.reload();
  await become("Conflicts", "1 of 2 checks failed");
  const rule = (approvals: number) => {
    const rules = `[change_requests]\nrequired_approvals = ${approvals}\nself_approval = true\n`;
    remote.commit("main", { "svc.toml": `svc_version = 1\n${rules}` });
    return page.reload();
  };
  await rule(1);
  // the base has moved: whether it conflicts is not known
  await become("1 of 2 checks failed", "0 of 1 approval");
  await svc.api.call("POST", `${project}/change-requests/${number}/approve`);
  await become("1 of 2 checks failed", "1 of 1 approval");
  await rule(0);
  await become("1 of 2 checks failed", "1 approval");
  expect(await barriers(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  await svc.api.call("POST", `${project}/change-requests/${number}/close`);
  await row.waitFor({ state: "detached" });
  remote.commit("main", { "a.txt": "one\ntwo\nthree\n" });
  expect(faults()).toEqual([]);
  await close();
});

test("labels and assignees are chosen on the page, others' changes stay, and a click on a label filters", async () => {
  for (const [name, color] of [
    ["bug", "000000"],
    ["ui", "ffffff"],
  ])
    await svc.api.call("POST", `${project}/labels`, { body: { name, color } });
  const number = await propose("Labelled", "labelled", "seven\n");
  const plain = await propose("Plain", "plain", "eight\n");
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}`);
  await page.getByRole("button", { name: "Edit: Labels" }).click();
  await page.getByRole("checkbox", { name: "bug" }).check();
  const body = { add_labels: ["ui"] };
  await svc.api.call("PATCH", `${project}/change-requests/${number}`, { body });
  await page.getByRole("textbox", { name: "Filter" }).fill("u");
  expect(await barriers(page)).toEqual([]);
  await page.getByRole("button", { name: "Save" }).click();
  const chosen = page.getByRole("definition");
  await chosen.filter({ hasText: "bug" }).filter({ hasText: "ui" }).waitFor();
  await page.getByRole("button", { name: "Edit: Assignees" }).click();
  await page.getByRole("dialog").getByRole("checkbox").first().check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").waitFor({ state: "detached" });
  const assigned = (await svc.api.call("GET", `${project}/change-requests?q=assignee:@me`)).body;
  await chosen.filter({ hasText: assigned.change_requests[0].assignees[0].name }).waitFor();

  await page.goto(svc.api.url + pages);
  await page.getByRole("link", { name: "Plain" }).waitFor();
  await page.getByRole("button", { name: "ui" }).click();
  await page.waitForURL((url) => url.searchParams.get("q") === "is:open label:ui");
  await page.getByRole("link", { name: "Plain" }).waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Labelled" }).waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.getByRole("button", { name: "ui" }).click();
  await page.getByRole("link", { name: "Plain" }).waitFor();
  for (const each of [number, plain]) await svc.api.call("POST", `${project}/change-requests/${each}/close`);
  expect(faults()).toEqual([]);
  await close();
});

test("a project's address redirects to its change requests", async () => {
  const { page, close } = await svc.at(FIRST, pages.replace("/change-requests", ""));
  await page.waitForURL(`**${pages}`);
  await close();
});

test("edits title and description, merges with a message, and the base branch has the merge", async () => {
  const number = await propose("Typo", "edited", "one\n2\nthree\n", "Says **two** with a digit.");
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}`);
  await page.locator("strong", { hasText: "two" }).waitFor();
  await page.getByRole("button", { name: "Edit title" }).click();
  await page.getByRole("textbox", { name: "Title" }).fill("Write two as a digit");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: `Write two as a digit #${number}` }).waitFor();
  await page.getByRole("button", { name: "Edit the description" }).click();
  await page.getByLabel("Description", { exact: true }).last().fill("Says it with a `digit`.");
  await page.keyboard.press("Control+Enter");
  await page.locator("code", { hasText: "digit" }).waitFor();

  // the base moves: the branch can be updated
  const update = page.getByRole("button", { name: "Update branch" });
  expect(await update.count()).toBe(0);
  remote.commit("main", { "later.txt": "later\n" });
  await page.reload();
  await update.click();
  await page.getByText("A fast-forward: main has not moved").waitFor();
  expect(await update.count()).toBe(0);
  expect(remote.git("show", "edited:later.txt")).toBe("later\n");

  // the base moves again: a merge commit will be needed
  remote.commit("main", { "b.txt": "moved\n" });
  await page.reload();
  await page.getByText("No conflicts with main.").waitFor();
  await page.getByRole("button", { name: "Write a message" }).click();
  const message = page.getByLabel("Merge message");
  expect(await message.getAttribute("placeholder")).toBe(`Merge CR #${number}: Write two as a digit`);
  await message.fill("Digits only\n\nAs agreed.");
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByRole("heading", { name: "Merged into main" }).waitFor();
  const focused = () => page.evaluate(() => document.activeElement?.id);
  await until("the result has the focus", async () => (await focused()) === "merge");
  expect(remote.git("log", "-1", "--format=%B", "main")).toStartWith(
    "Digits only\n\nAs agreed.\n\nMerged-by: first <first@example.com>\n",
  );
  expect(remote.git("show", "main:a.txt")).toBe("one\n2\nthree\n");
  expect(faults()).toEqual([]);
  await close();
});

test("the base branch of an open change request is changed on its page", async () => {
  const number = await propose("On another base", "based", "based\n");
  remote.branch("release", "main");
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}`);
  await page.getByRole("button", { name: "Change base" }).click();
  const dialog = page.getByRole("dialog", { name: "Change the base branch" });
  const branches = dialog.getByLabel("Into");
  await branches.locator("option", { hasText: "release" }).waitFor({ state: "attached" });
  const offered = await branches.locator("option").allTextContents();
  expect(offered).not.toContain("main");
  expect(offered).not.toContain("based");
  expect(await barriers(page)).toEqual([]);
  await branches.selectOption("release");
  await dialog.getByRole("button", { name: "Change" }).click();
  await dialog.waitFor({ state: "detached" });
  await page.getByText("release", { exact: true }).first().waitFor();
  const { body } = await svc.api.call("GET", `${project}/change-requests/${number}`);
  expect(body.change_request.base_ref).toBe("release");
  await svc.api.call("POST", `${project}/change-requests/${number}/close`);
  await page.getByRole("button", { name: "Change base" }).waitFor({ state: "detached" });
  expect(faults()).toEqual([]);
  await close();
});

test("deletes the branch after the merge only if that is chosen, and says why it was kept", async () => {
  const number = await propose("Done with it", "done-with-it", "one\n2\n3\n");
  remote.git("config", "receive.denyDeletes", "true");
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}`);
  await page.getByLabel("Delete the branch").check();
  await page.getByRole("button", { name: "Merge", exact: true }).click();
  await page.getByRole("heading", { name: "Merged into main" }).waitFor();
  await page.getByText("its branch was not deleted").waitFor();
  remote.git("config", "receive.denyDeletes", "false");
  expect(remote.git("branch", "--list", "done-with-it")).not.toBe("");
  expect(await barriers(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("a draft is marked as such, and can be merged once it is ready", async () => {
  const number = await propose("Half done", "half-done", "one\n2\n3\n");
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}`);
  await page.getByRole("button", { name: "Convert to draft" }).click();
  await page.getByRole("heading", { name: "It is a draft" }).waitFor();
  await page.getByText("Draft", { exact: true }).waitFor();
  expect(await page.getByRole("button", { name: "Merge", exact: true }).count()).toBe(0);
  expect(await barriers(page)).toEqual([]);
  await page.getByRole("button", { name: "Mark as ready" }).click();
  await page.getByRole("heading", { name: "It can be merged" }).waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("shows merges, closes and pushes of others at once", async () => {
  const number = await propose("Watched", "watched", "one\n2\n3\n");
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}`);
  await page.getByRole("heading", { name: "It can be merged" }).waitFor();
  await svc.api.call("POST", `${project}/change-requests/${number}/close`);
  await page.getByRole("heading", { name: "Closed without merging" }).waitFor();
  await page.getByRole("button", { name: "Reopen" }).click();
  await page.getByRole("heading", { name: "It can be merged" }).waitFor();
  await svc.api.call("POST", `${project}/change-requests/${number}/merge`);
  await page.getByRole("heading", { name: "Merged into main" }).waitFor();
  expect(await page.getByRole("button", { name: "Merge", exact: true }).count()).toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test.each([
  ["conflicts", "It conflicts with main", ["a.txt"]],
  ["missing", "A branch is missing", []],
  ["stale", "There is nothing to merge", []],
  ["unrelated", "The histories are unrelated", []],
])("shows what blocks a merge (%s)", async (head, title, files) => {
  remote.branch("start", "main");
  const number = await propose(`In the way: ${head}`, head, `${head}\n`);
  if (head === "conflicts") remote.commit("main", { "a.txt": "something else\n" });
  if (head === "missing") remote.deleteBranch(head);
  if (head === "stale") remote.branch(head, "main");
  if (head === "unrelated") {
    remote.deleteBranch(head);
    remote.commit(head, { "c.txt": "c\n" });
  }
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}`);
  await page.getByRole("heading", { name: title }).waitFor();
  expect(
    await page.getByRole("list", { name: "Files in conflict" }).getByRole("listitem").allInnerTexts(),
  ).toEqual(files);
  expect(await page.getByRole("button", { name: "Merge", exact: true }).isDisabled()).toBe(true);
  expect(await page.getByRole("button", { name: "Resolve in the session" }).count()).toBe(files.length);
  await page.getByRole("button", { name: "Close without merging" }).click();
  await page.getByRole("heading", { name: "Closed without merging" }).waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("marks one that could not be refreshed, and one that was merged by a push", async () => {
  const stale = await propose("Behind the times", "behind", "behind\n");
  remote.deleteBranch("behind");
  const { page, faults, close } = await svc.at(FIRST, pages);
  await page.getByText("not up to date").waitFor();
  await page.goto(new URL(`${pages}/${stale}`, page.url()).href);
  await page.getByText("Not up to date: the repository did not answer").waitFor();
  await svc.api.call("POST", `${project}/change-requests/${stale}/close`);

  const pushed = await propose("By a push", "pushed", "pushed\n");
  remote.branch("main", "pushed");
  await page.goto(new URL(`${pages}/${pushed}`, page.url()).href);
  await page.getByText("Merged outside svc:").waitFor();
  expect(await page.getByText("Not up to date").count()).toBe(0);
  await page.goto(new URL(`${pages}?status=merged`, page.url()).href);
  await page
    .getByRole("listitem")
    .filter({ hasText: "By a push" })
    .getByText(/merged .* outside svc/)
    .waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("a missing change request shows an error", async () => {
  const { page, faults, close } = await svc.at(FIRST, `${pages}/4711`);
  await page.getByText("has no change request #4711.").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("one is opened on the page: branches, a template, what was typed, as a draft", async () => {
  remote.branch("templated", "main");
  remote.commit("templated", {
    ".github/pull_request_template.md": "## Why\n",
    "PULL_REQUEST_TEMPLATE/release.md": "## Release\n",
  });
  remote.branch("proposed", "templated");
  remote.commit("proposed", { "c.txt": "c\n" });
  const { page, faults, close } = await svc.at(FIRST, pages, { size: PHONE });
  await page.getByRole("link", { name: "New change request" }).click();
  const opens = page.getByRole("button", { name: "Open the change request" });
  await page.getByLabel("Branch", { exact: true }).selectOption("proposed");
  expect(await opens.isDisabled()).toBe(true);
  await page.getByLabel("Title").fill("Add c");
  const description = page.getByLabel("Description");
  expect(await description.inputValue()).toBe("");
  await page.getByLabel("Into").selectOption("templated");
  await until("it begins with the template", async () => (await description.inputValue()) === "## Why\n");
  await page.getByLabel("Template").selectOption({ label: "release" });
  expect(await description.inputValue()).toBe("## Release\n");
  await description.fill("Mine.");
  await page.getByLabel("Template").selectOption({ label: "pull_request_template" });
  expect(await description.inputValue()).toBe("Mine.\n\n## Why\n");
  await page.getByLabel("Draft").check();
  expect(await barriers(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  await opens.click();
  await page.getByRole("heading", { name: "Add c" }).waitFor();
  const { body } = await svc.api.call("GET", `${project}/change-requests?head_ref=proposed`);
  expect(body.change_requests).toMatchObject([
    { title: "Add c", base_ref: "templated", description: "Mine.\n\n## Why\n", draft: true },
  ]);
  await page.goto(`${svc.api.url}${pages}/new`);
  await page.getByLabel("Branch", { exact: true }).selectOption("proposed");
  await page.getByLabel("Into").selectOption("templated");
  await page.getByLabel("Title").fill("Again");
  await opens.click();
  await page.getByText("is open. Pushes to the branch are added to it").waitFor();
  expect(faults()).toEqual([]);
  await close();
});
