import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { failure, fakeApi } from "../helpers/cli-api.ts";
import { makeHome, SVC } from "../helpers/cli-run.ts";
import { SESSION_ID, session } from "../helpers/cli-sessions.ts";
import { onScreen, type ScreenRun, svcOnScreen } from "../helpers/screen.ts";
import { CHAT_ID, type Run, ScriptedSession } from "../helpers/scripted-session.ts";
import { until } from "../helpers/until.ts";

const api = fakeApi();
afterAll(() => api.stop());
let scripted: ScriptedSession;
beforeEach(() => {
  api.reset();
  scripted = new ScriptedSession(api);
});

const OTHER = "ffff0000-5e6f-4a7b-8c9d-0e1f2a3b4c5d";
const CTRL_C = "\x03";
const CTRL_D = "\x04";
const said = () => scripted.posted("prompt").map((body) => Object(body).text);

/** A chat that has started. */
async function open(env: Record<string, string> = {}, home = makeHome()): Promise<ScreenRun> {
  const run = svcOnScreen(["sessions", "chat"], { env: { ...api.env, ...env }, home });
  await run.shows(/^> ?$/m);
  return run;
}

async function leave(run: ScreenRun): Promise<void> {
  run.type(CTRL_D);
  expect(await run.exited).toEqual({ code: 0, signal: null });
}

/** A run that streams text until it is stopped. */
function endless(onBegin: (run: Run) => void = () => {}): void {
  scripted.onPrompt((run) => {
    run.begin();
    run.part().more("I think");
    onBegin(run);
  });
}

test("shows the history, then streams each answer below its prompt", async () => {
  scripted.remember(["an old question", "an old\nanswer"]);
  const pieces = Promise.withResolvers<Run>();
  scripted.onPrompt((run) => {
    run.begin();
    pieces.resolve(run);
  });
  const run = await open();
  await run.shows("an old\nanswer");
  run.type("Mend it\r");
  const agent = await pieces.promise;
  const part = agent.part();
  part.more("I'll ");
  await run.shows("I'll");
  part.more("look at `a.ts`.");
  await run.shows("I'll look at `a.ts`.");
  part.whole();
  agent.tool("bash", "running", { title: "npm test" });
  await run.shows("bash npm test · Ctrl-C aborts");
  agent.tool("bash", "done", { title: "npm test" });
  agent.tool("edit", "done", { files: [{ path: "a.ts", additions: 3, deletions: 1 }] });
  await agent.say("Done.\n\n```ts\n\tcode();\n```");
  agent.end();
  await run.shows(/```\n> ?$/);
  expect((await run.lines()).slice(1).map((line) => line.trimEnd())).toEqual([
    "> an old question",
    "",
    "an old",
    "answer",
    "",
    "> Mend it",
    "",
    "I'll look at `a.ts`.",
    "",
    "✓ bash npm test",
    "✓ edit a.ts +3 -1",
    "",
    "Done.",
    "",
    "```ts",
    "        code();",
    "```",
    ">",
  ]);
  await leave(run);
  expect((await run.lines()).at(-1)).toBe(`To return: svc sessions chat ${CHAT_ID}`);
});

