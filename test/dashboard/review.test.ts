import { afterAll, beforeAll, expect } from "bun:test";
import { barriers, CHROMIUM, overflow, PHONE, untilCount } from "../helpers/browser.ts";
import { signedIn } from "../helpers/cookie-browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { holdsNothing, named } from "../helpers/hostile-page.ts";
import { HOSTILE_TEXTS } from "../helpers/hostile-text.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
const SECOND = "second@example.com";
let api: string;
let pages: string;

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", {
    "svc.toml": "svc_version = 1\n[change_requests]\nrequired_approvals = 1\n",
    "a.ts": "const one = 1;\nconst two = 2;\nconst three = 3;\n",
  });
  const { account_id, project_id, slug } = await svc.api.project(remote.url);
  [api, pages] = [`/v1/projects/${project_id}/change-requests`, `/projects/${slug}/change-requests`];
  await join(account_id, SECOND);
});
afterAll(() => remote.remove());

/** Adds a member to an account, like an invitation. */
async function join(account: string, email: string): Promise<void> {
  const body = { email, role: "member" };
  const invited = await svc.api.call("POST", `/v1/accounts/${account}/invitations`, { body });
  const token = new URL(invited.body.url).searchParams.get("token");
  const browser = await signedIn(svc.api, email);
  expect((await browser.call("POST", "/v1/auth/link", { body: { token } })).status).toBe(200);
}

async function propose(head: string): Promise<number> {
  const from = remote.git("rev-list", "--max-parents=0", "main").trim();
  remote.branch(head, from);
  remote.commit(head, { "a.ts": "const one = 1;\nconst two = 22;\nconst three = 3;\n" });
  const body = { title: `Change in ${head}`, head_ref: head };
  return (await svc.api.call("POST", api, { body })).body.number;
}

test("a reviewer requests changes, which blocks the merge until the request is dismissed or withdrawn", async () => {
  const number = await propose("blocked");
  const first = await svc.at(FIRST, `${pages}/${number}`);
  const second = await svc.at(SECOND, `${pages}/${number}`);
  const [owner, reviewer] = [first.page, second.page];
  const request = async (text: string) => {
    await reviewer.getByRole("button", { name: "Request changes" }).click();
    await reviewer.getByLabel("What has to change").fill(text);
    await reviewer.getByRole("button", { name: "Request changes" }).click();
  };
  // the timeline keeps what was said
  const said = (page: typeof owner, text: string) =>
    page.getByRole("complementary", { name: "Review" }).locator("strong", { hasText: text });
  await request("Handle the **empty** list.");
  await said(owner, "empty").waitFor();
  await owner.getByRole("heading", { name: /^Changes were requested by/ }).waitFor();
  expect(await owner.getByRole("button", { name: "Merge", exact: true }).count()).toBe(0);
  expect(await barriers(owner)).toEqual([]);
  await owner.getByRole("button", { name: "Dismiss" }).click();
  await said(reviewer, "empty").waitFor({ state: "detached" });
  await request("Once **more**.");
  await said(owner, "more").waitFor();
  await reviewer.getByRole("button", { name: "Withdraw my request" }).click();
  await owner.getByRole("heading", { name: "It needs one more approval" }).waitFor();
  expect([...first.faults(), ...second.faults()]).toEqual([]);
  await first.close();
  await second.close();
});

test("merges when it is ready: asked for before the approval, turned off, and asked for again; then it is reverted", async () => {
  const number = await propose("later");
  const first = await svc.at(FIRST, `${pages}/${number}`);
  const second = await svc.at(SECOND, `${pages}/${number}`);
  const [owner, reviewer] = [first.page, second.page];
  const ask = () => owner.getByRole("button", { name: "Merge when ready" }).click();
  await ask();
  await reviewer.getByText("Auto-merge is on").waitFor();
  expect(await barriers(owner)).toEqual([]);
  await owner.getByRole("button", { name: "Turn it off" }).click();
  await reviewer.getByText("Auto-merge is on").waitFor({ state: "detached" });
  await ask();
  await reviewer.getByText("Auto-merge is on").waitFor();
  await reviewer.getByRole("button", { name: "Approve" }).click();
  await owner.getByRole("heading", { name: "Merged into main" }).waitFor();
  await owner.getByRole("button", { name: "Revert" }).click();
  await owner.getByRole("heading", { name: 'Revert "Change in later"' }).waitFor();
  await owner.getByText(`This reverts #${number}.`).waitFor();
  expect(await barriers(owner)).toEqual([]);
  await reviewer.getByText("reverts this.").waitFor();
  expect([...first.faults(), ...second.faults()]).toEqual([]);
  await first.close();
  await second.close();
});

