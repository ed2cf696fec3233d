import { afterAll, beforeAll, expect } from "bun:test";
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";
import { barriers, CHROMIUM, DESKTOP, untilCount } from "../helpers/browser.ts";
import { FIRST, startDashboard } from "../helpers/dashboard.ts";
import { invited } from "../helpers/invited.ts";
import { needs } from "../helpers/needs.ts";
import { Remote } from "../helpers/remote.ts";
import { until } from "../helpers/until.ts";

const test = needs(...CHROMIUM);
const svc = startDashboard();
const remote = new Remote();
const SECOND = "second@example.com";
let api: string;
let pages: string;

const BEFORE = ["one", "two", "three", "four", "five", "six", "seven", "eight"];
/** The third line goes, and two come after the fifth, one of which looks like a fence. */
const AFTER = ["one", "two", "four", "five", "```ts", "  x < 1;", "six", "seven", "eight"];
const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join("");

beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  remote.commit("main", { "a.md": text(BEFORE) });
  const { project_id, slug } = await svc.api.project(remote.url);
  [api, pages] = [`/v1/projects/${project_id}/change-requests`, `/projects/${slug}/change-requests`];
  await invited(svc.api, SECOND);
});
afterAll(() => remote.remove());

async function propose(head: string): Promise<number> {
  remote.branch(head, remote.git("rev-list", "--max-parents=0", "main").trim());
  remote.commit(head, { "a.md": text(AFTER) });
  const body = { title: `Change in ${head}`, head_ref: head };
  return (await svc.api.call("POST", api, { body })).body.number;
}

const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

/** The numbers of the marked lines of a side. */
function marked(page: Page, side: "old" | "new"): Promise<string[]> {
  return page.evaluate(
    (wanted) =>
      [...document.querySelectorAll(`[data-line=${wanted}][data-marked]`)].map(
        (each) => each.getAttribute("aria-label")?.replace(/^Comment on line /, "") ?? "",
      ),
    side,
  );
}

async function drag(page: Page, from: string, to: string): Promise<void> {
  await button(page, from).hover();
  await page.mouse.down();
  await button(page, to).hover();
  await page.mouse.up();
}

test("a comment on several lines: dragged, Shift+clicked or by keyboard, on one side only", async () => {
  const number = await propose("lines");
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/${number}?view=changes`, {
    size: DESKTOP,
  });
  // upwards, over a removed line that is not of this side
  await drag(page, "Comment on line 5, added", "Comment on line 2");
  await page.getByLabel("Comment on lines 2 to 5").waitFor();
  expect(await marked(page, "new")).toEqual(["2", "3", "4", "5, added"]);
  expect(await marked(page, "old")).toEqual([]);
  expect(await barriers(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await untilCount(page.locator("[data-marked]"), 0);

  // a second line moves the comment, with its text
  await button(page, "Comment on line 1").click();
  await page.keyboard.type("Moved along.");
  await button(page, "Comment on line 3").click({ modifiers: ["Shift"] });
  await untilCount(page.locator("textarea"), 1);
  expect(await page.getByLabel("Comment on lines 1 to 3").inputValue()).toBe("Moved along.");
  await button(page, "Comment on line 6, added").click({ modifiers: ["Shift"] });
  await untilCount(page.locator("textarea"), 1);
  expect(await page.getByLabel("Comment on lines 1 to 6").inputValue()).toBe("Moved along.");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Lines 1 to 6", { exact: true }).waitFor();
  // once it is sent, its line gets the focus
  await page.locator('[data-line]:focus[aria-label="Comment on line 6, added"]').waitFor();

  await button(page, "Comment on line 3, removed").focus();
  for (const key of ["Shift+ArrowUp", "Shift+ArrowUp", "Shift+ArrowUp", "Shift+ArrowDown"])
    await page.keyboard.press(key);
  await until("two lines are marked", async () => (await page.locator("[data-marked]").count()) === 2);
  await page.keyboard.press("Enter");
  await page.getByLabel("Comment on lines 2 to 3 (before)").fill("Why?");
  await page.keyboard.press("Control+Enter");
  await page.getByText("Lines 2 to 3", { exact: true }).waitFor();

  await page.getByText("Split", { exact: true }).click();
  await page.locator(".grid-cols-2").first().waitFor();
  await page.locator("[data-line=old]").nth(4).hover();
  await page.mouse.down();
  await page.locator("[data-line=new]").nth(6).hover();
  await page.mouse.up();
  await page.getByLabel("Comment on lines 5 to 6 (before)").waitFor();
  expect(await marked(page, "old")).toEqual(["5", "6"]);
  expect(await marked(page, "new")).toEqual([]);
  await page.getByText("Unified", { exact: true }).click();

  const { comments } = (await svc.api.call("GET", `${api}/${number}/comments`)).body;
  expect(
    comments.map(({ side, start_line, line }: Record<string, unknown>) => [side, start_line, line]),
  ).toEqual([
    ["new", 1, 6],
    ["old", 2, 3],
  ]);
  expect(faults()).toEqual([]);
  await close();
});

test("a suggestion begins with the lines that it replaces, and one click commits what it says", async () => {
  const number = await propose("suggest");
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/${number}?view=changes`);
  await button(page, "Comment on line 3, removed").click();
  await page.getByLabel("Comment on line 3 (before)").waitFor();
  expect(await button(page, "Suggest a change").count()).toBe(0);
  await page.keyboard.press("Escape");
  await drag(page, "Comment on line 5, added", "Comment on line 6, added");
  const field = page.getByLabel("Comment on lines 5 to 6");
  await field.fill("Like this:");
  await button(page, "Suggest a change").click();
  await page.keyboard.type(" // typed");
  expect(await field.inputValue()).toBe("Like this:\n````suggestion\n```ts\n  x < 1; // typed\n````");
  await until("a second one is refused", () => button(page, "Suggest a change").isDisabled());
  await button(page, "Comment").click();
  await button(page, "Commit suggestion").click();
  await button(page, "Show 1 comment").waitFor();
  const after = AFTER.map((line) => (line === "  x < 1;" ? `${line} // typed` : line));
  expect(remote.git("show", "suggest:a.md")).toBe(text(after));
  expect(faults()).toEqual([]);
  await close();
});

