import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { failure, fakeApi, PROJECT_ID } from "../helpers/cli-api.ts";
import { type RunOptions, svc, svcOnTerminal } from "../helpers/cli-run.ts";
import {
  booting,
  changed,
  deleted,
  eventStream,
  logged,
  logLine,
  SAVED_PATCH,
  SESSION_ID,
  session,
} from "../helpers/cli-sessions.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const ONE = "/projects/:p/sessions/:n";
const PATH = `/projects/${PROJECT_ID}/sessions`;
const OTHER = "1a2b9999-5e6f-4a7b-8c9d-0e1f2a3b4c5d";
const TIME = "2026-11-20T10:00:00.000Z";

const run = (args: string[], options: RunOptions = {}) =>
  svc(["sessions", ...args], { ...options, env: { ...api.env, ...options.env } });
const onTerminal = (args: string[]) => svcOnTerminal(["sessions", ...args], { env: api.env });
const plain = (screen: string) => Bun.stripANSI(screen).replaceAll("\r\n", "\n");
const sent = () =>
  api.seen.filter(({ method }) => method !== "GET").map(({ method, path }) => [method, path]);

describe("ls", () => {
  const many = [
    session(),
    booting("image", { session_id: OTHER, name: null, agent_name: null }),
    session({ session_id: "ffff0000-5e6f-4a7b-8c9d-0e1f2a3b4c5d", status: "stopped", stop_reason: "idle" }),
  ];

  test("prints full values for scripts, and a table on a terminal", async () => {
    api.on("GET /projects/:p/sessions", () => ({ sessions: many }));
    expect((await run(["ls"])).stdout).toBe(
      [
        `${SESSION_ID}\tLogin page\trunning\t\t${SESSION_ID}\tmain\tbuild\t${TIME}\t\n`,
        `${OTHER}\t\tprovisioning\timage\t${OTHER}\tmain\t\t${TIME}\t\n`,
        `ffff0000-5e6f-4a7b-8c9d-0e1f2a3b4c5d\tLogin page\tstopped\t\tffff0000-5e6f-4a7b-8c9d-0e1f2a3b4c5d\tmain\tbuild\t${TIME}\t\n`,
      ].join(""),
    );
    const terminal = onTerminal(["ls"]);
    await terminal.exited;
    const lines = plain(terminal.screen()).split("\n");
    expect(lines[1]).toMatch(/^ID {8}TITLE {7}STATUS {16}BASE {2}AGENT {2}ACTIVE$/);
    expect(lines[2]).toMatch(/^1a2b3c4d {2}Login page {2}running {15}main {2}build {2}.* ago$/);
    expect(lines[3]).toMatch(/^1a2b9999 {14}provisioning \(image\) {2}main {9}.* ago$/);
    expect(lines[4]).toContain("stopped (idle)");
  });

  test("ls marks a sandbox without isolation, and info shows the isolation of a sandbox", async () => {
    const open = session({ walls: [] });
    const closed = session({ session_id: OTHER, walls: ["files", "processes", "user", "process_limit"] });
    api.on("GET /projects/:p/sessions", () => ({ sessions: [open, closed] }));
    const rows = (await run(["ls"])).stdout.trim().split("\n");
    expect(rows.map((row) => row.split("\t").at(-1))).toEqual(["none", "files,processes,user,process_limit"]);
    const terminal = onTerminal(["ls"]);
    await terminal.exited;
    expect(plain(terminal.screen())).toMatch(/1a2b3c4d .*running \(no walls\)/);
    expect(plain(terminal.screen())).toMatch(/1a2b9999 .*running {2}/);
    for (const [shown, words] of [
      [open, "none: the agent can do everything that the server's user can"],
      [
        closed,
        "files, processes, user, process limit (not: network, syscalls, memory limit, cpu limit, disk limit)",
      ],
    ] as const) {
      api.on(`GET ${ONE}`, () => shown);
      expect((await run(["info", shown.session_id])).stdout).toContain(words);
    }
  });

  test("filters by status, and reports an empty list", async () => {
    api.on("GET /projects/:p/sessions", () => ({ sessions: [] }));
    expect(await run(["ls"])).toMatchObject({
      stdout: "",
      stderr: "No sessions yet. Next: svc sessions new\n",
    });
    expect((await run(["ls", "--status", "failed"])).stderr).toBe("No session is failed.\n");
    expect(api.seen.map(({ query }) => query["status"])).toEqual([undefined, "failed"]);
    expect(await run(["ls", "--status", "dead"])).toMatchObject({ code: 2 });
  });
});