test("typing while an answer streams does not mangle either", async () => {
  const begun = Promise.withResolvers<Run>();
  scripted.onPrompt((run) => {
    run.begin();
    begun.resolve(run);
  });
  const run = await open();
  run.type("go\r");
  const agent = await begun.promise;
  const part = agent.part();
  const words = Array.from({ length: 120 }, (_, n) => `word${n} `);
  for (const [n, word] of words.entries()) {
    part.more(word);
    run.type("typed 界 "[n % 8] ?? "");
    await Bun.sleep(3);
    if (n !== 40 && n !== 80) continue;
    // output that is in flight during a resize cannot be corrected
    await run.shows(word.trim());
    await Bun.sleep(150);
    if (n === 40) run.resize(50, 20);
    else run.resize(100, 30);
    await Bun.sleep(150);
  }
  part.whole();
  agent.end();
  await run.shows(/word119 ?\n> typed/);
  await run.shows(/(typed 界 ?)+$/);
  const lines = (await run.lines()).map((line) => line.trimEnd());
  const flat = lines.join(" ").replace(/\s+/g, " ");
  expect(flat).toContain(`> go ${words.join("").trim()} >`);
  expect(lines.filter((line) => line.startsWith("The agent is working"))).toEqual([]);
  const typed = Array.from({ length: 120 }, (_, n) => "typed 界 "[n % 8] ?? "").join("");
  expect(flat.slice(flat.lastIndexOf("> ") + 2)).toBe(typed.replace(/\s+/g, " ").trim());
  run.type(`${CTRL_C}`);
  await run.shows(/^> ?$/m);
  await leave(run);
});

describe("a request of the agent", () => {
  test("for a permission is answered while a draft is stashed", async () => {
    const replies: unknown[] = [];
    const begun = Promise.withResolvers<Run>();
    scripted.onPrompt((run) => {
      run.begin();
      begun.resolve(run);
    });
    const run = await open();
    run.type("go\rhalf a thou");
    const agent = await begun.promise;
    await run.shows("> half a thou");
    const replied = agent.permission("bash", ["rm -rf build\x1b[2J"]).then((reply) => replies.push(reply));
    await run.shows("Allow the agent to use bash?\n  rm -rf build\\x1b[2J");
    await run.shows("y: yes, once · a: always · n: no");
    run.type("perhaps\r");
    await run.shows("Type y, a or n.");
    run.type("a\r");
    await replied;
    expect(replies).toEqual(["always"]);
    await run.shows("> half a thou");
    agent.end();
    run.type("ght\r");
    await until("it is sent", () => said().includes("half a thought"));
    await leave(run);
  });

  test("with questions is answered by number, by name or with free text", async () => {
    const options = [
      { label: "Red", description: "like a rose" },
      { label: "Blue", description: "Blue" },
    ];
    const answers: unknown[] = [];
    scripted.onPrompt(async (run) => {
      run.begin();
      const one = { question: "Which colour?", options };
      answers.push(await run.question([one, { question: "Sure?", options: [], custom: true }]));
      answers.push(await run.question([one]));
      run.end();
    });
    const run = await open();
    run.type("go\r");
    await run.shows("? Which colour?\n  1. Red  like a rose\n  2. Blue\n");
    run.type("2\r");
    await run.shows("2. answer with free text");
    run.type("quite sure\r");
    await until("the second is asked", () => answers.length === 1);
    await run.shows("answer with a number or free text");
    run.type("/skip\r");
    await until("it is refused", () => answers.length === 2);
    expect(answers).toEqual([[["Blue"], ["quite sure"]], null]);
    await leave(run);
  });

  test("a word for the chat itself is an answer while the agent asks", async () => {
    const answers: unknown[] = [];
    scripted.onPrompt(async (run) => {
      run.begin();
      answers.push(await run.question([{ question: "Which?", options: [], custom: true }]));
      run.end();
    });
    const run = await open();
    run.type("go\r");
    await run.shows("Which?");
    run.type("/mode ask\r");
    await until("it is answered", () => answers.length === 1);
    expect(answers[0]).toEqual([["/mode ask"]]);
    await leave(run);
  });

  test("disappears when another client answers it", async () => {
    let asked: unknown;
    scripted.onPrompt((run) => {
      run.begin();
      asked = run.permission("edit", ["a.ts"]);
    });
    const run = await open();
    run.type("go\r");
    await run.shows("Allow the agent to use edit?");
    scripted.answerFirst("once");
    await asked;
    await run.shows(/The agent is working · Ctrl-C aborts\n> ?$/);
    run.type(CTRL_C);
    await run.shows("was aborted");
    await leave(run);
  });
});

