import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { failure, fakeApi } from "../helpers/cli-api.ts";
import { type RunOptions, SVC, spawnSvc, svc, textOf } from "../helpers/cli-run.ts";
import { SESSION_ID, session } from "../helpers/cli-sessions.ts";
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
const ONE = "/projects/:p/sessions/:n";
const chat = (args: string[], options: RunOptions = {}) =>
  svc(["sessions", "chat", ...args], { ...options, env: { ...api.env, ...options.env } });
const ask = (text: string, ...more: string[]) => chat(["--prompt", text, ...more]);
const events = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("--prompt", () => {
  test("sends attached files, and an interactive chat does not take them", async () => {
    const file = new URL("../helpers/attachments.ts", import.meta.url).pathname;
    scripted.run("an older one", [{ name: "old.png", type: "image/png", size: 1 }]).end();
    const { code, stdout } = await ask("Look", "--attach", file, "--json=type,files");
    expect(code).toBe(0);
    const { size } = Bun.file(file);
    expect(stdout).not.toContain("old.png");
    expect(events(stdout)).toContainEqual({
      type: "attached",
      files: [{ name: "attachments.ts", type: "text/plain", size }],
    });
    expect(scripted.posted("prompt")).toMatchObject([
      { text: "Look", attachments: [{ name: "attachments.ts", data: expect.any(String) }] },
    ]);
    const refused = await chat([SESSION_ID, "--attach", file]);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--attach requires --prompt."),
    });
  });

  test("prints the answer on stdout, and what the agent does on stderr", async () => {
    scripted.remember(["an older prompt", "an older answer"]);
    scripted.onPrompt(async (run) => {
      run.begin();
      await run.say("I'll ", "look.  ");
      run.tool("bash", "running", { title: "npm test" });
      run.tool("bash", "done", { title: "npm test" });
      const files = [{ path: "src/a.ts", additions: 2, deletions: 1 }];
      run.tool("edit", "done", { title: "a.ts", files });
      run.tool("read", "failed", { title: "src/a.ts", error: "no such\nfile" });
      await run.say("It is ", "done.");
      run.end();
    });
    expect(await ask("Mend it")).toEqual({
      code: 0,
      signal: null,
      stdout: "I'll look.  \nIt is done.\n",
      stderr: "✓ bash npm test\n✓ edit src/a.ts +2 -1\n✗ read src/a.ts: no such\\nfile\n",
    });
    const prompt_id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(scripted.posted("prompt")).toEqual([{ prompt_id, text: "Mend it" }]);
  });

  test("ends with a prompt that has ended before the session's stream is open", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    scripted.after.events = promise;
    scripted.onPrompt(async (run) => {
      run.begin();
      await run.say("It is done.");
      run.end();
      resolve();
    });
    expect(await ask("Mend it")).toMatchObject({ code: 0, stdout: "It is done.\n" });
  });

  test("waits for a prompt that the server has not taken when the session's stream opens", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    scripted.after.prompt = promise;
    scripted.after.events = until("it is sent", () => scripted.posted("prompt").length > 0);
    scripted.onUnknownPrompt = resolve;
    expect(await ask("Mend it")).toMatchObject({ code: 0 });
  });

  const outcomes: [string, (run: Run) => unknown, number, string][] = [
    ["failed", (run) => [run.begin(), run.end("failed", "no\x1b[2J money")], 1, "failed: no\\x1b[2J money"],
    ["was aborted", (run) => run.end("aborted"), 1, "was aborted"],
    ["was cut off", (run) => [run.part().more("half"), run.end("interrupted")], 1, "was cut off"],
    ["never started", (run) => run.end("interrupted"), 1, "did not answer"],
  ];
  test.each(outcomes)("reports that a run %s", async (_, script, code, says) => {
    scripted.onPrompt(script);
    const ran = await ask("x");
    expect({ code: ran.code, err: ran.stderr }).toEqual({ code, err: expect.stringContaining(says) });
  });

  test("a prompt that the agent never gets fails with the reason", async () => {
    scripted.problem = 'Agent not found: "x".';
    expect(await ask("x")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: The agent's run failed: Agent not found: "x"\.\nhint: /),
    });
  });

  test("shows each retry once, without repeating the answer's text", async () => {
    scripted.onPrompt(async (run) => {
      run.begin();
      run.part().more("It is ");
      run.retry(1, "Connection reset");
      run.retry(1, "Connection reset");
      run.retry(2, "Overloaded");
      await run.say("It", " is ", "done.");
      run.end();
    });
    const ran = await ask("x");
    expect(ran).toMatchObject({ code: 0, stdout: "It is done.\n" });
    expect(ran.stderr).toBe(
      "The model does not answer (Connection reset). Attempt 2 in 2 s.\nThe model does not answer (Overloaded). Attempt 3 in 2 s.\n",
    );
  });

  test("prints repeated events once, also after a disconnect in the middle of a word", async () => {
    scripted.tellsTwice = true;
    scripted.onPrompt(async (run) => {
      run.begin();
      await run.say("one ");
      const part = run.part();
      part.more("two ");
      scripted.cut();
      part.more("lost ");
      await until("it listens again", () => scripted.listeners > 0);
      part.more("three");
      part.whole();
      run.tool("bash", "done", { title: "ls" });
      run.end();
    });
    expect(await ask("x")).toMatchObject({
      code: 0,
      stdout: "one \ntwo lost three\n",
      stderr: expect.stringMatching(
        /^The connection was closed\. Reconnecting…\nReconnected\.\n✓ bash ls\n$/,
      ),
    });
    expect(scripted.posted("prompt")).toHaveLength(1);
  });

  test("waits for a runtime that is starting", async () => {
    scripted.down = 503;
    const asked = ask("hello");
    await until("it has been refused twice", () => scripted.refused > 1);
    scripted.down = null;
    expect(await asked).toMatchObject({ code: 0, stdout: "hello\n" });
  });

  test("leaves a request of the agent open, and says how to answer it", async () => {
    scripted.onPrompt(async (run) => {
      run.begin();
      await run.say("I need it.");
      await run.permission("bash", ["rm -rf \x1b[1m/"]);
      run.end();
    });
    expect(await ask("x")).toEqual({
      code: 1,
      signal: null,
      stdout: "I need it.\n",
      stderr: [
        "error: The agent waits for an answer: permission for bash rm -rf \\x1b[1m/\n",
        "hint: To allow it: svc sessions answer 1a2b3c4d once (or always, or reject)\n",
        "      The run continues then. To see it: svc sessions conversation 1a2b3c4d\n",
        "code: agent_waiting\n",
      ].join(""),
    });
    expect(scripted.asks).toBe(1);
    expect([...scripted.posted("answer"), ...scripted.posted("abort")]).toEqual([]);
  });

  test.each([
    [
      [
        {
          question: "Which?",
          options: [
            { label: "a", description: "" },
            { label: "b", description: "" },
          ],
        },
      ],
      "Which? (a | b)",
      'svc sessions answer 1a2b3c4d "<text>"',
    ],
    [[{ question: "One?" }, { question: "Two?" }], "One? Two?", "svc sessions chat 1a2b3c4d"],
  ])("a question stays open, too: %j", async (questions, shown, command) => {
    scripted.onPrompt(async (run) => {
      run.begin();
      await run.question(questions);
      run.end();
    });
    const ran = await ask("x", "--json");
    expect(ran.code).toBe(1);
    expect(events(ran.stdout).find(({ type }) => type === "question")).toMatchObject({ questions });
    expect(events(ran.stdout).some(({ type }) => type === "end")).toBe(false);
    expect(JSON.parse(ran.stderr)).toMatchObject({
      error: {
        code: "agent_waiting",
        message: `The agent waits for an answer: ${shown}`,
        session_id: SESSION_ID,
      },
    });
    expect(ran.stderr).toContain(JSON.stringify(command).slice(1, -1));
    expect([scripted.asks, scripted.posted("answer")]).toEqual([1, []]);
  });

  test("shows the requests of other prompts, leaves them alone, and prints only the own answer", async () => {
    const other = scripted.run();
    const theirs = other.permission("edit", ["theirs"]).then(async () => {
      await other.say("not yours");
      other.end();
    });
    scripted.onPrompt(async (run) => {
      await run.say("yours");
      run.end();
    });
    const asked = ask("x");
    await until("it is queued", () => scripted.posted("prompt").length > 0);
    const pages = () => api.seen.filter(({ path }) => path.endsWith("/conversation")).length;
    await until("the request is known", () => pages() > 1);
    scripted.answerFirst("once");
    await theirs;
    expect(await asked).toMatchObject({
      code: 0,
      stdout: "yours\n",
      stderr: [
        "The agent waits for an answer: permission for edit theirs\n",
        "To allow it: svc sessions answer 1a2b3c4d once (or always, or reject)\n",
      ].join(""),
    });
    expect(scripted.posted("answer")).toEqual([]);
  });

  test("no output moves the cursor, in any chunks", async () => {
    scripted.onPrompt(async (run) => {
      run.begin();
      await run.say("a\x1b", "]0;title\x07", "b\x9b2J\r", "\nc\r", "\u202ed\u2028 \ud83d", "\ude00");
      run.tool("bash", "done", { title: "x\x1b]2;t\x07\ny" });
      run.end();
    });
    const ran = await ask("x");
    expect(ran.stdout).toBe("a\\x1b]0;title\\x07b\\x9b2J\nc\\r\\u202ed\\u2028 😀\n");
    expect(ran.stderr).toBe("✓ bash x\\x1b]2;t\\x07\\ny\n");
  });

  test("--json prints each event on a line, and keeps stderr for errors", async () => {
    scripted.onPrompt(async (run) => {
      run.begin();
      await run.say("a\x1b", "\u202eb");
      run.tool("bash", "running", { title: "ls" });
      run.tool("bash", "done", { title: "ls" });
      run.end();
    });
    const ran = await ask("say it", "--json");
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(ran.stdout).not.toMatch(/[\x1b\u202e]/);
    expect(
      events(ran.stdout).map(({ type, text, state, status, outcome }) => [
        type,
        text ?? state ?? status,
        outcome,
      ]),
    ).toEqual([
      ["prompt", "say it", undefined],
      ["status", "busy", undefined],
      ["text", "a\x1b", undefined],
      ["text", "\u202eb", undefined],
      ["tool", "running", undefined],
      ["tool", "completed", undefined],
      ["status", "idle", undefined],
      ["end", "a\x1b\u202eb", "completed"],
    ]);
    const jq = await ask("x", "--jq", 'select(.type == "tool").title');
    expect(jq.stdout).toBe("ls\nls\n");
    scripted.onPrompt((run) => [run.begin(), run.end("failed", "no money")]);
    const failed = await ask("x", "--json=type,outcome");
    expect(failed.code).toBe(1);
    expect(events(failed.stdout).at(-1)).toEqual({ type: "end", outcome: "failed" });
    expect(JSON.parse(failed.stderr)).toMatchObject({
      error: { code: "run_failed", session_id: SESSION_ID },
    });
  });

  test("--quiet prints only the answer", async () => {
    scripted.onPrompt(async (run) => {
      run.begin();
      run.tool("bash", "done", { title: "ls" });
      await run.say("done");
      run.end();
    });
    expect(await ask("x", "--quiet")).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
  });

  test("--timeout ends the wait, not the run", async () => {
    scripted.onPrompt(async (run) => {
      run.begin();
      await run.say("half");
    });
    const ran = await ask("x", "--timeout", "1");
    expect(ran).toMatchObject({ code: 1, stdout: "half\n" });
    expect(ran.stderr).toContain(
      "error: The agent did not finish its answer within 1 second. The run continues.\nhint: ",
    );
    expect(scripted.posted("abort")).toEqual([]);
  });

  test("a closed stdout ends it without a failure", async () => {
    const ended = Promise.withResolvers<void>();
    scripted.onPrompt(async (run) => {
      run.begin();
      const part = run.part();
      for (let n = 0; n === 0 || scripted.listeners > 0; n++) {
        part.more(`line ${n}\n`);
        await Bun.sleep(20);
      }
      ended.resolve();
    });
    const line = `${SVC.join(" ")} sessions chat --prompt x | head -1; echo "\${PIPESTATUS[0]}"`;
    const child = Bun.spawn(["bash", "-c", line], {
      env: { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", ...api.env },
      stdin: "ignore",
      stdout: "pipe",
    });
    expect(await textOf(child.stdout)).toBe("line 0\n0\n");
    await ended.promise;
  });

  test("reads the prompt from standard input, and rejects an empty one", async () => {
    expect(await chat(["--prompt", "-"], { stdin: "zwölf\nlines\n" })).toMatchObject({
      stdout: "zwölf\nlines\n",
    });
    for (const [args, stdin] of [
      [["--prompt", " "], ""],
      [["--prompt", "-"], "\n"],
      [[], ""],
    ] as const) {
      expect(await chat([...args], { stdin })).toMatchObject({ code: 2, stdout: "" });
    }
    expect(scripted.posted("prompt")).toHaveLength(1);
  });

  test("Ctrl-C aborts the run, then ends by the signal", async () => {
    scripted.onPrompt((run) => {
      run.begin();
      run.part().more("half a sen");
    });
    const child = spawnSvc(["sessions", "chat", "--prompt", "x"], { env: api.env });
    await child.stdout.getReader().read();
    child.kill("SIGINT");
    await child.exited;
    expect([child.signalCode, scripted.posted("abort").length > 0]).toEqual(["SIGINT", true]);
    expect(await textOf(child.stderr)).toContain("Aborting the agent's run…");
  });
});

