import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { field } from "../../src/contract/json.ts";
import { newMessageId } from "../../src/contract/message-id.ts";
import { failure, fakeApi } from "../helpers/cli-api.ts";
import { type RunOptions, SVC, spawnSvc, svc, textOf } from "../helpers/cli-run.ts";
import { booting, changed, eventStream, SESSION_ID, session } from "../helpers/cli-sessions.ts";
import { CHAT_ID, type Run, ScriptedRuntime } from "../helpers/conversation.ts";
import { until } from "../helpers/until.ts";

const api = fakeApi();
afterAll(() => api.stop());
let runtime: ScriptedRuntime;
beforeEach(() => {
  api.reset();
  runtime = new ScriptedRuntime(api);
  api.on("POST /projects/:p/sessions/:n/answer", ({ body }) => runtime.respond(body));
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
const posted = (verb: string) => runtime.requests.filter(({ path }) => path.endsWith(`/${verb}`));

describe("--prompt", () => {
  test("sends attached files, and an interactive chat does not take them", async () => {
    const file = new URL("../helpers/attachments.ts", import.meta.url).pathname;
    runtime.prompt("an older one", { type: "file", mime: "image/png", filename: "old.png", url: "data:," });
    const { code, stdout } = await ask("Look", "--attach", file, "--json=type,files");
    expect(code).toBe(0);
    const { size } = Bun.file(file);
    expect(stdout).not.toContain("old.png");
    expect(events(stdout)).toContainEqual({
      type: "attached",
      files: [{ name: "attachments.ts", type: "text/plain", size }],
    });
    expect(posted("prompt_async")).toMatchObject([
      {
        body: { parts: [{ text: "Look" }, { type: "file", mime: "text/plain", filename: "attachments.ts" }] },
      },
    ]);
    const refused = await chat([SESSION_ID, "--attach", file]);
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--attach requires --prompt."),
    });
  });

  test("prints the answer on stdout, and what the agent does on stderr", async () => {
    runtime.remember(["an older prompt", "an older answer"]);
    runtime.onPrompt(async (run) => {
      run.begin();
      await run.say("I'll ", "look.  ");
      run.tool("bash", { status: "running", input: { command: "npm test" } });
      run.tool("bash", { status: "completed", title: "npm test", input: {} });
      const filediff = { file: "/workspace/a.ts", additions: 2, deletions: 1 };
      const input = { filePath: "src/a.ts" };
      run.tool("edit", { status: "completed", input, title: "a.ts", metadata: { filediff } });
      run.tool("read", { status: "error", input, error: "no such\nfile" });
      run.end("tool-calls");
      run.begin();
      await run.say("It is ", "done.");
      run.end();
    });
    expect(await ask("Mend it")).toEqual({
      code: 0,
      signal: null,
      stdout: "I'll look.  \nIt is done.\n",
      stderr: "✓ bash npm test\n✓ edit src/a.ts +2 -1\n✗ read src/a.ts: no such ⏎ file\n",
    });
    expect(posted("prompt_async")).toMatchObject([
      { body: { parts: [{ type: "text", text: "Mend it" }], agent: "build" } },
    ]);
    expect(posted("prompt_async")[0]?.body).toHaveProperty(
      "messageID",
      expect.stringMatching(/^msg_\w{26}$/),
    );
  });

  test("is sent with an id of the time of sending, however long the connection took", async () => {
    runtime.down = 503;
    runtime.onPrompt((run) => [run.begin(), run.end()]);
    const asked = ask("x");
    await until("it has been refused twice", () => runtime.refused > 1);
    const reached = newMessageId(Date.now(), "0".repeat(14));
    runtime.down = null;
    expect(await asked).toMatchObject({ code: 0 });
    expect(String(field(posted("prompt_async")[0]?.body, "messageID")) > reached).toBe(true);
  });

  test.each([
    ["an hour behind", -3_600_000],
    ["an hour ahead", 3_600_000],
  ])("is sent with an id by the runtime's clock, which is %s", async (_, ms) => {
    runtime.clockMs = ms;
    runtime.onPrompt((run) => [run.begin(), run.end()]);
    const before = newMessageId(Date.now() + ms, "0".repeat(14));
    expect(await ask("x")).toMatchObject({ code: 0 });
    const said = String(field(posted("prompt_async")[0]?.body, "messageID"));
    expect([before < said, said < newMessageId(Date.now() + ms)]).toEqual([true, true]);
  });

  const outcomes: [string, (run: Run) => unknown, number, string][] = [
    [
      "failed",
      (run) => [run.begin(), run.fail("APIError", "no\x1b[2J money")],
      1,
      "failed: no\\x1b[2J money",
    ],
    ["was aborted", (run) => [run.begin(), run.fail("MessageAbortedError", "Aborted")], 1, "was aborted"],
    ["was cut off", (run) => [run.begin(), run.part().more("half"), run.die()], 1, "was cut off"],
    ["was cut off between two steps", (run) => [run.begin(), run.end("tool-calls")], 1, "was cut off"],
    ["never started", (run) => [run.begin(), run.die()], 1, "was cut off"],
    ["ended at the length that the model may have", (run) => [run.begin(), run.end("length")], 0, ""],
  ];
  test.each(outcomes)("reports that a run %s", async (_, script, code, says) => {
    runtime.onPrompt(script);
    const ran = await ask("x");
    expect({ code: ran.code, err: ran.stderr }).toEqual({ code, err: expect.stringContaining(says) });
  });

  test("an unknown agent fails, although no run started", async () => {
    runtime.onPrompt(() => {
      const error = { name: "UnknownError", data: { message: 'Agent not found: "x".\n  at stack' } };
      runtime.emit("session.error", { sessionID: runtime.conversation, error });
      runtime.emit("session.error", { sessionID: runtime.conversation, error });
    });
    expect(await ask("x")).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^error: The agent's run failed: Agent not found: "x"\.\nhint: /),
    });
  });

  test("shows each retry once, without repeating the answer's text", async () => {
    runtime.onPrompt(async (run) => {
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
    runtime.tellsTwice = true;
    runtime.onPrompt(async (run) => {
      run.begin();
      await run.say("one ");
      const part = run.part();
      part.more("two ");
      runtime.cut();
      part.more("lost ");
      await until("it listens again", () => runtime.listeners > 0);
      part.more("three");
      part.whole();
      run.tool("bash", { status: "completed", title: "ls", input: {} });
      run.end();
    });
    expect(await ask("x")).toMatchObject({
      code: 0,
      stdout: "one \ntwo lost three\n",
      stderr: expect.stringMatching(
        /^The connection was closed\. Reconnecting…\nReconnected\.\n✓ bash ls\n$/,
      ),
    });
    expect(posted("prompt_async")).toHaveLength(1);
  });

  test("waits for a runtime that is starting", async () => {
    runtime.down = 503;
    const asked = ask("hello");
    await until("it has been refused twice", () => runtime.refused > 1);
    runtime.down = null;
    expect(await asked).toMatchObject({ code: 0, stdout: "hello\n" });
  });

  test("leaves a request of the agent open, and says how to answer it", async () => {
    runtime.onPrompt(async (run) => {
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
    expect(runtime.asks).toBe(1);
    expect([...posted("reply"), ...posted("reject"), ...posted("abort")]).toEqual([]);
  });

  test.each([
    [
      [{ question: "Which?", options: [{ label: "a" }, { label: "b" }] }],
      "Which? (a | b)",
      'svc sessions answer 1a2b3c4d "<text>"',
    ],
    [[{ question: "One?" }, { question: "Two?" }], "One? Two?", "svc sessions chat 1a2b3c4d"],
  ])("a question stays open, too: %j", async (questions, shown, command) => {
    runtime.onPrompt(async (run) => {
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
    expect([runtime.asks, posted("reject")]).toEqual([1, []]);
  });

  test("shows the requests of other prompts, leaves them alone, and prints only the own answer", async () => {
    const other = runtime.run();
    other.begin();
    const theirs = other.permission("edit", ["theirs"]).then(async () => {
      await other.say("not yours");
      other.end();
    });
    runtime.onPrompt(async (run) => {
      await other.say("it is shown once");
      setTimeout(() => runtime.answer("permission"), 150);
      await theirs;
      run.begin();
      await run.say("yours");
      run.end();
    });
    expect(await ask("x")).toMatchObject({
      code: 0,
      stdout: "yours\n",
      stderr: [
        "The agent waits for an answer: permission for edit theirs\n",
        "To allow it: svc sessions answer 1a2b3c4d once (or always, or reject)\n",
      ].join(""),
    });
    expect(posted("reply")).toEqual([]);
  });

  test("no output moves the cursor, in any chunks", async () => {
    runtime.onPrompt(async (run) => {
      run.begin();
      await run.say("a\x1b", "]0;title\x07", "b\x9b2J\r", "\nc\r", "\u202ed\u2028 \ud83d", "\ude00");
      run.tool("bash", { status: "completed", title: "x\x1b]2;t\x07\ny", input: {} });
      run.end();
    });
    const ran = await ask("x");
    expect(ran.stdout).toBe("a\\x1b]0;title\\x07b\\x9b2J\nc\\r\\u202ed\\u2028 😀\n");
    expect(ran.stderr).toBe("✓ bash x\\x1b]2;t\\x07 ⏎ y\n");
  });

  test("--json prints each event on a line, and keeps stderr for errors", async () => {
    runtime.onPrompt(async (run) => {
      run.begin();
      await run.say("a\x1b", "\u202eb");
      run.tool("bash", { status: "running", input: { command: "ls" } });
      run.tool("bash", { status: "completed", title: "ls", input: {} });
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
    runtime.onPrompt((run) => [run.begin(), run.fail("APIError", "no money")]);
    const failed = await ask("x", "--json=type,outcome");
    expect(failed.code).toBe(1);
    expect(events(failed.stdout).at(-1)).toEqual({ type: "end", outcome: "failed" });
    expect(JSON.parse(failed.stderr)).toMatchObject({
      error: { code: "run_failed", session_id: SESSION_ID },
    });
  });

  test("--quiet prints only the answer", async () => {
    runtime.onPrompt(async (run) => {
      run.begin();
      run.tool("bash", { status: "completed", title: "ls", input: {} });
      await run.say("done");
      run.end();
    });
    expect(await ask("x", "--quiet")).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
  });

  test("--timeout ends the wait, not the run", async () => {
    runtime.onPrompt(async (run) => {
      run.begin();
      await run.say("half");
    });
    const ran = await ask("x", "--timeout", "1");
    expect(ran).toMatchObject({ code: 1, stdout: "half\n" });
    expect(ran.stderr).toContain(
      "error: The agent did not finish its answer within 1 second. The run continues.\nhint: ",
    );
    expect(posted("abort")).toEqual([]);
  });

  test("a closed stdout ends it without a failure", async () => {
    const ended = Promise.withResolvers<void>();
    runtime.onPrompt(async (run) => {
      run.begin();
      const part = run.part();
      for (let n = 0; n === 0 || runtime.listeners > 0; n++) {
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
    expect(runtime.requests.filter(({ path }) => path.endsWith("prompt_async"))).toHaveLength(1);
  });

  test("Ctrl-C aborts the run, then ends by the signal", async () => {
    runtime.onPrompt((run) => {
      run.begin();
      run.part().more("half a sen");
    });
    const child = spawnSvc(["sessions", "chat", "--prompt", "x"], { env: api.env });
    await child.stdout.getReader().read();
    child.kill("SIGINT");
    await child.exited;
    expect([child.signalCode, posted("abort").length > 0]).toEqual(["SIGINT", true]);
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
    let status = session({ status: "stopped", stop_reason: "idle" });
    api.on(`GET ${ONE}`, () => status);
    api.on(`POST ${ONE}/restart`, () => {
      status = session();
      return Response.json(booting("clone"), { status: 202 });
    });
    api.on(`GET ${ONE}/events`, () => eventStream([changed(booting("runtime")), changed(session())]));
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
    api.on(`GET ${ONE}`, ({ path }) => session({ session_id: path.split("/").at(-1) ?? "" }));
    const ran = await ask("hello", "--new");
    expect(ran).toMatchObject({ code: 0, stdout: "hello\n" });
    const created = api.seen.find(({ method, path }) => method === "POST" && path.endsWith("/sessions"));
    const { session_id } = Object(created?.body);
    expect(api.seen.some(({ path }) => path.startsWith(`/p/${session_id}/8000/`))).toBe(true);
    expect(await chat([CHAT_ID, "--new", "--prompt", "x"])).toMatchObject({ code: 2 });
  });

  test("is not waited for if it is stopped during the run", async () => {
    runtime.onPrompt((run) => {
      run.begin();
      api.on(`GET ${ONE}`, () => session({ status: "stopped", stop_reason: "idle" }));
      api.mount("/p/", () => failure("not_running", "The session is stopped.", 503));
      runtime.cut();
    });
    const ran = await ask("hello");
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(
      "error: The session is stopped (idle).\nhint: To restart it and continue: svc sessions chat",
    );
  });

  test("cannot be the sandbox's own", async () => {
    const env = { SVC_SESSION_ID: SESSION_ID };
    api.on(`GET ${ONE}`, ({ path }) => session({ session_id: path.split("/").at(-1) ?? "" }));
    expect(await chat([SESSION_ID, "--prompt", "x"], { env })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("a chat would wait for its own answer"),
    });
    api.on("GET /projects/:p/sessions", two);
    expect(await chat(["--prompt", "hello"], { env })).toMatchObject({ code: 0, stdout: "hello\n" });
    expect(api.seen.at(-1)?.path).toContain(OTHER);
  });

  test("of another user is refused with the server's message", async () => {
    api.mount("/p/", () => failure("forbidden", "You are no member of this project.", 403));
    expect(await ask("x")).toMatchObject({
      code: 1,
      stderr: "error: You are no member of this project.\ncode: forbidden\n",
    });
  });
});
