import { afterAll, beforeAll, expect } from "bun:test";
import type { Page } from "playwright-core";
import { PNG } from "../helpers/attachments.ts";
import { barriers, barriersInAllLooks, CHROMIUM, untilCount } from "../helpers/browser.ts";
import type { ScriptedRuntime } from "../helpers/conversation.ts";
import { needs } from "../helpers/needs.ts";
import { sample } from "../helpers/random.ts";
import { type SessionPages, startSessionPages } from "../helpers/session-pages.ts";
import { until } from "../helpers/until.ts";

// a browser on a busy machine
const test = needs(...CHROMIUM);

let pages: SessionPages;
beforeAll(async () => {
  if (CHROMIUM[1]) pages = await startSessionPages();
});
afterAll(() => pages?.stop());

/** The page of a session whose conversation a test plays. */
async function talk(before?: (r: ScriptedRuntime) => void, isFresh = false) {
  const { session_id } = await pages.create();
  const runtime = pages.runtimeOf(session_id);
  before?.(runtime);
  await pages.becomes(session_id, "running");
  const path = `/sessions/${session_id}`;
  const visited = isFresh ? await pages.open(path, { fresh: true }) : await pages.at(path);
  await until("the server listens", () => runtime.listeners > 0);
  const chat = visited.page.getByRole("region", { name: "Conversation" });
  return { ...visited, id: session_id, runtime, chat, say: (words: string) => say(visited.page, words) };
}

const isStream = ({ pathname }: URL) => pathname.endsWith("/conversation/events");
const field = (page: Page) => page.getByRole("textbox", { name: "Prompt for the agent" });

async function say(page: Page, words: string): Promise<void> {
  await field(page).fill(words);
  await page.keyboard.press("Enter");
}

test("streams text, expands tools and edits, and shows the same after a reload", async () => {
  const { page, runtime, chat, say, faults, close } = await talk();
  const gate = Promise.withResolvers<void>();
  runtime.onPrompt(async (run) => {
    run.begin();
    const part = run.part();
    part.more("I look **at");
    await gate.promise;
    part.more(" it**.\n\n```\nlet x\n\nlet y\n```\n");
    part.whole();
    const input = { command: "npm test" };
    run.tool("bash", { status: "running", input });
    run.tool("bash", { status: "completed", input, output: "3 \u001b[32mpass\u001b[0m", title: "npm test" });
    const metadata = {
      diff: "@@ -1 +1,2 @@\n-one\n+two\n+three\n",
      filediff: { additions: 2, deletions: 1 },
    };
    run.tool("edit", { status: "completed", input: { filePath: "a.txt" }, output: "", metadata });
    run.end();
  });
  await say("Look at it");
  await chat.getByText("I look **at").waitFor();
  expect(await page.getByRole("button", { name: "Abort" }).isVisible()).toBe(true);
  // the browser prefers reduced motion
  const dot = page.locator(".animate-pulse").first();
  const motion = await dot.evaluate((element) => {
    const { animationName, transitionProperty } = getComputedStyle(element);
    return { animationName, transitionProperty };
  });
  expect(motion).toEqual({ animationName: "none", transitionProperty: "none" });
  expect(await field(page).inputValue()).toBe("");
  gate.resolve();
  const looksWell = async () => {
    await chat.locator("strong", { hasText: "at it" }).waitFor();
    const prompts = await chat.getByRole("article", { name: "Prompt" }).allTextContents();
    expect(prompts).toEqual([expect.stringMatching(/^Look at itfirst, /)]);
    expect(await chat.locator("pre code").first().textContent()).toBe("let x\n\nlet y\n");
    await chat.getByText("a.txt +2 -1").waitFor();
    const ran = chat.locator("details", { hasText: "bash" });
    expect(await ran.getByText("3 pass").isVisible()).toBe(false);
    await ran.locator("summary").click();
    // rendered after the toggle event, which follows the click
    await ran.getByText("3 pass").waitFor();
    await page.getByRole("button", { name: "Abort" }).waitFor({ state: "detached" });
  };
  await looksWell();
  // only whole answers are read out
  expect(await page.locator("[aria-live=polite].sr-only").textContent()).toContain("I look **at it**.");
  await page.reload();
  await looksWell();
  expect(faults()).toEqual([]);
  await close();
});