describe("the session", () => {
  const two = () => ({ sessions: [session(), session({ session_id: OTHER, name: "two\x1b[2J" })] });

  test("is the running one; none is an error", async () => {
    expect(await ask("hello")).toMatchObject({ code: 0, stdout: "hello\n" });
    expect(api.seen[0]).toMatchObject({ query: { status: "running" } });
    api.on("GET /projects/:p/sessions", () => ({ sessions: [] }));
    expect(await ask("hello")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("svc sessions chat --new"),
    });
  });

  test("must be named where several run, and the error lists them", async () => {
    api.on("GET /projects/:p/sessions", two);
    const ran = await ask("hello");
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain(`2 sessions are running. Name one by its id.\nhint: ${SESSION_ID}`);
    expect(ran.stderr).toContain(`${OTHER}  two\\x1b[2J`);
    expect(await chat([CHAT_ID, "--prompt", "hello"])).toMatchObject({ code: 0, stdout: "hello\n" });
  });

  test("is restarted if stopped, with its steps; a failed one is an error with the reason", async () => {
    scripted.become({ status: "stopped", stop_reason: "idle" });
    const ran = await chat([CHAT_ID, "--prompt", "hello"]);
    expect(ran).toMatchObject({ code: 0, stdout: "hello\n" });
    expect(ran.stderr).toContain("is stopped and restarts");
    expect(api.seen.find(({ path }) => path.endsWith("/restart"))?.body).toEqual({ restore: true });
    expect(ran.stderr).toContain("runtime: starting the agent");
    api.on(`GET ${ONE}`, () => session({ status: "failed", step: "clone", error: "no such branch" }));
    const failed = await chat([CHAT_ID, "--prompt", "hello"]);
    expect(failed).toMatchObject({ code: 1, stdout: "" });
    expect(failed.stderr).toContain(
      "failed at the step clone: no such branch\nhint: To retry: svc sessions restart",
    );
  });

  test("is a new one with --new", async () => {
    const ran = await ask("hello", "--new");
    expect(ran).toMatchObject({ code: 0, stdout: "hello\n" });
    const created = api.seen.find(({ method, path }) => method === "POST" && path.endsWith("/sessions"));
    const { session_id } = Object(created?.body);
    expect(api.seen.some(({ path }) => path.endsWith(`/${session_id}/prompt`))).toBe(true);
    expect(await chat([CHAT_ID, "--new", "--prompt", "x"])).toMatchObject({ code: 2 });
  });

  test("is not waited for if it is stopped during the run", async () => {
    scripted.onPrompt((run) => {
      run.begin();
      scripted.become({ status: "stopped", stop_reason: "idle" });
    });
    const ran = await ask("hello");
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(
      "error: The session is stopped (idle).\nhint: To restart it and continue: svc sessions chat",
    );
  });

  test("cannot be the sandbox's own", async () => {
    const env = { SVC_SESSION_ID: SESSION_ID };
    expect(await chat([SESSION_ID, "--prompt", "x"], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("a chat would wait for its own answer"),
    });
    api.on("GET /projects/:p/sessions", two);
    expect(await chat(["--prompt", "hello"], { env })).toMatchObject({ code: 0, stdout: "hello\n" });
    expect(api.seen.find(({ path }) => path.endsWith("/prompt"))?.path).toContain(OTHER);
  });

  test("of another user is refused with the server's message", async () => {
    api.on(`GET ${ONE}/conversation`, () => failure("forbidden", "You are no member of this project.", 403));
    expect(await ask("x")).toMatchObject({
      code: 1,
      stderr: "error: You are no member of this project.\ncode: forbidden\n",
    });
  });
});
