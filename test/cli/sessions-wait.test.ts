import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { BOOT_STEPS, type Session } from "../../src/contract/session.ts";
import { failure, fakeApi, PROJECT_ID, type Seen } from "../helpers/cli-api.ts";
import { type RunOptions, svc, svcOnTerminal } from "../helpers/cli-run.ts";
import {
  booting,
  changed,
  deleted,
  eventStream,
  logged,
  SESSION_ID,
  session,
  type Turn,
} from "../helpers/cli-sessions.ts";
import { until } from "../helpers/until.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const ONE = "/projects/:p/sessions/:n";
const run = (args: string[], options: RunOptions = {}) =>
  svc(["sessions", ...args], { ...options, env: { ...api.env, ...options.env } });
const onTerminal = (args: string[], env: Record<string, string> = {}) =>
  svcOnTerminal(["sessions", ...args], { env: { ...api.env, ...env } });
const plain = (screen: string) => Bun.stripANSI(screen).replaceAll("\r\n", "\n");
const created = () => Object(api.seen.find(({ method }) => method === "POST")?.body);

/** What the event stream of the new session says; a second one is what later connections get. */
function plays(...scripts: ((id: string) => readonly Turn[])[]) {
  const connections: Seen[] = [];
  api.on(`GET ${ONE}/events`, (call) => {
    const script = scripts[Math.min(connections.length, scripts.length - 1)];
    connections.push(call);
    return eventStream(script?.(call.path.split("/").at(-2) ?? "") ?? []);
  });
  return connections;
}

const IN_QUEUE: Session["blocked_on"] = {
  kind: "queue",
  message: "Waiting to start: place 3 of 12 in the queue of this server.",
  position: 3,
  length: 12,
};

/** The boot up to a step, in the order of the contract. */
const upTo = (last: Session["step"], session_id: string): Turn[] =>
  BOOT_STEPS.slice(0, last === null ? 0 : BOOT_STEPS.indexOf(last) + 1).map((step) =>
    changed(booting(step, { session_id, ...(step === "waiting" && { blocked_on: IN_QUEUE }) })),
  );

const boots = (session_id: string): Turn[] => [
  changed(booting(null, { session_id })),
  ...upTo("image", session_id),
  logged("Step 1/2 : \x1b[32mFROM debian\x1b[0m\x1b]0;x\x07", "build"),
  ...upTo("runtime", session_id).slice(2),
  changed(session({ session_id })),
];

