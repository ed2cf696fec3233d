import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { COMMENT, headingOf, isChanged, SAMPLE, TASK } from "../../cli/commands/demo/sample.ts";
import { readManifest } from "../../src/contract/manifest/manifest.ts";
import { quote, quoteAll } from "../../src/features/change-requests/prompt-text.ts";

/** The script that answers the agent of `svc demo`, as it is committed to the sample project. */
const folder = mkdtempSync(join(tmpdir(), "svc-demo-script-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, "script.js");
writeFileSync(file, SAMPLE[".svc/agentrt/plugins/script.js"] ?? "");

interface Answer {
  say: string | null;
  call: { name: string; input: Record<string, string> } | null;
}
type Message = { role: string; content: unknown };

/** Sends the plugin what the agent runtime sends a model. */
async function request(body: object): Promise<Response> {
  const { Script } = await import(file);
  const config: { provider?: { demo: { options: { fetch: typeof fetch } } } } = {};
  await (await Script()).config(config);
  if (!config.provider) throw new Error("the plugin has no provider");
  const init = { body: JSON.stringify({ model: "script", ...body }) };
  return config.provider.demo.options.fetch("http://script.invalid", init);
}

async function ask(messages: readonly Message[], more: object = { tools: [] }): Promise<Answer> {
  const { choices } = await (await request({ messages, ...more })).json();
  const { content, tool_calls: [call] = [] } = choices[0].message;
  expect(choices[0].finish_reason).toBe(call ? "tool_calls" : "stop");
  return {
    say: content,
    call: call ? { name: call.function.name, input: JSON.parse(call.function.arguments) } : null,
  };
}

/** A whole run: each tool call gets the result that `tool` returns. */
async function run(
  prompt: string,
  tool: (call: NonNullable<Answer["call"]>) => string,
  before: Message[] = [],
) {
  const messages: Message[] = [...before, { role: "user", content: [{ type: "text", text: prompt }] }];
  const calls: NonNullable<Answer["call"]>[] = [];
  for (;;) {
    const { say, call } = await ask(messages);
    if (!call) return { said: say, calls };
    calls.push(call);
    messages.push({ role: "assistant", content: say }, { role: "tool", content: tool(call) });
    if (calls.length > 10) throw new Error("the script does not end");
  }
}

const works = ({ name }: { name: string }) => (name === "bash" ? "…\ndemo: done\n" : "<h1>Hello</h1>");
const EARLIER: Message[] = [
  { role: "user", content: TASK },
  { role: "assistant", content: "The change request is open." },
];

/** A prompt as svc writes it for review comments. */
function reviewed(...comments: string[]): string {
  const threads = comments.map((comment, at) => {
    const id = `00000000-0000-4000-8000-00000000000${at}`;
    const line = `Comment ${id} on "site/index.html", line 12 after the change:\n${quote('<p class="x">')}`;
    return `${line}\n\nAda:\n${quote(comment)}\n\nAn agent of Ada:\n${quote('"a reply"')}`;
  });
  return `Reviewers commented on change request #7 (titled "x").\n\n${quoteAll(threads, "\n\n").quoted}\n\nReply briefly to each thread: svc cr comment 7 --reply-to <id> "…"`;
}

test("the sample project's manifest has no problem, and its app is the folder of the page", () => {
  const { manifest, errors } = readManifest(SAMPLE["svc.toml"] ?? "");
  expect(errors).toEqual([]);
  expect(manifest?.apps).toMatchObject([{ slug: "site", static: { dir: "site" } }]);
  expect(headingOf(SAMPLE["site/index.html"] ?? "")).toBe("Hello");
});

test("the first prompt, whatever it says: reads, writes, edits, opens a change request, and says that there is no model", async () => {
  for (const prompt of [TASK, "something else"]) {
    const { said, calls } = await run(prompt, works);
    expect(calls.map(({ name }) => name)).toEqual(["read", "write", "edit", "bash"]);
    expect(calls.at(-1)?.input["command"]).toMatch(/git commit[\s\S]+git push[\s\S]+svc cr open/);
    expect(said).toStartWith("The change request is open.");
  }
  expect((await ask([{ role: "user", content: TASK }])).say).toStartWith("No model is used here");
});

test("stops at a command that fails, and says so", async () => {
  const fails = (call: { name: string }) => (call.name === "bash" ? "fatal: no push" : works(call));
  for (const prompt of [TASK, reviewed(COMMENT)]) {
    const { said } = await run(prompt, fails, prompt === TASK ? [] : EARLIER);
    expect(said).toBe("A command of the script failed, so I stop here:\n\nfatal: no push");
  }
});

describe("review comments", () => {
  test.each([
    ["the quoted words", [COMMENT], "Hello from an agent"],
    ["those of the last comment that has any", ['"One"', '"Two"', "three"], "Two"],
    ["typographic quotation marks", ["Say “Good day”."], "Good day"],
    ["none", ["I do not like it."], "Hello from an agent"],
    ["too many words", [`"${"x".repeat(61)}"`], "Hello from an agent"],
    ["markup", ['"<script>alert(1)</script>&"'], "&#60;script&#62;alert(1)&#60;/script&#62;&#38;"],
    ["a shell's words", ['"$(touch /tmp/x)`id`\'; id"'], "$(touch /tmp/x)`id`'; id"],
  ])("change the heading: %s", async (_, comments, heading) => {
    const { calls, said } = await run(reviewed(...comments), works, EARLIER);
    expect(calls.map(({ name }) => name)).toEqual(["read", "edit", "bash"]);
    expect(calls[1]?.input).toMatchObject({ oldString: "<h1>Hello</h1>", newString: `<h1>${heading}</h1>` });
    const command = calls[2]?.input["command"] ?? "";
    expect(
      command.match(/svc cr comment 7 --reply-to 0{8}-0000-4000-8000-0{11}\d "The heading/g),
    ).toHaveLength(comments.length);
    // no word of a comment gets into a shell
    expect(command).not.toContain("touch");
    expect(said).toContain("the comment is answered");
  });

  test("a thread whose id is not one gets no reply", async () => {
    const prompt = reviewed("x").replace(/00000000-0000-4000-8000-0{12}/, "$(id)");
    const { calls } = await run(prompt, works, EARLIER);
    expect(calls.at(-1)?.input["command"]).not.toContain("reply-to");
  });
});

test("any other prompt gets no answer, and titles need no tools", async () => {
  const { said, calls } = await run("And now?", works, EARLIER);
  expect([said?.slice(0, 21), calls]).toEqual(["No model is used here", []]);
  expect(await ask(EARLIER, {})).toEqual({ say: "svc demo", call: null });
});

test("streams as a model does", async () => {
  const answer = await request({ stream: true, tools: [], messages: [{ role: "user", content: TASK }] });
  const events = (await answer.text()).split("\n\n").filter(Boolean);
  expect(events.at(-1)).toBe("data: [DONE]");
  const [first, last] = events.slice(0, 2).map((event) => JSON.parse(event.slice("data: ".length)));
  expect(first.choices[0].delta.tool_calls).toMatchObject([{ index: 0, type: "function" }]);
  expect(last).toMatchObject({ choices: [{ finish_reason: "tool_calls" }], usage: { total_tokens: 0 } });
});

test.each([
  ["the first page", "<h1>Hello</h1>", false, false],
  ["the greeting", '<h1>Hello</h1><script src="greeting.js">', false, true],
  ["the greeting, but not the review", '<h1>Hello</h1><script src="greeting.js">', true, false],
  ["both", '<h1>Hi</h1><script src="greeting.js">', true, true],
  ["another page", "greeting.js", false, false],
])("whether the app has the change: %s", (_, html, wasReviewed, wanted) => {
  expect(isChanged(html, wasReviewed)).toBe(wanted);
});
