import { afterAll, beforeAll, expect } from "bun:test";
import type { Locator, Page } from "playwright-core";
import { HIDDEN_IN_TEXT } from "../../src/contract/hidden.ts";
import { PART_TEXT_MAX } from "../../src/contract/limits.ts";
import { messageEndOf } from "../../src/contract/prompt-message.ts";
import type { ConversationPage } from "../../src/contract/turn.ts";
import { barriersInAllLooks, CHROMIUM, untilCount } from "../helpers/browser.ts";
import { HOSTILE_TEXTS } from "../helpers/hostile-text.ts";
import { needs } from "../helpers/needs.ts";
import { hostRuntimes, type RuntimeHost } from "../helpers/runtime-host.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";
import { until } from "../helpers/until.ts";

// a browser on a busy machine
const test = needs(...CHROMIUM);

let pages: SessionPages;
let runtimeOf: (sessionId: string) => RuntimeHost;
beforeAll(async () => {
  if (!CHROMIUM[1]) return;
  pages = await startSessionPages();
  runtimeOf = hostRuntimes(pages.provider);
});
afterAll(() => pages?.stop());

/** A running session, followed by the server. */
async function followed(): Promise<{ id: string; runtime: RuntimeHost }> {
  const { session_id: id } = await pages.running();
  await until("the conversation is followed", () => runtimeOf(id).followers > 0);
  return { id, runtime: runtimeOf(id) };
}

/** Waits until a text is stored. */
async function untilStored(id: string, text: string): Promise<void> {
  await until(`"${text}" is stored`, async () => {
    const page: ConversationPage = (await pages.call("GET", `/${id}/conversation?limit=200`)).body;
    return JSON.stringify(page.turns).includes(text);
  });
}

async function stop(id: string): Promise<void> {
  await pages.call("POST", `/${id}/stop`);
  await pages.becomes(id, "stopped");
}

async function open(id: string) {
  const visited = await pages.open(`/sessions/${id}`);
  return { ...visited, chat: visited.page.getByRole("region", { name: "Conversation" }) };
}

/** A prompt, and its answer. */
function say(runtime: RuntimeHost, name: string, text: string, ...replies: string[]): void {
  ask(runtime, name, text);
  for (const [at, reply] of replies.entries()) {
    runtime.part(`msg_${name}a`, { id: `prt_${name}${at}`, type: "text", text: reply, time: { end: 2 } });
  }
  runtime.message({
    id: `msg_${name}a`,
    role: "assistant",
    time: { created: 1, completed: 2 },
    finish: "stop",
  });
}

/** A prompt with an answer that has nothing yet: `msg_<name>a`. */
function ask(runtime: RuntimeHost, name: string, text: string): void {
  runtime.message({ id: `msg_${name}`, role: "user" });
  runtime.part(`msg_${name}`, { id: `prt_${name}p`, type: "text", text });
  runtime.message({ id: `msg_${name}a`, role: "assistant", parentID: `msg_${name}` });
}

/** Two pages: the second has the first turn, and the first two parts of the next one. */
function sayMuch(runtime: RuntimeHost): void {
  say(runtime, "first", "the first prompt", "long answer\n\n".repeat(60));
  say(runtime, "split", "the split prompt", "one half", "other half", "the end of it");
  say(runtime, "n0", "prompt 0", "answer 0", "more", "and more");
  for (let at = 1; at < 48; at++) say(runtime, `n${at}`, `prompt ${at}`, `answer ${at}`);
}

const isConversation = ({ pathname }: URL) => pathname.endsWith("/conversation");

async function scrollUp(page: Page): Promise<void> {
  await page.mouse.move(400, 300);
  await until("the top is in view", async () => {
    await page.mouse.wheel(0, -100_000);
    return await page.evaluate(() => window.scrollY === 0);
  });
}

/** Expands all that is in the document. */
async function openAll(chat: Locator): Promise<void> {
  const folded = chat.locator("details:not([open]) > summary");
  while ((await folded.count()) > 0) await folded.first().click();
}