describe("new", () => {
  test("shows the steps as they happen, and ends when the session is running", async () => {
    plays(boots);
    const ran = await run(["new", "--prompt", "Fix it", "--name", "Login", "--base", "develop"]);
    const { session_id: id, ...body } = created();
    expect(body).toEqual({ initial_prompt: "Fix it", name: "Login", base_ref: "develop" });
    const short = id.slice(0, 8);
    expect(ran).toEqual({
      code: 0,
      signal: null,
      stdout: `${id} Login page: running\n`,
      stderr: [
        `Session ${short} is starting. Ctrl-C ends the wait, not the session.\n`,
        "branch: creating the session's branch\n",
        "image: building the sandbox's image\n",
        "  build | Step 1/2 : FROM debian\n",
        "waiting: Waiting to start: place 3 of 12 in the queue of this server.\n",
        "sandbox: starting the sandbox\n",
        "clone: cloning the repository\n",
        "setup: running the setup command\n",
        "runtime: starting the agent\n",
        `Next: svc sessions chat ${short}\n      svc sessions preview ${short}\n`,
      ].join(""),
    });
  });

  test("says that the setup command has failed, and succeeds", async () => {
    const setup: Session["setup"] = {
      state: "failed",
      problem: "exit 1",
      output: ["npm error \u001b[31mno\u001b[0m"],
    };
    plays((id) => [changed(session({ session_id: id, status: "running", step: null, setup }))]);
    const { code, stderr } = await run(["new"]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining("\nsetup failed: exit 1\n  npm error no\nNext:"),
    ]);
  });

  test("sends all its flags, and reads a prompt from standard input", async () => {
    const line = [
      "new",
      "--no-wait",
      "--agent",
      "a",
      "--model",
      "m",
      "--provider",
      "docker",
      "--prompt",
      "-",
    ];
    const ran = await run([...line, "--json=status,step"], { stdin: "long\ntext\n" });
    expect(ran).toMatchObject({ code: 0, stdout: '{"status":"provisioning","step":null}\n', stderr: "" });
    const { session_id, ...body } = created();
    expect(session_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(body).toEqual({
      agent_name: "a",
      model: "m",
      provider: "docker",
      initial_prompt: "long\ntext\n",
    });
    expect(api.seen).toHaveLength(1);
  });

  test.each<[string[], string, string]>([
    [["--prompt", "-"], " \n", "the prompt is empty"],
    [["--provider", "cloud"], "", "docker, local, kubernetes"],
    [["--wait", "--no-wait"], "", "cannot be used together"],
  ])("%j is rejected before anything is sent", async (flags, stdin, says) => {
    const ran = await run(["new", ...flags], { stdin });
    expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining(says) });
    expect(api.seen).toEqual([]);
  });

  test.each(BOOT_STEPS.map((step) => [step]))("reports a failure at %s with its reason", async (step) => {
    const failed = { status: "failed", step, error: "It is \x1b[31mbroken." } as const;
    plays((session_id) => [...upTo(step, session_id), changed(session({ session_id, ...failed }))]);
    const ran = await run(["new"]);
    const id = created().session_id;
    const short = id.slice(0, 8);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(
      `error: The session ${short} failed at the step ${step}: It is \\x1b[31mbroken.\n`,
    );
    expect(ran.stderr).toContain(`svc sessions restart ${short}\n`);
    const json = await run(["new", "--json"]);
    expect(json).toMatchObject({ code: 1, stdout: "" });
    expect(JSON.parse(json.stderr).error).toMatchObject({
      code: "session_failed",
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      log: [{ text: "cut the branch" }, { source: "build" }, { text: "listening on 8000" }],
    });
    const quiet = await run(["new", "-q"]);
    expect(quiet.stderr).toStartWith("error:");
    expect(quiet.stderr).toContain("\n  build | Step 1\n");
  });

  test("resumes a lost stream after the last event", async () => {
    const connections = plays(
      (id) => [...upTo("image", id), "cut"],
      (id) => [changed(booting("clone", { session_id: id })), changed(session({ session_id: id }))],
    );
    const ran = await run(["new"]);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toMatch(/image: .*\nThe connection was closed\. Reconnecting…\nclone: /);
    expect(connections[1]?.headers.get("last-event-id")).toBe("2");
  });

  test.each<[string, (id: string) => readonly Turn[], string, string]>([
    ["deleted", () => [deleted], "session_deleted", "was deleted."],
    [
      "stopped",
      (session_id) => [changed(session({ session_id, status: "stopped", stop_reason: "user" }))],
      "session_stopped",
      "was stopped (user).",
    ],
  ])("fails if the session is %s meanwhile", async (_, end, code, says) => {
    plays((id) => [...upTo("clone", id), ...end(id)]);
    expect(await run(["new"])).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining(says) });
    expect(JSON.parse((await run(["new", "--json"])).stderr).error.code).toBe(code);
  });

  test("--json prints the final session and nothing else; --jq filters it", async () => {
    plays(boots);
    const ran = await run(["new", "--json"]);
    expect(ran).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(ran.stdout)).toEqual(session({ session_id: created().session_id }));
    expect((await run(["new", "--jq", ".status"])).stdout).toBe("running\n");
  });

  test("leaves the session running after --timeout", async () => {
    plays((id) => upTo("image", id));
    const ran = await run(["new", "--timeout", "3"]);
    const short = created().session_id.slice(0, 8);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(
      `error: The session ${short} is not running after 3 seconds, but provisioning (image).\nhint: It continues. To check it: svc sessions info ${short}\n`,
    );
    expect(api.seen.filter(({ method }) => method !== "GET")).toHaveLength(1);
  });

  test("finds the session after a lost response, and never creates it twice", async () => {
    api.on("POST /projects/:p/sessions", () => new Promise(() => {}));
    const found = await run(["new", "--timeout", "2", "--jq", ".status"]);
    expect(found).toMatchObject({ code: 0, stdout: "running\n" });
    expect(api.seen.map(({ method, path }) => [method, path.split("/").at(-1)])).toEqual([
      ["POST", "sessions"],
      ["GET", created().session_id],
    ]);
    api.on(`GET ${ONE}`, () => failure("not_found", "No.", 404));
    const lost = await run(["new", "--timeout", "1", "--json"]);
    expect(JSON.parse(lost.stderr).error.code).toBe("timeout");
  });

  test("at the account's limit, explains how to get below it", async () => {
    api.on("POST /projects/:p/sessions", () =>
      failure(
        "concurrent_session_limit",
        "The account may run 20 sessions at once.",
        429,
        { limit: 20, active_sessions: 20 },
        { "Retry-After": "60" },
      ),
    );
    const ran = await run(["new"]);
    expect(ran).toMatchObject({ code: 1, stdout: "" });
    expect(ran.stderr).toContain(
      "error: The account may run 20 sessions at once.\nhint: 20 of 20 slots are in use. To free a slot",
    );
    expect(ran.stderr).toContain("svc sessions ls\n      svc sessions stop <id>\n");
    expect(JSON.parse((await run(["new", "--json"])).stderr).error).toMatchObject({
      code: "concurrent_session_limit",
      limit: 20,
      active_sessions: 20,
    });
  });
});