describe("Ctrl-C", () => {
  test("aborts the run, then clears the line, then ends by the signal", async () => {
    endless();
    const run = await open();
    run.type("go\r");
    await run.shows("I think");
    run.type(CTRL_C);
    await run.shows("The agent's run was aborted.");
    expect(scripted.posted("abort").length).toBeGreaterThan(0);
    await Bun.sleep(2100);
    run.type(`draft${CTRL_C}`);
    await run.shows(/aborted\.\n> ?$/);
    run.type(CTRL_C);
    await run.shows("Ctrl-C again quits");
    run.type(CTRL_C);
    expect(await run.exited).toEqual({ code: null, signal: "SIGINT" });
  });

  test("twice in a row quits while the agent works, as Ctrl-D does, without an abort", async () => {
    endless();
    const run = await open();
    run.type("go\r");
    await run.shows("I think");
    run.type(CTRL_C);
    run.type(CTRL_C);
    expect(await run.exited).toEqual({ code: null, signal: "SIGINT" });
    endless();
    const other = await open();
    other.type("go\r");
    await other.shows(/I think\nThe agent is working/);
    await leave(other);
    expect((await other.lines()).join("\n")).toContain("The agent continues to work.");
  });
});

test("reconnects after a lost connection without losing or repeating text", async () => {
  const begun = Promise.withResolvers<Run>();
  scripted.onPrompt((run) => {
    run.begin();
    begun.resolve(run);
  });
  const run = await open();
  run.type("go\r");
  const agent = await begun.promise;
  await agent.say("one ");
  const part = agent.part();
  part.more("two ");
  await run.shows("two");
  scripted.down = 503;
  scripted.cut();
  await run.shows("Connecting…");
  part.more("lost ");
  scripted.down = null;
  await until("it listens again", () => scripted.listeners > 0);
  await run.shows("The agent is working");
  part.more("three");
  part.whole();
  agent.end();
  await run.shows(/> go\n\none ?\n\ntwo lost three\n> ?$/);
  await leave(run);
});

test("shows that an answer was cut off by a restart", async () => {
  const cut = scripted.run();
  cut.part().more("half");
  cut.end("interrupted");
  const run = svcOnScreen(["sessions", "chat"], { env: api.env });
  await run.shows("The answer was cut off");
  await leave(run);
});

test("a paste of 10,000 characters is one message, shown as its size", async () => {
  const lines = Array.from({ length: 500 }, (_, n) => `line ${String(n).padStart(4, "0")} 0123456789`);
  const text = lines.join("\n");
  expect(text.length).toBeGreaterThanOrEqual(10_000);
  const run = await open();
  run.type(`Look: \x1b[200~${text.replaceAll("\n", "\r")}\x1b[201~`);
  await run.shows(/> Look: \[pasted 10,\d{3} characters, 500 lines\]/);
  run.type(" thanks\r");
  await until("it is sent", () => said().length === 1);
  expect(said()).toEqual([`Look: ${text} thanks`]);
  await run.shows(/line 0499 0123456789 thanks\n> ?$/);
  await leave(run);
});

test("a backslash or Alt-Enter breaks a line, and the history survives the next start", async () => {
  const home = makeHome();
  const run = await open({}, home);
  run.type("one\\\rtwo\x1b\rthrée 👨‍👩‍👧\x7fe\u0301\r");
  await until("it is sent", () => said().length === 1);
  expect(said()).toEqual(["one\ntwo\nthrée e\u0301"]);
  await run.shows(/\n> ?$/);
  await leave(run);
  const file = join(home.home, ".local/state/svc/chat-history");
  expect(readFileSync(file, "utf8")).toBe(`${JSON.stringify(said()[0])}\n`);
  const again = await open({}, home);
  again.type("\x1b[A");
  await again.shows(/> one\n {2}two\n {2}thrée e\u0301$/);
  again.type("!\r");
  await until("it is sent again", () => said().length === 2);
  expect(said()[1]).toBe(`${said()[0]}!`);
  await leave(again);
});