test("suggestions of a batch, kept over a reload, are one commit", async () => {
  const number = await propose("suggestions");
  for (const [line, now] of [
    [1, "first"],
    [6, "sixth"],
  ]) {
    const comment = { body: `\`\`\`suggestion\n${now}\n\`\`\``, path: "a.md", line };
    expect((await svc.api.call("POST", `${api}/${number}/comments`, { body: comment })).status).toBe(201);
  }
  const before = remote.git("rev-parse", "suggestions").trim();
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/${number}`);
  await button(page, "Add to batch").first().click();
  await page.getByText("1 suggestion in the batch").waitFor();
  await button(page, "Add to batch").click();
  await button(page, "Remove from batch").first().click();
  await button(page, "Add to batch").click();
  await page.reload();
  await page.getByText("2 suggestions in the batch").waitFor();
  expect(await barriers(page)).toEqual([]);
  await button(page, "Commit suggestions").click();
  await untilCount(button(page, "Show 1 comment"), 2);
  expect(await page.getByText("in the batch").count()).toBe(0);
  const after = AFTER.map((line, at) => (at === 0 ? "first" : at === 5 ? "sixth" : line));
  expect(remote.git("show", "suggestions:a.md")).toBe(text(after));
  expect(remote.git("rev-parse", "suggestions^").trim()).toBe(before);
  expect(faults()).toEqual([]);
  await close();
});

test("a review of several comments: pending for its author only, kept over a reload, submitted at once", async () => {
  const number = await propose("batch");
  const first = await svc.openAs(SECOND, `${pages}/${number}?view=changes`);
  const { page } = first;
  const all = async () => (await svc.api.call("GET", `${api}/${number}/comments`)).body.comments;
  await drag(page, "Comment on line 1", "Comment on line 2");
  await page.keyboard.type("Both **lines**.");
  await button(page, "Start a review").click();
  await button(page, "Comment on line 4").click();
  await page.keyboard.type("Dropped.");
  await page.keyboard.press("Control+Enter");
  await button(page, "Finish review (2)").waitFor();
  await button(page, "Comment on line 3, removed").click();
  await page.keyboard.type("Why?");
  await button(page, "Add to review").click();
  await button(page, "Delete").nth(2).click();
  await button(page, "Edit").nth(1).click();
  await page.getByLabel("Edit the comment").fill("Why gone?");
  await button(page, "Save").click();
  await page.getByText("Why gone?").waitFor();
  expect(await barriers(page)).toEqual([]);
  await page.reload();
  await untilCount(page.getByText("Pending", { exact: true }), 2);
  await page.locator("strong", { hasText: "lines" }).waitFor();
  expect(await all()).toEqual([]);
  const other = await svc.openAs(FIRST, `${pages}/${number}?view=changes`);
  await button(other.page, "Review").waitFor();
  expect(await other.page.getByText("Pending", { exact: true }).count()).toBe(0);

  // the branch moves: the comments stay on the commit that they were written on
  const written = remote.git("rev-parse", "batch").trim();
  remote.commit("batch", { "a.md": text(["zero", ...AFTER]) });
  await page.reload();
  await button(page, "Comment on line 1, added").waitFor();
  expect(await page.getByText("Pending", { exact: true }).count()).toBe(0);
  await button(page, "Finish review (2)").click();
  await untilCount(page.getByText("on an earlier commit"), 2);
  await page.getByLabel("Summary").fill("In **all**:");
  await page.getByText("Request changes", { exact: true }).last().click();
  expect(await barriers(page)).toEqual([]);
  await button(page, "Submit review").click();
  await button(page, "Review").waitFor();
  await other.page.locator("strong", { hasText: "lines" }).waitFor();
  const comments = await all();
  expect(
    comments.map((each: Record<string, unknown>) => [each["body"], each["line"], each["head_commit_sha"]]),
  ).toEqual([
    ["Both **lines**.", 3, written],
    ["Why gone?", 3, written],
  ]);
  const { approvals } = (await svc.api.call("GET", `${api}/${number}`)).body.change_request;
  expect(approvals).toMatchObject([{ state: "changes_requested", body: "In **all**:" }]);
  expect([...first.faults(), ...other.faults()]).toEqual([]);
  await other.close();
  await first.close();
});

test("files that have changed since one's review are marked among all changes", async () => {
  const number = await propose("marks");
  remote.commit("marks", { "src/b.ts": "1\n", "src/c.ts": "1\n" });
  const review = { event: "COMMENT", comments: [{ path: "src/b.ts", body: "Seen." }] };
  expect((await svc.api.call("POST", `${api}/${number}/reviews`, { body: review })).status).toBe(201);
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/${number}?view=changes`, {
    size: DESKTOP,
  });
  const marks = page.getByText("Changed since your review", { exact: true });
  const viewed = (path: string) => page.getByRole("checkbox", { name: path });
  await viewed("src/b.ts").check();
  await viewed("src/c.ts").check();
  expect(await marks.count()).toBe(0);
  remote.commit("marks", { "src/b.ts": "2\n", "src/d.ts": "1\n" });
  await page.reload();
  await untilCount(marks, 2);
  for (const [name, isMarked] of [
    ["a.md", 0],
    ["b.ts", 1],
    ["c.ts", 0],
    ["d.ts", 1],
  ] as const) {
    const item = page.getByRole("treeitem", { name });
    expect([name, await item.getByText("changed since your review").count()]).toEqual([name, isMarked]);
  }
  // viewed is what has not changed since
  expect(await viewed("src/b.ts").isChecked()).toBe(false);
  expect(await viewed("src/c.ts").isChecked()).toBe(true);
  expect(await barriers(page)).toEqual([]);
  await page.getByRole("combobox", { name: "Which changes" }).selectOption({ label: "Since your review" });
  await untilCount(marks, 0);
  expect(faults()).toEqual([]);
  await close();
});