describe("restart and stop", () => {
  test("restart waits, and does not repeat earlier log lines", async () => {
    const old = { at: "2026-11-20T09:59:59.999Z", source: "build", text: "old" } as const;
    plays((id) => [{ type: "log", line: old }, ...boots(id)]);
    const ran = await run(["restart", SESSION_ID]);
    expect(ran).toMatchObject({ code: 0, stdout: `${SESSION_ID} Login page: running again\n` });
    expect(ran.stderr).toContain("build | Step 1/2");
    expect(ran.stderr).not.toContain("old");
    const only = await run(["restart", SESSION_ID, "--no-wait", "--jq", ".status"]);
    expect(only.stdout).toBe("provisioning\n");
  });

  test("restart reports the account's limit, too", async () => {
    api.on(`POST ${ONE}/restart`, () => failure("concurrent_session_limit", "Full.", 429));
    expect((await run(["restart", SESSION_ID])).stderr).toContain("svc sessions stop <id>");
  });

  test("stop waits until the sandbox has ended", async () => {
    plays(() => [
      changed(session()),
      logged("saved the work", "svc"),
      changed(session({ status: "stopped", stop_reason: "user" })),
    ]);
    expect(await run(["stop", SESSION_ID])).toEqual({
      code: 0,
      signal: null,
      stdout: `${SESSION_ID} Login page: stopped\n`,
      stderr:
        "stop: saving the work and removing the sandbox\n  svc | saved the work\nTo restart it: svc sessions restart 1a2b3c4d\n",
    });
    expect((await run(["stop", SESSION_ID, "--no-wait"])).stdout).toBe(
      `${SESSION_ID} Login page: stopping\n`,
    );
  });

  test.each([
    ["stopped", "stopped"],
    ["failed", "it had failed and has no sandbox"],
  ] as const)("stop of a session that is already %s succeeds", async (status, says) => {
    api.on(`POST ${ONE}/stop`, () => session({ status }));
    const ran = await run(["stop", SESSION_ID]);
    expect(ran).toMatchObject({ code: 0, stdout: `${SESSION_ID} Login page: ${says}\n` });
    expect(api.seen).toHaveLength(1);
  });

  test("fails if the session is deleted while it stops", async () => {
    plays(() => [changed(session()), deleted]);
    expect(await run(["stop", SESSION_ID])).toMatchObject({ code: 1, stdout: "" });
  });
});