test("Ctrl-Z suspends svc until the shell continues it, and does nothing without a shell", async () => {
  const line = `${SVC.join(" ")} sessions chat; read -p "the shell's"; fg`;
  const run = onScreen(["bash", "--norc", "-ic", line], { env: api.env });
  await run.shows(/^> ?$/m);
  run.type("half");
  await run.shows("> half");
  run.type("\x1a");
  await run.shows("the shell's");
  expect(run.marksPastes).toBe(false);
  run.type("\r");
  await run.shows(/> half$/);
  run.type(" and more\r");
  await until("it is sent", () => said().length === 1);
  expect([said()[0], run.marksPastes]).toEqual(["half and more", true]);
  run.type(CTRL_D);
  await run.exited;
  const alone = await open();
  alone.type("half\x1a");
  await until("it is back", () => alone.pasteMarks > 1);
  alone.type(" too\r");
  await until("it is sent", () => said().length === 2);
  expect(said()[1]).toBe("half too");
  await leave(alone);
});

test("an unknown command is reported, not sent", async () => {
  const run = await open();
  run.type("/help\r");
  await run.shows("/quit   quits");
  run.type("/new\r");
  await run.shows("Unknown command /new.");
  run.type("/abort\r");
  await run.shows("The agent is idle.");
  run.type("/etc/hosts is wrong\r");
  await run.shows("\n/etc/hosts is wrong\n");
  expect(said()).toEqual(["/etc/hosts is wrong"]);
  run.type("/quit\r");
  expect(await run.exited).toEqual({ code: 0, signal: null });
});

test("no output moves the cursor, sets the title, rings the bell or hides text", async () => {
  scripted.onPrompt(async (run) => {
    run.begin();
    await run.say("a\x1b", "[2J\x1b[1;1Hb\x1b]0;own", "ed\x07c\x9b31md\u202ee\r", "f\x08\x7f\x1b[8mg");
    run.tool("b\x1b[Hash", "done", { title: "x\x1b]2;owned\x07\u2066y" });
    run.end("failed", "no\x1b[3J money\x07");
  });
  const run = await open();
  run.type("go\r");
  await run.shows("no\\x1b[3J money\\x07");
  const text = (await run.lines()).join("\n");
  expect(text).toContain(
    "a\\x1b[2J\\x1b[1;1Hb\\x1b]0;owned\\x07c\\x9b31md\\u202ee\\rf\\x08\\x7f\\x1b[8mg\n\n✓ b\\x1b[Hash x\\x1b]2;owned\\x07\\u2066y",
  );
  expect([run.titles, run.bells]).toEqual([[], 0]);
  await leave(run);
});

test("offers a choice where several sessions run, and restores the terminal however svc ends", async () => {
  api.on("GET /projects/:p/sessions", () => ({
    sessions: [session({ session_id: OTHER, name: "x\x1b[2J" }), session()],
  }));
  const run = svcOnScreen(["sessions", "talk"], { env: api.env });
  await run.shows("Chat with which session?");
  await run.shows("ffff0000 x\\x1b[2J");
  run.type("\x1b[B\r");
  await run.shows(/^> ?$/m);
  const isChosen = () => api.seen.some(({ path }) => path.includes(`/sessions/${SESSION_ID}/conversation`));
  await until("the second is talked to", isChosen);
  expect(run.marksPastes).toBe(true);
  run.kill("SIGTERM");
  expect((await run.exited).signal).toBe("SIGTERM");
  await run.lines();
  expect(run.marksPastes).toBe(false);
});

