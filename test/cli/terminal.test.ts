import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { changeRequest, fakeApi, PATCH, PROJECT_ID, TOKEN } from "../helpers/cli-api.ts";
import { makeHome, SVC, svc, svcOnTerminal, textOf } from "../helpers/cli-run.ts";
import { needs } from "../helpers/needs.ts";
import { until } from "../helpers/until.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

/** Drawn text without colours and cursor movements. */
const plain = (screen: string) => Bun.stripANSI(screen).replaceAll("\r\n", "\n");

/** A home that is signed in to the fake API. */
function signedIn() {
  const home = makeHome();
  mkdirSync(dirname(home.config), { recursive: true });
  const hosts = { team: { url: api.url, token: TOKEN } };
  writeFileSync(home.config, JSON.stringify({ active: "team", hosts }), { mode: 0o600 });
  return home;
}

describe("on a terminal", () => {
  test("prints a list as a table with headings, below the host's line", async () => {
    const home = signedIn();
    const terminal = svcOnTerminal(["cr", "ls", "--project", "shop"], { home });
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    const lines = plain(terminal.screen()).split("\n");
    expect(lines[0]).toBe(`Host: team (${api.url})`);
    expect(lines[1]).toMatch(/^CR {2}TITLE {15}HEAD {7}BASE {2}STATUS {2}UPDATED$/);
    expect(lines[2]).toMatch(/^#3 {2}Fix the login page {2}fix-login {2}main {2}open {4}.* ago$/);
    expect(terminal.screen()).toContain("\x1b[32m");
  });

  test("NO_COLOR and --no-color turn colour off", async () => {
    for (const [line, env] of [
      [["cr", "ls", "--project", "shop", "--no-color"], {}],
      [["cr", "ls", "--project", "shop"], { NO_COLOR: "1" }],
      [["cr", "ls", "--project", "shop"], { TERM: "dumb" }],
    ] as const) {
      const terminal = svcOnTerminal(line, { home: signedIn(), env });
      await terminal.exited;
      expect(terminal.screen()).not.toContain("\x1b");
    }
  });

  test("--quiet and a sandbox omit the host's line", async () => {
    const quiet = svcOnTerminal(["cr", "ls", "--project", "shop", "-q"], { home: signedIn() });
    await quiet.exited;
    expect(quiet.screen()).not.toContain("Host:");
    const env = { ...api.env, SVC_SESSION_ID: "s" };
    const sandbox = svcOnTerminal(["cr", "ls"], { env });
    await sandbox.exited;
    expect(sandbox.screen()).not.toContain("Host:");
  });

  test("a change request can be chosen from a list", async () => {
    api.on("GET /projects/:p/change-requests", () => ({
      change_requests: [changeRequest({ number: 9, title: "Nine\x1b[2J" }), changeRequest()],
    }));
    const terminal = svcOnTerminal(["cr", "close", "--project", "shop"], { home: signedIn() });
    await terminal.shows("Which change request?");
    expect(plain(terminal.screen())).toContain("#9 Nine\\x1b[2J");
    terminal.type("\x1b[B\r");
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    expect(api.seen.at(-1)?.path).toBe("/projects/shop/change-requests/3/close");
  });

  test("a host and a project can be chosen from lists", async () => {
    const home = signedIn();
    const hosts = svcOnTerminal(["hosts", "use"], { home });
    await hosts.shows("Which host");
    hosts.type("\r");
    await hosts.exited;
    expect(JSON.parse(readFileSync(home.config, "utf8")).active).toBe("team");
    const link = svcOnTerminal(["projects", "link"], { home });
    await link.shows("Which project");
    link.type("\r");
    expect(await link.exited).toEqual({ code: 0, signal: null });
    expect(JSON.parse(readFileSync(join(home.cwd, ".svc/link.json"), "utf8"))).toMatchObject({
      project_id: PROJECT_ID,
      host: "team",
      host_url: api.url,
    });
  });

  test("a cancelled prompt changes nothing and exits with 1", async () => {
    for (const key of ["\x03", "\x1b"]) {
      const terminal = svcOnTerminal(["projects", "link"], { home: signedIn() });
      await terminal.shows("Which project");
      terminal.type(key);
      expect(await terminal.exited).toEqual({ code: 1, signal: null });
      expect(terminal.screen()).toContain("Cancelled");
    }
  });

  test("deleting a project requires typing its name", async () => {
    const terminal = svcOnTerminal(["projects", "rm", "shop"], { home: signedIn() });
    await terminal.shows("Type shop to confirm");
    terminal.type("shop\r");
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    expect(api.seen.at(-1)?.method).toBe("DELETE");
    api.seen.length = 0;
    const other = svcOnTerminal(["projects", "rm", "shop"], { home: signedIn() });
    await other.shows("Type shop to confirm");
    other.type("sho\r");
    await other.shows("press Escape");
    other.type("\x1b");
    expect(await other.exited).toEqual({ code: 1, signal: null });
    expect(api.seen.some((call) => call.method === "DELETE")).toBe(false);
  });

  test("a pasted token is not shown", async () => {
    const home = makeHome();
    const terminal = svcOnTerminal(["login", "--api", api.url, "--token", "-"], { home });
    await terminal.shows("Paste it here");
    terminal.type(`${TOKEN}\r`);
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    expect(terminal.screen()).not.toContain(TOKEN);
    expect(existsSync(home.config)).toBe(true);
  });

  test("--no-input, CI and --json disable prompts", async () => {
    for (const [line, env] of [
      [["cr", "show", "--project", "shop", "--no-input"], {}],
      [["cr", "show", "--project", "shop"], { CI: "true" }],
      [["cr", "show", "--project", "shop", "--json"], {}],
    ] as const) {
      const terminal = svcOnTerminal(line, { home: signedIn(), env });
      expect(await terminal.exited).toEqual({ code: 2, signal: null });
      expect(terminal.screen()).toContain("A change request is required");
    }
  });

  test("Ctrl-C ends by the signal", async () => {
    api.on("GET /projects", () => new Promise(() => {}));
    const terminal = svcOnTerminal(["projects", "ls"], { home: signedIn() });
    await until("it waits for the answer", () => api.seen.length > 0);
    terminal.type("\x03");
    expect(await terminal.exited).toEqual({ code: null, signal: "SIGINT" });
  });

  test("prints a change request with its preview, and indented JSON", async () => {
    const shown = svcOnTerminal(["cr", "show", "3", "--project", "shop"], { home: signedIn() });
    await shown.exited;
    const text = plain(shown.screen());
    expect(text).toContain("#3 Fix the login page\nopen  fix-login → main\n");
    expect(text).toContain("Merge preview: clean: merges without conflicts\n");
    expect(text).toContain("Next: svc cr diff 3");
    const json = svcOnTerminal(["cr", "show", "3", "--project", "shop", "--json=number"], {
      home: signedIn(),
    });
    await json.exited;
    expect(plain(json.screen())).toBe('{\n  "number": 3\n}\n');
  });
});

describe("the pager", () => {
  const diff = (env: Record<string, string>, flags: string[] = []) =>
    svcOnTerminal(["cr", "diff", "3", "--project", "shop", ...flags], { home: signedIn(), env });

  test("a short diff is coloured and stays on the screen", async () => {
    const terminal = diff({});
    expect(await terminal.exited).toEqual({ code: 0, signal: null });
    expect(terminal.screen()).toContain("\x1b[31m-old");
    expect(plain(terminal.screen())).toContain("-old\n+new\n same\n");
  });

  test("SVC_PAGER overrides PAGER; --no-pager and cat turn it off", async () => {
    const chosen = diff({ SVC_PAGER: "tr a-z A-Z", PAGER: "false" });
    await chosen.exited;
    expect(chosen.screen()).toContain("DIFF --GIT");
    for (const terminal of [
      diff({ PAGER: "false" }, ["--no-pager"]),
      diff({ PAGER: "cat" }),
      diff({ SVC_PAGER: "" }),
    ]) {
      expect(await terminal.exited).toEqual({ code: 0, signal: null });
      expect(terminal.screen()).toContain("diff --git");
    }
  });

  test("is not an error if it quits early or cannot start", async () => {
    const big = PATCH + "+line\n".repeat(200_000);
    api.on("GET /projects/:p/change-requests/:n/diff", () => new Response(big));
    for (const pager of ["head -1", "true"]) {
      expect(await diff({ PAGER: pager }).exited).toEqual({ code: 0, signal: null });
    }
    const none = diff({ PAGER: "no-such-pager-here" });
    expect(await none.exited).toEqual({ code: 0, signal: null });
    expect(none.screen()).toContain("diff --git");
  });

  needs("less", Bun.which("less") !== null)("Ctrl-C is handled by the pager", async () => {
    const big = PATCH + "+line\n".repeat(50_000);
    api.on("GET /projects/:p/change-requests/:n/diff", () => new Response(big));
    const terminal = diff({ PAGER: "less -R" });
    await terminal.shows("diff --git");
    terminal.type("\x03");
    await Bun.sleep(150);
    // A key that arrives while the pager is still busy with the interruption is lost.
    const keys = setInterval(() => terminal.type("q"), 100);
    const end = await terminal.exited;
    clearInterval(keys);
    expect(end).toEqual({ code: 0, signal: null });
  });

  test("is not started for an error response", async () => {
    api.on("GET /projects/:p/change-requests/:n/diff", () => undefined);
    const terminal = diff({});
    expect(await terminal.exited).toEqual({ code: 1, signal: null });
  });
});

test("does not prompt if only one of input and output is a terminal", async () => {
  const home = signedIn();
  const terminal = Bun.spawn(
    ["script", "-qec", `${SVC.join(" ")} cr show --project shop </dev/null`, "/dev/null"],
    {
      env: { PATH: process.env["PATH"] ?? "", HOME: home.home, TERM: "xterm" },
      stdout: "pipe",
    },
  );
  expect(await textOf(terminal.stdout)).toContain("A change request is required");
  expect(await terminal.exited).toBe(2);
});

test("never waits for input without a terminal", async () => {
  for (const line of [
    ["projects", "link"],
    ["hosts", "use"],
    ["cr", "merge"],
    ["projects", "rm", "x"],
    ["projects", "git-credential"],
    ["login", "--token", "-"],
  ]) {
    const ran = await svc(line, { home: signedIn(), env: { SVC_PROJECT_ID: "shop" } });
    expect({ line, code: ran.code }).toEqual({ line, code: 2 });
  }
});