describe("on a terminal", () => {
  const long = "x".repeat(300);
  /** In the middle it goes on once `drawn` is. */
  const slow = (session_id: string, drawn?: Promise<void>): Turn[] => [
    ...upTo("image", session_id),
    logged(`\x1b[2J\x1b]52;c;aGk=\x07RUN \u202e${long}`, "build"),
    drawn ?? 150,
    changed(booting("runtime", { session_id })),
    150,
  ];

  test("completed steps get a tick under an animated line", async () => {
    const isDrawn = Promise.withResolvers<void>();
    plays((id) => [...slow(id, isDrawn.promise), changed(session({ session_id: id }))]);
    const terminal = onTerminal(["new"]);
    await terminal.shows("RUN \\u202exxx");
    isDrawn.resolve();
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    const screen = terminal.screen();
    expect(screen).not.toMatch(/\x1b\[2J|\x1b\]|\u202e/);
    const drawn = plain(screen.replaceAll(/[^\n]*\r\x1b\[K/g, ""));
    expect(drawn).toMatch(/✓ branch.*\n✓ image.*\n✓ runtime.*\n[0-9a-f]{8} Login page: running\n/);
    for (const line of Bun.stripANSI(screen).split(/[\r\n]+/)) {
      expect(Bun.stringWidth(line)).toBeLessThan(100);
    }
  });

  test("a failed step gets a cross, with the end of the log below", async () => {
    plays((id) => [
      ...slow(id),
      changed(session({ session_id: id, status: "failed", step: "runtime", error: "No." })),
    ]);
    const terminal = onTerminal(["new"], { NO_COLOR: "1" });
    expect(await terminal.exited).toEqual({ code: 1, signal: null });
    const drawn = plain(terminal.screen().replaceAll(/[^\n]*\r\x1b\[K/g, ""));
    expect(drawn).toMatch(/✓ image.*\n✗ runtime.*\nerror: The session .* failed at the step runtime: No\.\n/);
    expect(drawn).toContain("  svc | cut the branch\n  build | Step 1\n");
    expect(terminal.screen()).not.toContain("\x1b[3");
  });

  test.each([{ CI: "1" }, { TERM: "dumb" }])("shows no animation with %p", async (env) => {
    plays(boots);
    const terminal = onTerminal(["new"], env);
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    expect(terminal.screen()).toContain("runtime: starting the agent\r\n");
    expect(terminal.screen()).not.toContain("\x1b[K");
  });

  test("Ctrl-C leaves the session running, prints the next step, and ends by the signal", async () => {
    for (const command of [["new"], ["restart", SESSION_ID], ["stop", SESSION_ID]]) {
      api.seen.length = 0;
      plays((id) => [changed(booting("image", { session_id: id }))]);
      const terminal = onTerminal(command);
      await terminal.shows(command[0] === "stop" ? "removing the sandbox" : "building the sandbox's image");
      terminal.type("\x03");
      expect(await terminal.exited).toEqual({ code: null, signal: "SIGINT" });
      expect(plain(terminal.screen())).toMatch(
        /The session continues\. To check it: svc sessions info [0-9a-f]{8}\n/,
      );
      expect(api.seen.filter(({ method }) => method !== "GET")).toHaveLength(1);
    }
  });

  test("a client that stops watching closes its stream", async () => {
    let closed = false;
    api.on(`GET ${ONE}/events`, () => {
      const body = new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode(": hello\n\n")),
        cancel() {
          closed = true;
        },
      });
      return new Response(body, { headers: { "Content-Type": "text/event-stream" } });
    });
    await run(["new", "--timeout", "1"]);
    await until("the stream is closed", () => closed);
  });
});

test("a rejected token ends the wait", async () => {
  api.on(`GET ${ONE}/events`, () => failure("forbidden", "Not yours any more.", 403));
  expect(await run(["new"])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Not yours any more."),
  });
  expect(api.seen[0]?.path).toBe(`/projects/${PROJECT_ID}/sessions`);
});