describe("an id", () => {
  const two = () => ({ sessions: [session(), session({ session_id: OTHER })] });

  test.each([SESSION_ID, SESSION_ID.toUpperCase(), "1a2b3", "1A2B3C4D-5E"])(
    "%s finds its session",
    async (id) => {
      api.on("GET /projects/:p/sessions", two);
      const ran = await run(["info", id, "--jq", ".session_id"]);
      expect(ran).toMatchObject({ code: 0, stdout: `${SESSION_ID}\n`, stderr: "" });
      expect(api.seen.at(-1)?.path).toBe(`${PATH}/${SESSION_ID}`);
    },
  );

  test("that is ambiguous, unknown or invalid is an error", async () => {
    api.on("GET /projects/:p/sessions", two);
    const several = await run(["stop", "1a2b"]);
    expect(several).toMatchObject({ code: 2, stdout: "" });
    expect(several.stderr).toContain(`2 session ids begin with 1a2b: give more digits.\nhint: ${SESSION_ID}`);
    expect(several.stderr).toContain(OTHER);
    expect(await run(["stop", "abcd"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("No session of the project has an id that begins with abcd."),
    });
    for (const word of ["1a2", "zzzz", "../..", "1a2b/", SESSION_ID + SESSION_ID]) {
      expect(await run(["stop", word])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("Not a session:"),
      });
    }
    expect(sent()).toEqual([]);
  });

  test("is optional in a sandbox for commands that only read its own session", async () => {
    const env = { SVC_SESSION_ID: SESSION_ID };
    for (const command of ["info", "logs"]) {
      expect(await run([command, "--json"], { env })).toMatchObject({ code: 0 });
      expect(api.seen.at(-1)?.path).toContain(SESSION_ID);
      expect(await run([command])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("A session is required"),
      });
    }
    for (const command of ["stop", "restart", "rm", "rename", "open", "preview"]) {
      expect(await run([command], { env })).toMatchObject({ code: 2 });
    }
    expect(sent()).toEqual([]);
  });

  test("can be chosen from a list on a terminal", async () => {
    api.on("GET /projects/:p/sessions", () => ({
      sessions: [session({ session_id: OTHER, name: "x\x1b[2J" }), session()],
    }));
    const home = { ...api.env };
    const terminal = svcOnTerminal(["sessions", "rename"], { env: home });
    expect((await terminal.exited).code).toBe(2);
    const stop = onTerminal(["open", "--print-url"]);
    await stop.shows("Which session?");
    expect(plain(stop.screen())).toContain("1a2b9999 x\\x1b[2J");
    stop.type("\x1b[B\r");
    expect(await stop.exited).toEqual({ code: 0, signal: null });
    expect(api.seen.at(-1)?.path).toBe(`${PATH}/${SESSION_ID}`);
  });
});