test("a stopped session shows its prompts with their authors, texts, thoughts and tools", async () => {
  const { id, runtime } = await followed();
  const promptId = crypto.randomUUID();
  const name = `x${messageEndOf(promptId)}`;
  pages.provider.onPrompt = () => {
    say(runtime, name, "Fix the login", "I look **at it**.");
    const part = (part: Parameters<RuntimeHost["part"]>[1]) => runtime.part(`msg_${name}a`, part);
    part({ id: "prt_r", type: "reasoning", text: "It may be *late*", time: { start: 1, end: 2 } });
    const input = { command: "npm test" };
    const ran = { status: "completed", input, output: "3 \u001b[32mpass\u001b[0m", title: "npm test" };
    part({ id: "prt_t", type: "tool", tool: "bash", state: { ...ran, metadata: {} } });
    const metadata = {
      diff: "@@ -1 +1,2 @@\n-one\n+two\n+three\n",
      filediff: { additions: 2, deletions: 1 },
    };
    const edited = { status: "completed", input: { filePath: "a.txt" }, output: "", metadata };
    part({ id: "prt_e", type: "tool", tool: "edit", state: edited });
    part({
      id: "prt_f",
      type: "tool",
      tool: "read",
      state: { status: "error", input, error: "no such file" },
    });
    return { state: "answered", error: null };
  };
  await pages.call("POST", `/${id}/prompt`, { body: { text: "Fix the login", prompt_id: promptId } });
  await untilStored(id, "no such file");
  pages.provider.onPrompt = () => ({ state: "answered", error: null });
  await stop(id);
  const { chat, page, faults, close } = await open(id);
  await chat.locator("strong", { hasText: "at it" }).waitFor();
  const prompt = chat.getByRole("article", { name: "Prompt" });
  expect(await prompt.textContent()).toMatch(/^Fix the loginfirst, \d+ years ago$/);
  expect(await prompt.locator("time").getAttribute("datetime")).toBe("1970-01-01T00:00:01.000Z");
  for (const [summary, inside] of [
    ["Thought", "It may be late"],
    ["done bash npm test", "3 pass"],
    ["done edit a.txt +2 -1", "three"],
    ["failed read npm test", "no such file"],
  ] as const) {
    const name = summary.split(" ")[1] ?? summary;
    const details = chat.locator("details").filter({ hasText: name });
    const words = (await details.locator("summary > :not([aria-hidden])").allTextContents()).join(" ");
    expect(words).toBe(summary);
    expect(await details.getByText(inside).count()).toBe(0);
    await details.locator("summary").focus();
    await page.keyboard.press("Enter");
    await details.getByText(inside).last().waitFor();
  }
  expect(await chat.locator("details em", { hasText: "late" }).count()).toBe(1);
  expect(faults()).toEqual([]);
  await close();
});

test("a text that is cut says so", async () => {
  const { id, runtime } = await followed();
  say(runtime, "1", "be long", "x".repeat(PART_TEXT_MAX + 1));
  const { chat, close } = await open(id);
  await chat.getByText("The text is too long: only its beginning is kept.").waitFor();
  await close();
});

test("a turn that ended early says how", async () => {
  const { id, runtime } = await followed();
  ask(runtime, "1", "fail");
  const fail = (name: string, error: object) =>
    runtime.message({ id: `msg_${name}a`, role: "assistant", time: { created: 1, completed: 2 }, error });
  fail("1", { name: "APIError", data: { message: "No \u202ecredit left" } });
  ask(runtime, "2", "abort");
  fail("2", { name: "MessageAbortedError", data: { message: "Aborted" } });
  ask(runtime, "3", "restart");
  runtime.message({ id: "msg_4", role: "user" });
  runtime.part("msg_4", { id: "prt_4", type: "text", text: "[svc] The agent runtime restarted." });
  runtime.setBusy(true);
  ask(runtime, "6", "be cut off");
  const { command, ...running } = { status: "running", command: "sleep 60", metadata: {} };
  runtime.part("msg_6a", {
    id: "prt_6t",
    type: "tool",
    tool: "bash",
    state: { ...running, input: { command } },
  });
  runtime.part("msg_6a", { id: "prt_6x", type: "text", text: "Half an", time: { start: 2 } });
  await untilStored(id, "Half an");
  ask(runtime, "7", "nobody answers");
  await untilStored(id, "nobody answers");
  await stop(id);
  const { chat, close } = await open(id);
  await chat.getByText("Half an").waitFor();
  const notes = await chat.locator("p.border-l-2").allTextContents();
  expect(notes).toEqual([
    "The agent's run failed: No U+202Ecredit left",
    "The agent's run was aborted.",
    "The agent runtime restarted.",
    "The answer was cut off when the sandbox ended.",
    "The sandbox ended before the agent answered.",
  ]);
  expect(await chat.locator("summary", { hasText: "sleep 60" }).textContent()).toContain("cut off");
  await close();
});