test("images are shown before and after the change; a script in one does not run", async () => {
  const svg = (width: number) =>
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="9"><script>parent.document.title = "ran"</script></svg>\n`;
  const before = { "i/b.svg": svg(30), "i/c.png": png(3, 1), "i/gone.png": png(4, 1) };
  const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n";
  const after = {
    ...{ "i/b.svg": svg(40), "i/c.png": png(5, 2), "i/gone.png": null, "i/new.png": png(6, 1) },
    ...{ "i/broken.jpg": Uint8Array.of(0, 1, 2), "i/stored.png": pointer },
  };
  remote.commit("pictures", before, { from: "main" });
  remote.branch("pictures-base", "pictures");
  remote.commit("pictures", after);
  const body = { title: "Pictures", head_ref: "pictures", base_ref: "pictures-base" };
  const { number } = (await svc.api.call("POST", api, { body })).body;
  const { page, faults, close } = await svc.openAs(FIRST, `${pages}/${number}?view=changes`, {
    size: DESKTOP,
  });
  const shown = async () =>
    (await page.locator("figure").allInnerTexts()).map((each) => each.replace(/\s+/g, " "));
  const size = (side: string, pixels: string) =>
    expect.stringMatching(new RegExp(`^${side} ${pixels} pixels, \\d+ bytes$`));
  await until("all images are loaded", async () => !(await shown()).join().includes("Loading"));
  await untilCount(page.locator("figure img"), 6);
  await until("sizes are shown", async () => (await shown()).join().split("pixels").length === 7);
  expect(await shown()).toEqual([
    size("Before", "30 × 9"),
    size("After", "40 × 9"),
    "After The file is not an image that this browser can show.",
    size("Before", "3 × 1"),
    size("After", "5 × 2"),
    size("Before", "4 × 1"),
    size("After", "6 × 1"),
    "After The image is stored in Git LFS, which svc does not fetch. The repository has a pointer to it.",
  ]);
  expect(await page.title()).not.toContain("ran");
  expect(await barriers(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

/** A black image. */
function png(width: number, height: number): Uint8Array {
  const chunk = (type: string, data: Uint8Array) => {
    const bytes = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(bytes));
    return Buffer.concat([length, bytes, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 0], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(Buffer.alloc((width + 1) * height))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}