describe("info", () => {
  test("shows the session and the next steps", async () => {
    const ran = await run(["info", SESSION_ID]);
    expect(ran.stdout).toContain(
      `id\t${SESSION_ID}\nname\tLogin page\ntitle\tLogin page\nstatus\trunning\nbranch\t${SESSION_ID}\n`,
    );
    expect(ran.stdout).toContain(`sandbox url\thttp://localhost:8008/v1/p/${SESSION_ID}/8000\n`);
    expect(ran.stdout).toContain("\nnetwork\trestricted\n");
    expect(ran.stdout).toContain(
      '\nrefused: x.example:443; "svc network allow x.example" opens a change request\n',
    );
    expect(ran.stderr).toBe("Next: svc sessions chat 1a2b3c4d\n      svc sessions preview 1a2b3c4d\n");
    expect(api.seen.map(({ path }) => path)).toEqual([
      `${PATH}/${SESSION_ID}`,
      `/p/${SESSION_ID}/8000/svc/health`,
      `${PATH}/${SESSION_ID}/network`,
    ]);
  });

  test("shows saved work, its problems, and how to restore it", async () => {
    const saved = { commit: "c".repeat(40), at: TIME, files: 3, live: true };
    api.on(`GET ${ONE}`, () => session({ saved }));
    api.on(`GET /p/${SESSION_ID}/8000/svc/health`, () => ({ save_problem: "It could not be saved: no." }));
    const ran = await run(["info", SESSION_ID]);
    expect(ran.stdout).toContain(`saved work\t3 files, ${TIME}\nsaving\tIt could not be saved: no.\n`);
    api.on(`GET ${ONE}`, () => session({ status: "stopped", saved: { ...saved, files: 1, live: false } }));
    const stopped = await run(["info", SESSION_ID]);
    expect(stopped.stdout).toContain(`saved work\t1 file, ${TIME}, not in a sandbox now\n`);
    expect(stopped.stderr).toContain("svc sessions restart 1a2b3c4d --restore");
  });

  test("of a failed session shows the reason and the end of its log", async () => {
    const failed = session({ status: "failed", step: "image", error: "The image could not be built." });
    api.on(`GET ${ONE}`, () => failed);
    const ran = await run(["info", SESSION_ID]);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain("status\tfailed\nstep\timage\nerror\tThe image could not be built.\n");
    expect(ran.stdout).toEndWith(`\n${TIME}\tsandbox\tlistening on 8000\n`);
    expect(ran.stderr).toContain("svc sessions restart 1a2b3c4d");
    expect(JSON.parse((await run(["info", SESSION_ID, "--json"])).stdout)).toEqual(failed);
    const terminal = onTerminal(["info", SESSION_ID]);
    await terminal.exited;
    expect(plain(terminal.screen())).toContain("Login page\nfailed (image)\n\nid:");
    expect(plain(terminal.screen())).toMatch(/\nThe end of its log\n\d\d:\d\d:\d\d svc {5}cut the branch\n/);
    api.on(`GET ${ONE}/logs`, () => failure("internal", "?", 500));
    expect(await run(["info", SESSION_ID])).toMatchObject({ code: 0 });
  });
});

describe("rm", () => {
  test("prompts on a terminal, and needs --yes elsewhere", async () => {
    expect(await run(["rm", SESSION_ID])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--yes"),
    });
    const no = onTerminal(["rm", SESSION_ID]);
    await no.shows("Delete the session 1a2b3c4d Login page, which is running?");
    no.type("n");
    expect(await no.exited).toEqual({ code: 1, signal: null });
    expect(sent()).toEqual([]);
    const yes = onTerminal(["rm", SESSION_ID]);
    await yes.shows("Delete the session");
    yes.type("y");
    expect(await yes.exited).toEqual({ code: 0, signal: null });
    expect(sent()).toEqual([["DELETE", `${PATH}/${SESSION_ID}`]]);
  });

  test("reports the outcome", async () => {
    const ran = await run(["rm", SESSION_ID, "--yes"]);
    expect(ran).toMatchObject({ code: 0, stdout: "Deleted the session 1a2b3c4d Login page.\n" });
    expect(ran.stderr).toContain(`Its commits are on the branch ${SESSION_ID}.`);
  });
});

test("rename sends the name", async () => {
  const ran = await run(["rename", SESSION_ID, "A better\x1b[2J name"]);
  expect(ran.stdout).toBe(`${SESSION_ID} A better\\x1b[2J name: renamed\n`);
  expect(api.seen.at(-1)).toMatchObject({ method: "PATCH", body: { name: "A better\x1b[2J name" } });
});

describe("edit", () => {
  test("sends what is chosen, and says when it applies", async () => {
    const flags = ["--model", "svc/large", "--agent", "plan", "--mode", "ask", "--effort", "high"];
    const ran = await run(["edit", SESSION_ID, ...flags, "--name", "New"]);
    expect(ran.stdout).toBe(`${SESSION_ID} New: changed\n`);
    expect(ran.stderr).toContain("It applies to the next prompt.");
    expect(api.seen.at(-1)).toMatchObject({
      method: "PATCH",
      body: { name: "New", model: "svc/large", agent_name: "plan", mode: "ask", effort: "high" },
    });
  });

  test("undoes an agent and an effort with the word default", async () => {
    await run(["edit", SESSION_ID, "--agent", "default", "--effort", "default"]);
    expect(api.seen.at(-1)?.body).toEqual({ agent_name: null, effort: null });
    const renamed = await run(["edit", SESSION_ID, "--name", "default"]);
    expect(api.seen.at(-1)?.body).toEqual({ name: "default" });
    expect(renamed.stderr).not.toContain("next prompt");
  });

  test("refuses an unknown mode, and a change of nothing", async () => {
    const wrong = await run(["edit", SESSION_ID, "--mode", "reckless"]);
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("ask, auto-edit, full") });
    const nothing = await run(["edit", SESSION_ID]);
    expect(nothing).toMatchObject({ code: 2, stderr: expect.stringContaining("Nothing to change") });
  });
});