test("earlier pages are loaded when they come near, without moving what is read, and a split turn is joined", async () => {
  const { id, runtime } = await followed();
  sayMuch(runtime);
  await untilStored(id, "answer 47");
  await stop(id);
  const { page, chat, faults, close } = await open(id);
  await chat.getByText("answer 47").waitFor();
  // a failure leaves what is shown
  const later = (url: URL) => isConversation(url) && url.searchParams.has("cursor");
  const json = { error: "The database is \u202eaway.", code: "internal" };
  await page.route(later, (route) => route.fulfill({ status: 500, json }));
  await scrollUp(page);
  await chat.getByRole("alert").waitFor();
  const topOf = async () => (await chat.getByText("prompt 0", { exact: true }).boundingBox())?.y ?? 0;
  const before = await topOf();
  expect(await chat.getByText("one half").count()).toBe(0);
  expect(await chat.getByText("the end of it").count()).toBe(1);
  await page.unroute(later);
  const failed = (await chat.getByRole("alert").boundingBox())?.height ?? 0;
  await chat.getByRole("button", { name: "Try again" }).click();
  await chat.getByText("one half").waitFor({ state: "attached" });
  await chat.getByRole("alert").waitFor({ state: "detached" });
  const isHere = async () => Math.abs((await topOf()) - before) < failed + 30;
  await until("what was read is where it was", isHere);
  for (const once of ["the split prompt", "one half", "other half", "the end of it", "answer 0"]) {
    expect([once, await chat.getByText(once, { exact: true }).count()]).toEqual([once, 1]);
  }
  await scrollUp(page);
  await chat.getByText("the first prompt").waitFor();
  expect(await chat.getByText("A new sandbox").count()).toBe(0);
  expect(faults()).toEqual([]);
  await close();
});

test("a conversation that cannot be loaded shows why, and is loaded as soon as it can; an empty one says so", async () => {
  const { id } = await followed();
  await stop(id);
  const { page, chat, close } = await open(id);
  await chat.getByText("No messages of this session are stored.").waitFor();
  const json = { error: "The database is away.", code: "internal" };
  await page.route(isConversation, (route) => route.fulfill({ status: 500, json }));
  await page.reload();
  await chat.getByRole("status").getByText("The database is away.").waitFor();
  expect(await chat.getByText("No messages").count()).toBe(0);
  await page.unroute(isConversation);
  await chat.getByText("No messages of this session are stored.").waitFor();
  expect(await chat.getByText("The database is away.").count()).toBe(0);
  const gone = { error: "It is forbidden.", code: "forbidden" };
  await page.route(isConversation, (route) => route.fulfill({ status: 403, json: gone }));
  await page.reload();
  await chat.getByText("Cannot load the conversation: It is forbidden.").waitFor();
  await page.unroute(isConversation);
  await chat.getByRole("button", { name: "Try again" }).click();
  await chat.getByText("No messages of this session are stored.").waitFor();
  await close();
});

test("a failed session shows its conversation below its failure", async () => {
  const { id, runtime } = await followed();
  say(runtime, "1", "one", "before the failure");
  await untilStored(id, "before the failure");
  pages.provider.sandboxes.get(id)?.die(137);
  pages.look();
  await pages.becomes(id, "failed");
  const { page, chat, close } = await open(id);
  await page.getByRole("region", { name: "Failure" }).waitFor();
  await chat.getByText("before the failure").waitFor();
  await close();
});

test("stays on a page that is open during a stop and a restart, and is above the new sandbox's", async () => {
  const { id, runtime } = await followed();
  say(runtime, "1", "one", "first");
  await untilStored(id, "first");
  const { page, chat, faults, close } = await open(id);
  await chat.getByText("first", { exact: true }).waitFor();
  runtime.setBusy(true);
  ask(runtime, "2", "two");
  runtime.part("msg_2a", { id: "prt_2", type: "text", text: "half", time: { start: 2 } });
  await untilStored(id, "half");
  await stop(id);
  await chat.getByText("The answer was cut off when the sandbox ended.").waitFor();
  await untilCount(chat.getByText("first", { exact: true }), 1);
  await pages.call("POST", `/${id}/restart`);
  await page.getByText("Running", { exact: true }).waitFor();
  expect(await chat.getByText("The answer was cut off when the sandbox ended.").count()).toBe(1);
  await until("the next sandbox is followed", () => runtimeOf(id).followers > 0);
  say(runtimeOf(id), "3", "three", "third");
  await chat.getByText("third", { exact: true }).waitFor();
  for (const isReloaded of [false, true]) {
    if (isReloaded) await page.reload();
    await chat.getByText("third", { exact: true }).waitFor();
    const shown = (await chat.textContent()) ?? "";
    expect(shown).toMatch(/first.*two.*half.*cut off.*A new sandbox starts here\..*three.*third/s);
  }
  await stop(id);
  await page.getByText("Stopped", { exact: true }).waitFor();
  await untilCount(chat.getByText("third", { exact: true }), 1);
  expect(faults()).toEqual([]);
  await close();
});