test("a merge queue: added, removed, added again, and out of it after a failed check", async () => {
  const rules = remote.git("show", "main:svc.toml");
  const queue = 'svc_version = 1\n[merge]\nqueue = true\n[checks]\nrequired = ["test"]\n';
  remote.commit("main", { "svc.toml": queue });
  const number = await propose("busy");
  const first = await svc.at(FIRST, `${pages}/${number}`);
  const second = await svc.at(SECOND, pages);
  const [owner, reviewer] = [first.page, second.page];
  const row = reviewer.locator("li", { hasText: "Change in busy" });
  const add = () => owner.getByRole("button", { name: "Add to merge queue" }).click();
  await add();
  await owner.getByRole("heading", { name: "In the merge queue of main, at position 1" }).waitFor();
  await row.getByText("Queued", { exact: true }).waitFor();
  expect(await barriers(owner)).toEqual([]);
  await owner.getByRole("button", { name: "Remove from the queue" }).click();
  await row.getByText("Open", { exact: true }).waitFor();
  await add();
  await owner.getByText("Merged result:").waitFor();
  const { queue: entry } = (await svc.api.call("GET", `${api}/${number}`)).body.change_request;
  const body = { context: "test", state: "failure" };
  await svc.api.call("POST", `${api.replace("change-requests", "statuses")}/${entry.tested_commit_sha}`, {
    body,
  });
  const why = 'The required check "test" failed on the merged result.';
  await owner.locator("#main").getByText(why, { exact: true }).waitFor();
  await row.getByText("Open", { exact: true }).waitFor();
  expect([...first.faults(), ...second.faults()]).toEqual([]);
  remote.commit("main", { "svc.toml": rules });
  await first.close();
  await second.close();
});

test("comments on a line appear in two browsers at once", async () => {
  const number = await propose("talk");
  const first = await svc.at(FIRST, `${pages}/${number}?view=changes`);
  const second = await svc.at(SECOND, `${pages}/${number}?view=changes`);
  const [a, b] = [first.page, second.page];
  const line = a.getByRole("button", { name: "Comment on line 2, added" });
  await line.focus();
  await a.keyboard.press("Enter");
  await a.keyboard.type("Why **twenty-two**?");
  await a.keyboard.press("Control+Enter");
  await a.locator("strong", { hasText: "twenty-two" }).waitFor();
  await a.waitForFunction(
    () => document.activeElement?.getAttribute("aria-label") === "Comment on line 2, added",
  );
  // the other screen has it without being touched
  await b.locator("strong", { hasText: "twenty-two" }).waitFor();
  expect(await b.getByRole("button", { name: "Edit", exact: true }).count()).toBe(0);
  await b.getByRole("button", { name: "Reply" }).click();
  await b.keyboard.type("Because.");
  await b.keyboard.press("Control+Enter");
  await a.getByText("Because.").waitFor();
  expect(await barriers(a)).toEqual([]);

  await b.getByRole("button", { name: "Edit", exact: true }).click();
  await b.getByLabel("Edit the comment").fill("Since it is **twice** as good.");
  await b.getByRole("button", { name: "Save" }).click();
  await a.locator("strong", { hasText: "twice" }).waitFor();
  await a.getByText("(edited)").waitFor();
  await a.getByRole("button", { name: "Resolve", exact: true }).click();
  await b.getByRole("button", { name: "Show 2 comments" }).click();
  await b.getByRole("button", { name: "Unresolve" }).click();
  await a.getByRole("button", { name: "Resolve", exact: true }).waitFor();
  await b.getByRole("button", { name: "Delete" }).click();
  await b.getByRole("button", { name: "Delete the comment" }).click();
  await a.locator("strong", { hasText: "twice" }).waitFor({ state: "detached" });

  // in the conversation it stands with what the line said, and leads back to it
  await a.getByRole("link", { name: /^Conversation/ }).click();
  await a.getByText("const two = 22;").waitFor();
  remote.commit("talk", { "a.ts": "// moved\nconst one = 1;\nconst two = 22;\nconst three = 3;\n" });
  await a.reload();
  // it moves with its line
  await a.getByRole("link", { name: "a.ts:3" }).click();
  await a.locator("strong", { hasText: "twenty-two" }).waitFor();
  await a.getByRole("link", { name: /^Conversation/ }).click();
  remote.commit("talk", { "a.ts": "// moved\nconst one = 1;\nconst two = 222;\nconst three = 3;\n" });
  await a.reload();
  await a.getByText("Outdated", { exact: true }).waitFor();
  await a.getByRole("link", { name: "a.ts:2" }).click();
  await a.getByText("const two = 222;").waitFor();
  // the line says something else by now: nothing stands below it
  expect(await a.locator("strong", { hasText: "twenty-two" }).count()).toBe(0);
  expect([...first.faults(), ...second.faults()]).toEqual([]);
  await first.close();
  await second.close();
});