test("choices lists what there is, the current ones marked, and neutralizes what an agent names", async () => {
  const ran = await run(["choices", SESSION_ID]);
  expect(ran.stdout).toBe(
    [
      "model\tsvc/small\tcurrent",
      "model\tanthropic/large\t",
      "agent\tbuild\tcurrent",
      "mode\task\t",
      "mode\tauto-edit\t",
      "mode\tfull\tcurrent",
      "effort\tlow\t",
      "effort\thigh\t",
      "",
    ].join("\n"),
  );
  expect(ran.stderr).not.toContain("Other models");
});

test("new warns of an agent that has no key, and of nothing else", async () => {
  const missing_keys = ["ANTHROPIC_API_KEY"];
  api.on("GET /projects/:p/runtimes", () => ({
    runtimes: [
      { name: "claude-code", title: "Claude Code", installed: true, problem: null, missing_keys },
      { name: "codex", title: "Codex", installed: true, problem: null, missing_keys: [] },
    ],
  }));
  const start = (runtime: string) =>
    run(["new", "--no-wait", "--runtime", runtime, "--mode", "ask", "--effort", "low"]);
  expect((await start("claude-code")).stderr).toContain(
    "Claude Code has no key, so it may not be able to answer. Set one of ANTHROPIC_API_KEY with svc secrets set",
  );
  expect((await start("codex")).stderr).not.toContain("no key");
  const made = api.seen.findLast(({ method, path }) => method === "POST" && path.endsWith("/sessions"));
  expect(made?.body).toMatchObject({ runtime: "codex", mode: "ask", effort: "low" });
});

test("open prints the address of the dashboard page without a browser", async () => {
  const ran = await run(["open", SESSION_ID], { env: { SVC_DASHBOARD_URL: "https://svc.example/ui" } });
  expect(ran.stdout).toBe(`https://svc.example/ui${PATH}/${SESSION_ID}\n`);
});

describe("preview", () => {
  test("prints only the address, of port 3000 by default", async () => {
    const ran = await run(["preview", SESSION_ID]);
    expect(ran).toMatchObject({
      code: 0,
      stdout: `http://p3000-${SESSION_ID}.localhost:8008/?token=abc\n`,
      stderr: `It signs in one browser, until ${TIME}.\n`,
    });
    expect((await run(["preview", SESSION_ID, "5173", "--jq", ".url"])).stdout).toContain("://p5173-");
    expect(api.seen.map(({ body }) => body)).toEqual([{ port: 3000 }, { port: 5173 }]);
  });

  test.each(["0", "65536", "http", "-1", "3000/x"])("rejects the port %s", async (port) => {
    expect(await run(["preview", SESSION_ID, "--", port])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`Not a port: ${port}`),
    });
    expect(api.seen).toEqual([]);
  });

  test("a port without a session is an error", async () => {
    expect((await run(["preview", "3000"])).stderr).toContain("svc sessions preview <id> 3000");
    expect((await run(["preview", "300"])).stderr).toContain("svc sessions preview <id> 300");
  });

  test("--open opens only web addresses", async () => {
    const opened = await run(["preview", SESSION_ID, "--open"], { env: { SVC_BROWSER: "true" } });
    expect(opened).toMatchObject({ code: 0, stderr: "" });
    api.on(`POST ${ONE}/preview`, () => ({ url: "file:///etc/passwd\x1b[2J", expires_at: TIME }));
    expect(await run(["preview", SESSION_ID, "--open"], { env: { SVC_BROWSER: "true" } })).toMatchObject({
      code: 0,
      stdout: "file:///etc/passwd\\x1b[2J\n",
      stderr: expect.stringContaining("Cannot open a browser here"),
    });
  });

  test("of a session that is not running prints the server's error", async () => {
    api.on(`POST ${ONE}/preview`, () =>
      failure("not_running", "The session is stopped.", 503, { status: "stopped" }, { "Retry-After": "1" }),
    );
    expect(await run(["preview", SESSION_ID])).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringContaining("The session is stopped."),
    });
  });
});