test("a permission request is answered in place", async () => {
  const { runtime, chat, say, close } = await talk();
  const card = chat.getByRole("alert");
  for (const [button, reply] of [
    ["Allow once", "once"],
    ["Always allow", "always"],
    ["Reject", "reject"],
  ] as const) {
    runtime.onPrompt(async (run) => {
      run.begin();
      await run.permission("bash", ["rm -rf \u202edist"]);
      await run.say(`Done: ${reply}.`);
      run.end();
    });
    await say("Clean up");
    await card.waitFor();
    expect(await card.textContent()).toContain("Allow it to use bash?rm -rf U+202Edist");
    await card.getByRole("button", { name: button }).click();
    await chat.getByText(`Done: ${reply}.`).waitFor();
    expect(await card.count()).toBe(0);
    const answer = runtime.requests.findLast(({ path }) => path.startsWith("/permission"));
    expect(answer?.body).toEqual({ reply });
  }
  await close();
});

test("a question is answered by choice, with free text, or rejected", async () => {
  const { page, runtime, chat, say, close } = await talk();
  const options = [
    { label: "Red", description: "warm" },
    { label: "Blue", description: "Blue" },
  ];
  runtime.onPrompt(async (run) => {
    run.begin();
    await run.question([
      { question: "Which?", options },
      { question: "Where?", options, multiple: true, custom: false },
    ]);
    run.end();
  });
  const answers = () => runtime.requests.findLast(({ path }) => path.startsWith("/question"));
  await say("one");
  const send = page.getByRole("button", { name: "Answer", exact: true });
  await chat.getByRole("radio", { name: "Blue" }).check();
  expect(await send.isDisabled()).toBe(true);
  await chat.getByRole("checkbox", { name: "Red warm" }).check();
  await chat.getByRole("checkbox", { name: "Blue" }).check();
  await send.click();
  await until("it is answered", () => answers() !== undefined);
  expect(answers()?.body).toEqual({ answers: [["Blue"], ["Red", "Blue"]] });
  await say("two");
  await chat.getByRole("radio", { name: "Red" }).check();
  await chat.getByLabel("Other answer").fill("Green");
  expect(await chat.getByRole("radio", { name: "Red" }).isChecked()).toBe(false);
  await page.getByRole("button", { name: "Skip" }).click();
  await until("it is refused", () => answers()?.path.endsWith("/reject") === true);
  await close();
});

test("Escape and the button abort the run", async () => {
  const { page, runtime, chat, say, close } = await talk();
  runtime.onPrompt((run) => {
    run.begin();
    run.part().more("On and on");
  });
  for (const how of ["Escape", "button"] as const) {
    await say("Go on");
    await page.getByRole("button", { name: "Abort" }).waitFor();
    await chat.getByText("On and on").last().waitFor();
    if (how === "Escape") await page.keyboard.press("Escape");
    else await page.getByRole("button", { name: "Abort" }).click();
    await page.getByRole("button", { name: "Abort" }).waitFor({ state: "detached" });
  }
  await untilCount(chat.getByText("The agent's run was aborted."), 2);
  await close();
});

test("reconnects after a lost connection, and shows missed events once", async () => {
  const { page, runtime, chat, say, faults, close } = await talk();
  await chat.getByText("No messages yet").waitFor();
  await page.route(isStream, (route) => route.fulfill({ status: 502, body: "" }));
  await page.reload();
  await page.getByText("Reconnecting").waitFor();
  const gate = Promise.withResolvers<void>();
  runtime.onPrompt(async (run) => {
    run.begin();
    const part = run.part();
    part.more("Before ");
    await gate.promise;
    part.more("after.");
    part.whole();
    run.end();
  });
  await say("Speak");
  await until("it is asked", () => runtime.isWorking);
  await page.unroute(isStream);
  await chat.getByText("Before").waitFor();
  gate.resolve();
  await chat.getByText("Before after.").waitFor();
  await page.getByText("Reconnecting").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Abort" }).waitFor({ state: "detached" });
  await untilCount(chat.getByText("Before"), 1);
  await untilCount(chat.getByRole("article", { name: "Prompt" }), 1);
  expect(faults().filter((fault) => !fault.includes("502"))).toEqual([]);
  await close();
});