test("commits a suggestion", async () => {
  const number = await propose("suggested");
  const body = "Shorter:\n\n```suggestion\nconst two = 2;\n```";
  const comment = { body, path: "a.ts", line: 2 };
  await svc.api.call("POST", `${api}/${number}/comments`, { body: comment });
  const { page, faults, close } = await svc.at(SECOND, `${pages}/${number}`);
  await page.getByRole("button", { name: "Commit suggestion" }).click();
  await page.getByRole("button", { name: "Show 1 comment" }).waitFor();
  expect(remote.git("show", "suggested:a.ts")).toBe("const one = 1;\nconst two = 2;\nconst three = 3;\n");
  expect(remote.git("log", "-1", "--format=%ae", "suggested").trim()).toBe(SECOND);
  expect(faults()).toEqual([]);
  await close();
});

test("shows what is new since one's review", async () => {
  const number = await propose("again");
  await svc.api.call("POST", `${api}/${number}/comments`, { body: { body: "b", path: "a.ts", line: 2 } });
  remote.commit("again", { "a.ts": "const one = 1;\nconst two = 22;\n" });
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}?view=changes`);
  await page.getByRole("button", { name: "Comment on line 2, added" }).waitFor();
  const changes = page.getByRole("combobox", { name: "Which changes" });
  await changes.selectOption({ label: "Since your review" });
  await page.getByRole("button", { name: "Comment on line 2", exact: true }).waitFor();
  expect(await page.getByRole("button", { name: /, (?:added|removed)$/ }).count()).toBe(1);
  await page.getByRole("button", { name: "Comment on line 3, removed" }).click();
  await page.getByText("To comment on a removed line, show all changes.").waitFor();
  expect(await barriers(page)).toEqual([]);
  await changes.selectOption({ label: "All changes" });
  await page.getByRole("button", { name: "Comment on line 2, added" }).waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("shows a comment from between the first load and the event stream", async () => {
  const number = await propose("between");
  const begins = Promise.withResolvers<void>();
  const { page, faults, close } = await svc.at(FIRST, `${pages}`);
  await page.route("**/events?*", async (route) => {
    await begins.promise;
    await route.continue();
  });
  await page.goto(`${svc.api.url}${pages}/${number}`);
  await page.getByText("Change in between").first().waitFor();
  const said = await svc.api.call("POST", `${api}/${number}/comments`, {
    body: { body: "Said in between." },
  });
  expect(said.status).toBe(201);
  begins.resolve();
  await page.getByText("Said in between.").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("shows a comment from the time of the first load", async () => {
  const number = await propose("late");
  const { page, faults, close } = await svc.at(FIRST, pages);
  const [isAsked, answers] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await page.route("**/comments?*", async (route) => {
    const response = await route.fetch();
    isAsked.resolve();
    await answers.promise;
    await route.fulfill({ response });
  });
  await page.goto(`${svc.api.url}${pages}/${number}`);
  await isAsked.promise;
  await page.getByText("Change in late").first().waitFor();
  const hears = page.waitForRequest((request) => request.url().endsWith(`/change-requests/${number}`));
  const said = await svc.api.call("POST", `${api}/${number}/comments`, { body: { body: "Said meanwhile." } });
  expect(said.status).toBe(201);
  await hears;
  answers.resolve();
  await page.getByText("Said meanwhile.").waitFor();
  expect(faults()).toEqual([]);
  await close();
});

test("a merge needs another person's approval of the current head", async () => {
  const number = await propose("approved");
  const first = await svc.at(FIRST, `${pages}/${number}`);
  const second = await svc.at(SECOND, `${pages}/${number}`);
  const [a, b] = [first.page, second.page];
  const merge = a.getByRole("button", { name: "Merge", exact: true });
  await a.getByRole("heading", { name: "It needs one more approval" }).waitFor();
  await until("there is no button to merge", async () => (await merge.count()) === 0);
  await a.getByText("It was opened by you or for you").waitFor();
  await b.getByRole("button", { name: "Approve" }).click();
  await b.getByRole("button", { name: "Withdraw my approval" }).waitFor();
  await a.getByRole("heading", { name: "It can be merged" }).waitFor();
  remote.commit("approved", { "b.ts": "new\n" });
  await a.reload();
  await a.getByText("on an earlier commit: no longer counts").waitFor();
  await until("there is no button to merge", async () => (await merge.count()) === 0);
  await b.reload();
  await b.getByRole("button", { name: "Approve" }).click();
  await a.getByRole("heading", { name: "It can be merged" }).waitFor();
  await merge.click();
  await b.getByRole("heading", { name: "Merged into main" }).waitFor();
  expect([...first.faults(), ...second.faults()]).toEqual([]);
  await first.close();
  await second.close();
});

test("lists commits with their messages, and hides changes of white space on request", async () => {
  const number = await propose("commits");
  const text = "const one = 1;\n  const two = 22;\nconst three = 3;\n";
  remote.commit("commits", { "a.ts": text }, { message: "Indent\n\nBecause \u202eit looks better." });
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}?view=commits`);
  await page.getByText("Indent").waitFor();
  await page.getByText("More of").first().click();
  await page.getByText("Because U+202Eit looks better.").waitFor();
  remote.commit("commits", { "a.ts": "const one = 1;\n  const two = 2;\nconst three = 3;\n" });
  await page.goto(`${svc.api.url}${pages}/${number}?view=changes`);
  await page.locator("[data-line]").first().waitFor();
  await page.getByLabel("Hide whitespace").check();
  await page.getByText("+0", { exact: true }).first().waitFor();
  await page.waitForURL("**&w=1");
  expect(await page.locator("[data-line]").count()).toBe(0);
  await page.getByLabel("Hide whitespace").uncheck();
  await page.locator("[data-line]").first().waitFor();
  await page.goto(`${svc.api.url}${pages}?q=in+commits`);
  await page.getByRole("link", { name: "Change in commits" }).waitFor();
  await untilCount(page.getByRole("main").getByRole("listitem").filter({ hasText: "#" }), 1);
  expect(faults()).toEqual([]);
  await close();
});