describe("logs", () => {
  test("prefixes the sources, removes colours and escapes other control characters", async () => {
    api.on(`GET ${ONE}/logs`, () => ({
      lines: [
        logLine("\x1b[32mStep 1\x1b[0m\r", "build"),
        logLine("a\x1b]0;title\x07b\x07\tc\u202e"),
        { ...logLine("no time"), at: null },
      ],
      truncated: true,
    }));
    const ran = await run(["logs", SESSION_ID]);
    expect(ran.stdout).toBe(
      `${TIME}\tbuild\tStep 1\n${TIME}\tsandbox\tab\\x07\\tc\\u202e\n\tsandbox\tno time\n`,
    );
    expect(ran.stderr).toBe("This is the end of a longer log.\n");
    expect((await run(["logs", SESSION_ID, "--tail", "5"])).stderr).toBe("");
    expect(api.seen.map(({ query }) => query["tail"])).toEqual([undefined, "5"]);
    const terminal = onTerminal(["logs", SESSION_ID]);
    await terminal.exited;
    expect(plain(terminal.screen())).toMatch(/\n\d\d:\d\d:\d\d build {3}Step 1\n/);
  });

  test("--follow prints each line once, and ends with the session", async () => {
    const old = [logLine("older"), logLine("old", "svc"), { ...logLine("from the sandbox"), at: null }];
    api.on(`GET ${ONE}/logs`, () => ({ lines: old, truncated: false }));
    const later = (text: string) => {
      const line = { ...logLine(text), at: "2026-11-20T10:00:01.000Z" };
      return { type: "log" as const, line };
    };
    const stream = [
      logged("older"),
      logged("old", "svc"),
      changed(session()),
      logged("old", "svc"),
      { type: "log" as const, line: { ...logLine("of an earlier start"), at: "2026-11-19T10:00:00.000Z" } },
      later("new"),
      later("new"),
    ];
    const end = [later("from the sandbox"), changed(session({ status: "stopped", stop_reason: "user" }))];
    let connections = 0;
    api.on(`GET ${ONE}/events`, () =>
      connections++ === 0 ? eventStream([...stream, "cut"]) : eventStream([changed(session()), ...end]),
    );
    const ran = await run(["logs", SESSION_ID, "--follow", "--tail", "2"]);
    expect(ran.code).toBe(0);
    expect(ran.stdout.split("\n").map((row) => row.split("\t")[2])).toEqual([
      "old",
      "from the sandbox",
      "new",
      "new",
      undefined,
    ]);
    expect(ran.stderr).toBe(
      "The connection was closed. Reconnecting…\nThe session 1a2b3c4d has ended: stopped (user).\n",
    );
    api.on(`GET ${ONE}/events`, () => eventStream([changed(session()), deleted]));
    expect(await run(["logs", SESSION_ID, "--follow"])).toMatchObject({
      code: 0,
      stderr: "The session was deleted.\n",
    });
    expect(await run(["logs", SESSION_ID, "--follow", "--json"])).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("saved", () => {
  test("prints the patch byte for byte, in colour on a terminal", async () => {
    expect((await run(["saved", SESSION_ID])).stdout).toBe(SAVED_PATCH);
    const terminal = onTerminal(["saved", SESSION_ID, "--no-pager"]);
    await terminal.exited;
    expect(plain(terminal.screen())).toContain(SAVED_PATCH.split("\n")[0] ?? "");
    expect((await run(["saved", SESSION_ID, "--jq", ".commit"])).stdout).toBe(`${"c".repeat(40)}\n`);
  });

  test("reports that nothing is saved", async () => {
    api.on(`GET ${ONE}/saved`, () => failure("not_found", "This session has no saved work.", 404));
    expect(await run(["saved", SESSION_ID])).toMatchObject({ code: 1, stdout: "" });
  });
});

describe("the workspace", () => {
  test("files lists a folder, or the changes, and says how many are left out", async () => {
    const folder = await run(["files", SESSION_ID, "src"]);
    expect(folder.stdout).toBe("directory\t\tsrc\nfile\t12\ta.txt\n");
    expect(folder.stderr).toContain("3 more not listed");
    expect((await run(["files", SESSION_ID, "--changes"])).stdout).toBe("a\tmodified\t1\t1\n");
    expect((await run(["files", SESSION_ID, "src", "--changes"])).code).toBe(2);
  });

  test("diff prints the patch byte for byte, and says what is not in it", async () => {
    const ran = await run(["diff", SESSION_ID]);
    expect(ran.stdout).toBe(SAVED_PATCH);
    expect(ran.stderr).toContain("2 changed files not in the patch");
    expect((await run(["diff", SESSION_ID, "--jq", ".files[].path"])).stdout).toBe("a\n");
  });
});

describe("restart with saved work", () => {
  const saved = { commit: "c".repeat(40), at: TIME, files: 3, live: false };
  const stopped = session({ status: "stopped", saved });
  const restored = () => api.seen.filter(({ method }) => method === "POST").map(({ body }) => body);

  test.each<[string[], boolean, boolean]>([
    [[], false, true],
    [["--no-restore"], false, true],
    [["--restore"], true, false],
  ])("without a terminal, with %j", async (flags, restore, isTold) => {
    api.on(`GET ${ONE}`, () => stopped);
    api.on(`POST ${ONE}/restart`, () => booting("branch", { saved }));
    const ran = await run(["restart", SESSION_ID, "--no-wait", ...flags]);
    expect([ran.code, restored()]).toEqual([0, [{ restore }]]);
    expect(ran.stderr.includes("svc sessions restart 1a2b3c4d --restore")).toBe(isTold);
  });

  test.each([
    ["\r", true],
    ["n", false],
  ] as const)("prompts on a terminal, with the answer %j", async (key, restore) => {
    api.on(`GET ${ONE}`, () => stopped);
    api.on(`POST ${ONE}/restart`, () => booting("branch", { saved }));
    const terminal = onTerminal(["restart", SESSION_ID, "--no-wait"]);
    await terminal.shows("Restore the work saved");
    expect(plain(terminal.screen())).toContain("(3 files)?");
    terminal.type(key);
    expect((await terminal.exited).code).toBe(0);
    expect(restored()).toEqual([{ restore }]);
  });

  test("the flags exclude each other", async () => {
    expect((await run(["restart", SESSION_ID, "--restore", "--no-restore"])).code).toBe(2);
  });
});

test("new --attach sends files with the first prompt, and needs one", async () => {
  const file = new URL("../helpers/attachments.ts", import.meta.url).pathname;
  await run(["new", "--no-wait", "--prompt", "Look", "--attach", file]);
  const { body } = api.seen.find(({ method, path }) => method === "POST" && path.endsWith("/sessions")) ?? {};
  expect(body).toMatchObject({ initial_prompt: "Look", attachments: [{ name: "attachments.ts" }] });
  expect(await run(["new", "--no-wait", "--attach", file])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--attach requires --prompt."),
  });
});

describe("tries", () => {
  test("new --tries starts several sessions, and needs a prompt", async () => {
    const made = await run(["new", "--tries", "3", "--prompt", "Make it faster", "--model", "p/m"]);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining(SESSION_ID) });
    expect(made.stderr).toContain("Next: svc sessions tries 1a2b3c4d\n");
    const { body } = api.seen.find(({ method, path }) => method === "POST" && path.endsWith("/tries")) ?? {};
    expect(body).toEqual({
      ...{ initial_prompt: "Make it faster", count: 3, models: ["p/m"] },
      tries_id: expect.any(String),
    });
    await run(["new", "--runtime", "codex, claude-code", "--prompt", "Make it faster"]);
    expect(api.seen.findLast(({ path }) => path.endsWith("/tries"))?.body).toMatchObject({
      runtimes: ["codex", "claude-code"],
      count: 2,
    });
    expect(await run(["new", "--tries", "2"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("Several tries require --prompt."),
    });
  });

  test("compares them, and chooses one only with a yes", async () => {
    const shown = await run(["tries", SESSION_ID]);
    expect(shown.stdout).toBe(`${SESSION_ID}\trunning\t+3 -1 in 2 files\tsuccess\t#3 open\t\t\t\n`);
    const chosen = () => api.seen.filter(({ path }) => path.endsWith("/choose")).map(({ body }) => body);
    expect(await run(["tries", SESSION_ID, "--choose", "1a2b"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("needs --yes"),
    });
    expect(await run(["tries", SESSION_ID, "--choose", "ffff", "--yes"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--choose: ffff names none of the tries."),
    });
    expect(chosen()).toEqual([]);
    const done = await run(["tries", SESSION_ID, "--choose", "1a2b", "--yes"]);
    expect(done).toMatchObject({ code: 0, stderr: expect.stringContaining("Next: svc cr show 3") });
    expect(chosen()).toEqual([{ session_id: SESSION_ID }]);
    api.on("GET /projects/:p/sessions/:n", () => session({ tries_id: null }));
    expect((await run(["tries", SESSION_ID])).stderr).toContain("is the only try at its task");
  });
});