test("a hidden page closes its streams, and catches up when it is visible", async () => {
  const { page, id, runtime, chat, close } = await talk(undefined, true);
  await chat.getByText("No messages yet").waitFor();
  await page.clock.install();
  const see = (state: "visible" | "hidden") =>
    page.evaluate((now) => {
      Object.defineProperty(document, "visibilityState", { configurable: true, get: () => now });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  const ended = page.waitForEvent("requestfailed", (request) => isStream(new URL(request.url())));
  await see("hidden");
  await page.clock.runFor(25_000);
  await ended;
  runtime.prompt("asked meanwhile");
  await pages.call("PATCH", `/${id}`, { body: { name: "renamed meanwhile" } });
  await see("visible");
  await page.clock.resume();
  await page.getByRole("heading", { name: "renamed meanwhile" }).waitFor();
  await chat.getByText("asked meanwhile", { exact: true }).first().waitFor();
  await close();
});

test("marks an answer that is cut off, retried or failed, also after a reload", async () => {
  const { page, runtime, chat, say, close } = await talk();
  const gate = Promise.withResolvers<void>();
  runtime.onPrompt(async (run) => {
    run.begin();
    run.retry(1, "overloaded");
    run.retry(2, "overloaded");
    await gate.promise;
    run.fail("APIError", "No \u202ecredit left");
  });
  await say("fail");
  await untilCount(chat.getByText("The model does not answer (overloaded). Attempt 3"), 1);
  gate.resolve();
  await chat.getByText("The agent's run failed: No U+202Ecredit left").waitFor();
  expect(await chat.getByText("The model does not answer").count()).toBe(0);
  runtime.onPrompt((run) => {
    run.begin();
    run.part().more("Half an");
    run.die();
  });
  await say("die");
  await chat.getByText("The answer was cut off").waitFor();
  await page.reload();
  await chat.getByText("The agent's run failed: No U+202Ecredit left").waitFor();
  await chat.getByText("The answer was cut off").waitFor();
  await close();
});

test("a draft stays until it is sent; Shift-Enter breaks a line; an undelivered message returns to the draft", async () => {
  const { page, chat, close } = await talk();
  await field(page).fill("one");
  await page.keyboard.press("Shift+Enter");
  await page.keyboard.type("two");
  await page.reload();
  expect(await field(page).inputValue()).toBe("one\ntwo");
  await chat.getByText("No messages yet").waitFor();
  const isPrompt = ({ pathname }: URL) => pathname.endsWith("/prompt");
  const json = { error: "The queue is full.", code: "too_many_prompts" };
  await page.route(isPrompt, (route) => route.fulfill({ status: 429, json }));
  await field(page).press("Enter");
  await page.getByRole("alert").filter({ hasText: "The queue is full." }).waitFor();
  expect(await field(page).inputValue()).toBe("one\ntwo");
  await page.unroute(isPrompt);
  await field(page).press("Enter");
  await chat.getByRole("article", { name: "Prompt" }).waitFor();
  expect(await field(page).inputValue()).toBe("");
  await close();
});

test("a message to a stopped session restarts it, is queued, and can be withdrawn", async () => {
  const { page, id, close } = await talk();
  await pages.call("POST", `/${id}/stop`);
  await page.getByText("Stopped", { exact: true }).waitFor();
  const gate = Promise.withResolvers<void>();
  pages.provider.onStart = () => gate.promise;
  await say(page, "Wake up");
  await page.getByText("Starting: sandbox").waitFor();
  await say(page, "And then this");
  const queue = page.getByRole("list", { name: "Queued prompts" });
  await queue.getByText("And then this").waitFor();
  const second = queue.getByRole("listitem").filter({ hasText: "And then this" });
  await second.getByRole("button", { name: "Withdraw" }).click();
  await second.waitFor({ state: "detached" });
  gate.resolve();
  pages.provider.onStart = () => {};
  await page.getByText("Running", { exact: true }).waitFor();
  await until("it is prompted", () => pages.provider.sandboxes.get(id)?.prompts.length === 1);
  expect(pages.provider.sandboxes.get(id)?.prompts[0]?.text).toContain("Wake up");
  await page.getByRole("link", { name: "Prompts" }).click();
  await page.getByText("answered").waitFor();
  await page.getByText("aborted").waitFor();
  await close();
});

test("the end stays in view unless the user has scrolled up, and rows out of view are not in the document", async () => {
  const past = Array.from({ length: 40 }, (_, at): [string, string] => [`question ${at}`, `answer ${at}`]);
  const { page, runtime, chat, close } = await talk((r) => r.remember(...past));
  const atEnd = () =>
    page.evaluate(() => {
      const { scrollTop, scrollHeight, clientHeight } = document.documentElement;
      return scrollHeight - scrollTop - clientHeight < 5;
    });
  await chat.getByText("answer 39").waitFor();
  await until("the end is in view", atEnd);
  expect(await chat.getByText("question 0", { exact: true }).count()).toBe(0);
  const run = runtime.run();
  run.begin();
  await run.say("more\n\n".repeat(20));
  await chat.getByText("more").last().waitFor();
  await until("the end is in view", atEnd);
  await page.mouse.move(400, 300);
  await page.mouse.wheel(0, -600);
  await page.getByRole("button", { name: "Scroll to the end" }).waitFor();
  await run.say("unseen");
  await page.getByRole("button", { name: "New messages" }).waitFor();
  expect(await atEnd()).toBe(false);
  await page.getByRole("button", { name: "New messages" }).click();
  await until("the end is in view", atEnd);
  run.end();
  // what grows at the same time may keep the end in view once more
  await until("the beginning is in view", async () => {
    await page.mouse.wheel(0, -100_000);
    return (await chat.getByText("question 0", { exact: true }).count()) > 0;
  });
  expect(await chat.getByText("answer 39").count()).toBe(0);
  await close();
});

test("only the reader scrolls up, also when content grows before the page has scrolled", async () => {
  const past = Array.from({ length: 40 }, (_, at): [string, string] => [`question ${at}`, `answer ${at}`]);
  const { page, chat, close } = await talk((r) => r.remember(...past));
  await chat.getByText("answer 39").waitFor();
  /** What happens in one frame before content grows at the end by 200 pixels; then whether the end is in view. */
  const staysAtEnd = (how: string) =>
    page.evaluate(async (how) => {
      const root = document.documentElement;
      const frames = async () => {
        for (let count = 0; count < 3; count++) await new Promise((next) => requestAnimationFrame(next));
      };
      const inner = document.createElement("div");
      inner.style.cssText = "height: 50px; overflow: auto";
      const tall = document.createElement("div");
      tall.style.height = "200px";
      inner.append(tall);
      const filler = document.createElement("p");
      const [rows, below] = document.querySelectorAll("section[aria-label=Conversation] > div");
      rows?.append(inner, filler);
      if (how === "what is below grows") below?.append(filler);
      await frames();
      // before a frame and not in it: its scroll events come before it observes what has grown
      await new Promise((next) => setTimeout(next));
      inner.scrollTop = how === "wheel in a scrolled area" ? 20 : 0;
      const send = (event: Event, target: Element | null = inner) => target?.dispatchEvent(event);
      const key = (key: string) => new KeyboardEvent("keydown", { key, bubbles: true });
      const wheel = (init: WheelEventInit) => new WheelEvent("wheel", { ...init, bubbles: true });
      const touch = (type: string, clientY: number) =>
        new TouchEvent(type, {
          touches: [new Touch({ identifier: 1, target: inner, clientY })],
          bubbles: true,
        });
      const pull = (to: number) => {
        send(touch("touchstart", 100));
        send(touch("touchmove", to));
      };
      if (how.startsWith("wheel")) send(wheel({ deltaY: how === "wheel down" ? 9 : -9 }));
      else if (how === "zoom") send(wheel({ deltaY: -9, ctrlKey: true }));
      else if (how === "finger down") pull(120);
      else if (how === "finger up") pull(80);
      else if (how === "rows measured") root.scrollTop -= 200;
      else if (how === "caret up") send(key("ArrowUp"), document.querySelector("textarea"));
      else send(key(how));
      filler.style.height = "200px";
      await frames();
      const isAtEnd = root.scrollHeight - root.scrollTop - root.clientHeight < 5;
      inner.remove();
      filler.remove();
      await frames();
      return isAtEnd;
    }, how);
  const others = ["wheel down", "wheel in a scrolled area", "zoom", "finger up", "caret up", "a"];
  const stays = [...sample(3, others), "rows measured", "what is below grows"];
  const toEnd = page.getByRole("button", { name: "Scroll to the end" });
  for (const how of stays) expect([how, await staysAtEnd(how)]).toEqual([how, true]);
  for (const how of sample(2, ["wheel up", "finger down", "ArrowUp", "PageUp", "Home"])) {
    expect([how, await staysAtEnd(how)]).toEqual([how, false]);
    await toEnd.click();
    await toEnd.waitFor({ state: "detached" });
  }
  await page.mouse.wheel(0, -600);
  await toEnd.waitFor();
  await page.mouse.wheel(0, 600);
  await toEnd.waitFor({ state: "detached" });
  await close();
});

test("a conversation is accessible, on a desktop, on a phone and in the dark", async () => {
  const { page, runtime, chat, faults, close } = await talk();
  const run = runtime.run();
  run.begin();
  await run.say(
    `# A title\n\n- one\n- two\n\n| a | b |\n|---|---|\n| ${"wide ".repeat(80)} | c |\n\n\`\`\`\n`,
  );
  await run.say(`${"long".repeat(100)}\n\`\`\`\n\n> quoted [link](https://example.com)`);
  const title = "a/very/long/path/".repeat(12);
  run.tool("bash", { status: "completed", input: { command: title }, output: title.repeat(9), title });
  run.tool("read", { status: "error", input: { filePath: title }, error: "no such file" });
  void run.permission("bash", [title]);
  await chat.getByText("The agent requests permission").waitFor();
  expect(await barriersInAllLooks(page)).toEqual([]);
  await chat.getByRole("button", { name: "Allow once" }).click();
  void run.question([{ question: title, options: [{ label: title, description: title }] }]);
  await chat.getByText("Question from the agent", { exact: true }).waitFor();
  for (const summary of await chat.locator("summary").all()) await summary.click();
  expect(await barriersInAllLooks(page)).toEqual([]);
  expect(faults()).toEqual([]);
  await close();
});

test("files are pasted, dropped and chosen, shown with the prompt, and sent to the agent", async () => {
  const { page, id, chat, faults, close } = await talk();
  const give = (event: "paste" | "drop", name: string, base64: string) =>
    field(page).evaluate(
      (target, [type, fileName, data]) => {
        const bytes = Uint8Array.from(atob(data), (character) => character.charCodeAt(0));
        const transfer = new DataTransfer();
        transfer.items.add(new File([bytes], fileName));
        const options = { bubbles: true, cancelable: true };
        target.dispatchEvent(
          type === "paste"
            ? new ClipboardEvent(type, { ...options, clipboardData: transfer })
            : new DragEvent(type, { ...options, dataTransfer: transfer }),
        );
      },
      [event, name, base64] as const,
    );
  const files = page.getByRole("list", { name: "Attached files" });
  await give("paste", "shot.png", PNG.toString("base64"));
  await files.getByText(`shot.png (image/png, ${PNG.length} bytes)`).waitFor();
  await give("drop", "notes.txt", btoa("Notes"));
  await files.getByText("notes.txt (text/plain, 5 bytes)").waitFor();
  const program = { name: "a.png", mimeType: "image/png", buffer: Buffer.from("\x7fELF\0") };
  await page.getByLabel("Files to attach").setInputFiles(program);
  await page.getByText("a.png cannot be attached.").waitFor();
  await page
    .getByLabel("Files to attach")
    .setInputFiles({ ...program, name: "b.md", buffer: Buffer.from("b") });
  await files.getByText("b.md (text/plain, 1 byte)").waitFor();
  await page.getByRole("button", { name: "Remove b.md" }).click();
  expect(await barriers(page)).toEqual([]);
  await say(page, "Look");
  await chat.getByText("notes.txt (text/plain, 5 bytes)").waitFor();
  expect(await files.count()).toBe(0);
  expect(pages.provider.sandboxes.get(id)?.prompts[0]).toMatchObject({
    text: "Look",
    attachments: [
      { name: "shot.png", type: "image/png", data: PNG.toString("base64") },
      { name: "notes.txt", type: "text/plain", data: btoa("Notes") },
    ],
  });
  expect(faults()).toEqual([]);
  await close();
});