test("refuses a terminal that cannot move its cursor, and reports why a connection failed for good", async () => {
  const dumb = svcOnScreen(["sessions", "chat"], { env: { ...api.env, TERM: "dumb" } });
  expect(await dumb.exited).toEqual({ code: 2, signal: null });
  api.on("GET /projects/:p/sessions/:n/conversation", () =>
    failure("forbidden", "You are no member of this project.", 403),
  );
  const run = svcOnScreen(["sessions", "chat"], { env: api.env });
  expect(await run.exited).toEqual({ code: 1, signal: null });
  await run.shows("error: You are no member of this project.");
  expect(run.marksPastes).toBe(false);
});

describe("what the agent works with", () => {
  test("is listed, with the current one marked, and chosen for the next prompt", async () => {
    let now = session();
    api.on("GET /projects/:p/sessions/:n", () => now);
    api.on("PATCH /projects/:p/sessions/:n", ({ body }) => {
      now = session(Object(body));
      return now;
    });
    const run = await open();
    run.type("/model\r");
    await run.shows(
      "* svc/small  small\n  anthropic/large  Large\\x1b[2J\n/model <name> chooses one for the next prompt.",
    );
    run.type("/mode\r");
    await run.shows("  ask\n  auto-edit\n* full\n");
    run.type("/model anthropic/large\r");
    await run.shows("The next prompt: model anthropic/large");
    run.type("/effort default\r");
    await run.shows("The next prompt: effort default");
    run.type("/agent plan\r");
    await run.shows("The next prompt: agent plan");
    await leave(run);
  });

  test("is refused in the server's words, and an unknown mode by the chat", async () => {
    api.on("PATCH /projects/:p/sessions/:n", () =>
      failure("validation_failed", "No such model. Available: a.", 400),
    );
    const run = await open();
    run.type("/model nothing\r");
    await run.shows("Cannot choose the model: No such model. Available: a.");
    run.type("/mode reckless\r");
    await run.shows("Cannot choose the mode: The mode must be one of ask, auto-edit, full.");
    run.type("/model two words\r");
    await until("it is a prompt", () => said().includes("/model two words"));
    await leave(run);
  });
});

test("a stopped session shows the end of its conversation, and is restarted", async () => {
  scripted.remember(["an old one", "It was\u202e done."]);
  scripted.become({ status: "stopped", stop_reason: "idle" });
  const run = svcOnScreen(["sessions", "chat", CHAT_ID], { env: api.env, home: makeHome() });
  await run.shows(/is stopped and restarts[\s\S]*It was\\u202e done\./);
  await run.shows(/^> ?$/m);
  await leave(run);
});

test("a session that was stopped while it waits is answered, which starts it", async () => {
  const answers: unknown[] = [];
  const theirs = scripted.run();
  void theirs.permission("bash", ["make"]).then((answer) => answers.push(answer));
  const kept = scripted.session.waiting_for;
  const waiting_for = kept && { ...kept, kept: true };
  scripted.become({ status: "stopped", stop_reason: "idle", waiting_for });
  const run = svcOnScreen(["sessions", "chat", CHAT_ID], { env: api.env, home: makeHome() });
  await run.shows("Allow the agent to use bash?\n  make");
  run.type("y\r");
  await until("it is answered", () => answers.length === 1);
  expect([answers, scripted.posted("restart")]).toEqual([["once"], []]);
  await leave(run);
});

test("a session that stops while it waits stays open for the answer, and ends the chat otherwise", async () => {
  const asked = scripted.run();
  void asked.permission("bash", ["make"]);
  const run = svcOnScreen(["sessions", "chat", CHAT_ID], { env: api.env, home: makeHome() });
  await run.shows("Allow the agent to use bash?");
  scripted.become({ status: "stopped", stop_reason: "idle" });
  run.type("perhaps\r");
  await run.shows("Type y, a or n.");
  scripted.become({ status: "running" });
  scripted.become({ status: "stopped", stop_reason: "idle", waiting_for: null });
  expect((await run.exited).code).toBe(1);
  await run.shows("error: The session is stopped (idle).");
});