test("a long conversation is read from its end to its beginning without a gap", async () => {
  const { id, runtime } = await followed();
  const turns = 110;
  for (let at = 1; at <= turns; at++) {
    say(runtime, `t${at}`, `prompt ${at}.`, `answer ${at}.`);
    // the server keeps up with some turns at a time
    if (at % 20 === 0) await untilStored(id, `answer ${at}.`);
  }
  await untilStored(id, `answer ${turns}.`);
  const { page, chat, close } = await open(id);
  await chat.getByText(`answer ${turns}.`, { exact: true }).waitFor();
  await page.mouse.move(400, 300);
  const seen = new Set<string>();
  const collect = async () => {
    for (const text of await chat.locator("[data-index]").allTextContents()) seen.add(text);
  };
  await until("the first prompt is shown", async () => {
    await collect();
    await page.evaluate(() => window.scrollBy({ top: -300, behavior: "instant" }));
    return (await chat.getByText("prompt 1.", { exact: true }).count()) > 0;
  });
  await collect();
  const answers = [...seen].filter((text) => text.startsWith("answer"));
  expect(answers.toSorted()).toEqual(
    Array.from({ length: turns }, (_, at) => `answer ${at + 1}.`).toSorted(),
  );
  await close();
});

test("hostile messages cannot run code, load resources, hide text or link elsewhere", async () => {
  const { id, runtime } = await followed();
  const all = HOSTILE_TEXTS.join("\n");
  ask(runtime, "1", all);
  const part = (part: Parameters<RuntimeHost["part"]>[1]) => runtime.part("msg_1a", part);
  part({ id: "prt_1", type: "text", text: HOSTILE_TEXTS.join("\n\n"), time: { end: 2 } });
  part({ id: "prt_2", type: "reasoning", text: HOSTILE_TEXTS.join("\n\n"), time: { end: 2 } });
  const diff = HOSTILE_TEXTS.map((text) => `+${text.replaceAll("\n", "")}`).join("\n");
  const input = { command: all, filePath: all, [HOSTILE_TEXTS[6] ?? ""]: all };
  const metadata = { diff, filediff: { additions: 1, deletions: 1 } };
  const state = { status: "completed", input, output: all, title: all };
  part({ id: "prt_3", type: "tool", tool: `bash ${HOSTILE_TEXTS[0]}`, state: { ...state, metadata: {} } });
  part({ id: "prt_4", type: "tool", tool: "edit", state: { ...state, metadata } });
  part({ id: "prt_5", type: "tool", tool: "read", state: { status: "error", input, error: all } });
  const error = { name: "APIError", data: { message: HOSTILE_TEXTS.slice(-16).join(" ") } };
  runtime.message({ id: "msg_1a", role: "assistant", time: { created: 1, completed: 2 }, error });
  await untilStored(id, "prt_5");
  await stop(id);
  const { page, chat, faults, close } = await open(id);
  await chat.getByText("The agent's run failed").waitFor();
  await openAll(chat);
  await page.mouse.move(300, 300);
  const made =
    "script, iframe, object, embed, svg:not(.lucide), math, img, form[action], style, base, link, meta, video, audio";
  expect(await chat.locator(made).count()).toBe(0);
  const links = await chat
    .locator("a")
    .evaluateAll((all) => all.map((each) => [each.getAttribute("href") ?? "", each.getAttribute("rel")]));
  expect(links.length).toBeGreaterThan(0);
  for (const [href, rel] of links) {
    expect(href).toMatch(/^(?:https?:)?\/\/|^$|^\.\.\//);
    expect(rel).toBe("noopener noreferrer nofollow");
  }
  const shown = (await chat.textContent()) ?? "";
  expect([...shown.matchAll(HIDDEN_IN_TEXT)].map(([found]) => found.codePointAt(0)?.toString(16))).toEqual(
    [],
  );
  expect(shown.split("payU+202Egpj.exe").length).toBeGreaterThan(5);
  expect(faults()).toEqual([]);
  await close();
});

test("a stored conversation is accessible", async () => {
  const { id, runtime } = await followed();
  const wide = "a/very/long/path/".repeat(12);
  ask(runtime, "1", wide);
  runtime.part("msg_1a", { id: "prt_1", type: "text", text: `# A title\n\n${wide}`, time: { end: 2 } });
  runtime.part("msg_1a", { id: "prt_2", type: "reasoning", text: wide, time: { end: 2 } });
  const state = { status: "completed", input: { command: wide }, output: wide.repeat(9), title: wide };
  runtime.part("msg_1a", { id: "prt_3", type: "tool", tool: "bash", state: { ...state, metadata: {} } });
  await untilStored(id, "prt_3");
  await stop(id);
  const { page, chat, faults, close } = await open(id);
  await chat.getByText("The answer was cut off").waitFor();
  await openAll(chat);
  expect(await barriersInAllLooks(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});