test("hostile comments are shown as text, with hidden characters visible", async () => {
  const number = await propose("hostile");
  for (const [at, body] of HOSTILE_TEXTS.entries()) {
    const place = at % 2 === 0 ? { path: "a.ts", line: 2, side: "new" } : {};
    const { status, text } = await svc.api.call("POST", `${api}/${number}/comments`, {
      body: { body, ...place },
    });
    if (status !== 201) throw new Error(`${JSON.stringify(body)} was not taken: ${text}`);
  }
  const { page, faults, close } = await svc.at(FIRST, `${pages}/${number}`, { size: PHONE });
  await page
    .getByRole("button", { name: "Reply" })
    .nth(HOSTILE_TEXTS.length - 1)
    .waitFor();
  const said = (await page.getByRole("region", { name: "Comments" }).textContent()) ?? "";
  const disguised = HOSTILE_TEXTS.map(named).filter((text) => text.includes("U+"));
  expect(disguised.filter((text) => !said.includes(text))).toEqual([]);
  await holdsNothing(page);
  expect(await overflow(page)).toBe(0);
  await page.goto(`${svc.api.url}${pages}/${number}?view=changes`);
  await page.getByRole("button", { name: "Reply" }).first().waitFor();
  await holdsNothing(page);
  expect(await overflow(page)).toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test("the files that wait for code owners are listed until one of them approves", async () => {
  const rules = "[change_requests]\nrequire_code_owner_review = true\n";
  const owners = `*.ts ${SECOND}\n/free\n/x/ @nobody\n`;
  remote.commit("main", { "svc.toml": `svc_version = 1\n${rules}`, CODEOWNERS: owners });
  const number = await propose("owned");
  remote.commit("owned", { "x/y": "1\n", free: "1\n" });
  const first = await svc.at(FIRST, `${pages}/${number}`);
  const { page } = first;
  await page.getByRole("heading", { name: "It needs the approval of code owners" }).waitFor();
  const missing = page.getByRole("list", { name: "Missing code owners" });
  const texts = () => missing.locator("> li").allTextContents();
  expect(await texts()).toEqual([
    "Waits for seconda.ts",
    expect.stringMatching(/^Line 3 of CODEOWNERS .*x\/y$/),
  ]);
  expect(await barriers(page)).toEqual([]);
  expect(await page.getByRole("button", { name: "Merge", exact: true }).count()).toBe(0);
  const second = await svc.at(SECOND, `${pages}/${number}`);
  await second.page.getByRole("button", { name: "Approve" }).click();
  await untilCount(missing.locator("> li"), 1);
  await page.goto(`${svc.api.url}${pages}`);
  const row = page.locator("li", { hasText: "Change in owned" });
  await row.getByText("waits for code owners").waitFor();
  remote.commit("main", { CODEOWNERS: "" });
  await page.goto(`${svc.api.url}${pages}/${number}`);
  await page.getByRole("heading", { name: "It can be merged" }).waitFor();
  expect([...first.faults(), ...second.faults()]).toEqual([]);
  await first.close();
  await second.close();
});
