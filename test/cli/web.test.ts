import { afterAll, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeRequest, fakeApi, PROJECT_ID } from "../helpers/cli-api.ts";
import { makeHome, svc, svcOnTerminal } from "../helpers/cli-run.ts";
import { SESSION_ID } from "../helpers/cli-sessions.ts";
import { until } from "../helpers/until.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const PROJECT = `/projects/${PROJECT_ID}`;
const CRS = `${PROJECT}/change-requests`;
const DASHBOARD = "https://d.example.com/a;$(touch$IFS$9pwned)&b";

/** A browser that writes down its arguments. */
function browser() {
  const home = makeHome();
  const program = join(home.home, "browser");
  writeFileSync(
    program,
    `#!/bin/sh\nprintf '%s\\n' "$#" "$@" > "${program}.tmp"\nmv "${program}.tmp" "${program}.opened"\n`,
  );
  chmodSync(program, 0o755);
  const env = { ...api.env, SVC_BROWSER: program, SVC_DASHBOARD_URL: DASHBOARD };
  return {
    home,
    env,
    opened: () => (existsSync(`${program}.opened`) ? readFileSync(`${program}.opened`, "utf8") : ""),
  };
}

const PAGES: [line: string[], page: string][] = [
  [["cr", "show", "3", "--web"], `${CRS}/3`],
  [["cr", "checks", "3", "-w"], `${CRS}/3`],
  [["cr", "diff", "#3", "--web"], `${CRS}/3?view=changes`],
  [["cr", "ls", "--web", "-s", "all"], `${CRS}?status=all`],
  [["sessions", "info", SESSION_ID, "--web"], `${PROJECT}/sessions/${SESSION_ID}`],
  [["browse"], PROJECT],
  [["browse", "#3"], `${CRS}/3`],
  [["browse", "fix-login"], `${CRS}/7`],
  [["browse", "fix-login", "-n"], `${CRS}/7`],
];

beforeEach(() => {
  api.on("GET /projects/:p/change-requests", ({ query }) => ({
    change_requests: query["head_ref"] === "fix-login" ? [changeRequest({ number: 7 })] : [],
  }));
});

test("without a terminal the address is printed, and no browser is started", async () => {
  const { home, env, opened } = browser();
  for (const [line, page] of PAGES) {
    const { code, stdout } = await svc(line, { home, env });
    const { origin, pathname, search } = new URL(stdout);
    expect([line, code, origin, pathname.replace(/^\/a;[^/]*/, "") + search]).toEqual([
      line,
      0,
      "https://d.example.com",
      page,
    ]);
  }
  expect(opened()).toBe("");
});

test("on a terminal the browser gets the address as one argument, and no shell sees it", async () => {
  const { home, env, opened } = browser();
  const terminal = svcOnTerminal(["cr", "show", "3", "--web"], { home, env });
  await terminal.shows("Opened in the browser.");
  expect((await terminal.exited).code).toBe(0);
  await until("the browser has started", () => opened() !== "");
  expect(opened()).toBe(`1\n${DASHBOARD}${CRS}/3\n`);
  expect(existsSync(join(home.cwd, "pwned"))).toBe(false);
});

test("browse --no-browser starts none on a terminal", async () => {
  const { home, env, opened } = browser();
  const terminal = svcOnTerminal(["browse", "3", "--no-browser"], { home, env });
  expect((await terminal.exited).code).toBe(0);
  expect(terminal.screen()).toContain(`${CRS}/3`);
  expect([terminal.screen().includes("Opened"), opened()]).toEqual([false, ""]);
});

test("browse of a word that is no branch of a change request says what there is instead", async () => {
  const ran = await svc(["browse", "src/\x1b[2J"], { env: api.env });
  expect(ran).toMatchObject({ code: 1, stdout: "" });
  expect(ran.stderr).toContain("no change request of the branch src/\\x1b[2J.");
  expect(ran.stderr).toContain("`svc repo cat`");
});

test("cr open opens first, and then shows the page", async () => {
  const { home, env, opened } = browser();
  const line = ["cr", "open", "--title", "T", "--head", "x", "--web"];
  const ran = await svc(line, { home, env });
  expect([ran.code, ran.stderr]).toEqual([0, expect.stringContaining(`Its page: ${DASHBOARD}${CRS}/4\n`)]);
  expect(opened()).toBe("");
  const terminal = svcOnTerminal(line, { home, env });
  expect((await terminal.exited).code).toBe(0);
  await until("the browser has started", () => opened() !== "");
  expect(opened()).toEndWith(`${CRS}/4\n`);
});

test("--web and --json exclude each other before anything is sent", async () => {
  for (const data of ["--json", "--jq=."]) {
    const ran = await svc(["cr", "open", "--title", "T", "--head", "x", "--web", data], { env: api.env });
    expect([data, ran.code, ran.stderr]).toEqual([data, 2, expect.stringContaining("--web cannot be used")]);
  }
  expect(api.seen).toEqual([]);
});
