import { afterAll, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { CheckRun } from "../../src/contract/check-run.ts";
import type { ChecksSummary, CommitStatus } from "../../src/contract/commit-status.ts";
import { changeRequest, check, checkRun, fakeApi, commitStatus as status } from "../helpers/cli-api.ts";
import { type RunOptions, svc } from "../helpers/cli-run.ts";

const api = fakeApi();
afterAll(() => api.stop());
beforeEach(() => api.reset());

const run = (args: string[], options: RunOptions = {}) => svc(args, { ...options, env: api.env });
const onCr = "GET /projects/:p/change-requests/:n";
const onStatus = "GET /projects/:p/commits/:n/status";
const SHA = "a".repeat(40);

/** The API's answers for a change request with these checks. */
function answerWith(checks: Partial<ChecksSummary>, statuses: CommitStatus[]): void {
  const none = { total: 0, passed: 0, failed: 0, pending: 0, required: [], state: "none" as const };
  api.on(onCr, () => ({ change_request: changeRequest({ checks: { ...none, ...checks } }) }));
  api.on(onStatus, () => ({ sha: SHA, state: "success", total_count: statuses.length, statuses }));
}

const required = (state: CommitStatus["state"] | null, context = "lint") => [{ context, state }];

test.each<
  [what: string, checks: Partial<ChecksSummary>, statuses: CommitStatus[], code: number, said: string]
>([
  ["none", {}, [], 0, "No checks were reported for #3."],
  ["passed", { state: "success", total: 1, passed: 1 }, [status()], 0, ""],
  [
    "failed",
    { state: "failure", total: 1, failed: 1 },
    [status({ state: "error" })],
    1,
    "1 check of #3 failed.",
  ],
  [
    "pending",
    { state: "pending", total: 1, pending: 1 },
    [status({ state: "pending" })],
    1,
    "#3 waits for 1 check.",
  ],
  [
    "required",
    { state: "pending", total: 1, passed: 1, required: required(null) },
    [status()],
    1,
    "#3 waits for 1 check.",
  ],
])("cr checks of a change request: %s", async (_, checks, statuses, code, said) => {
  answerWith(checks, statuses);
  const ran = await run(["cr", "checks", "3"]);
  expect(ran.code).toBe(code);
  expect(ran.stderr).toContain(said);
  const missing = (checks.required ?? []).filter(({ state }) => state === null);
  expect(
    ran.stdout
      .split("\n")
      .filter(Boolean)
      .map((row) => row.split("\t").slice(0, 2)),
  ).toEqual([
    ...statuses.map(({ state, context }) => [state, context]),
    ...missing.map(({ context }) => ["expected", context]),
  ]);
});

test("cr checks --watch waits until none is pending", async () => {
  let reads = 0;
  const summary = (): ChecksSummary => ({
    ...{ total: 1, failed: 0, required: [] },
    ...(++reads < 2
      ? { state: "pending", pending: 1, passed: 0 }
      : { state: "success", pending: 0, passed: 1 }),
  });
  answerWith({}, [status()]);
  api.on(onCr, () => ({ change_request: changeRequest({ checks: summary() }) }));
  const ran = await run(["cr", "checks", "3", "--watch"]);
  expect([ran.code, ran.stdout.split("\t").slice(0, 2)]).toEqual([0, ["success", "test"]]);
  expect(ran.stderr).toContain("Waiting for 1 check.");
  expect(reads).toBe(2);
});

test("cr show has the checks in one line", async () => {
  answerWith({ state: "failure", total: 3, passed: 1, failed: 1, pending: 1, required: required(null) }, []);
  const ran = await run(["cr", "show", "3"]);
  expect(ran.stdout).toContain("checks\t1 of 4 passed, 1 failed, 1 pending, 1 required not reported\n");
});

test("checks report sends the state of the commit that is checked out, or of the given one", async () => {
  const folder = mkdtempSync(join(tmpdir(), "svc-checks-"));
  try {
    const git = (...args: string[]) => {
      const { exitCode, stdout } = Bun.spawnSync(["git", ...args], { cwd: folder });
      expect(exitCode).toBe(0);
      return stdout.toString().trim();
    };
    git("init", "--quiet");
    const who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"];
    git(...who, "commit", "--quiet", "--allow-empty", "-m", "First");
    const head = git("rev-parse", "HEAD");
    const ran = await run(["checks", "report", "ci / test", "failure", "--url", "https://ci.example.com/7"], {
      cwd: folder,
    });
    expect([ran.code, ran.stdout]).toEqual([0, `Reported ci / test as failure for ${head.slice(0, 10)}.\n`]);
    expect(api.seen.at(-1)).toMatchObject({
      path: expect.stringContaining(`/statuses/${head}`),
      body: { state: "failure", context: "ci / test", target_url: "https://ci.example.com/7" },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
  const given = await run(["checks", "report", "test", "success", "--sha", SHA.toUpperCase()]);
  expect(given.code).toBe(0);
  expect(api.seen.at(-1)?.path).toEndWith(`/statuses/${SHA}`);
  for (const bad of ["main", "HEAD", "--all", SHA.slice(1)])
    expect((await run(["checks", "report", "test", "success", `--sha=${bad}`])).code).toBe(2);
  expect((await run(["checks", "report", "test", "passed"])).code).toBe(2);
});

test("checks ls lists those of a commit, with control characters escaped", async () => {
  answerWith({}, [status({ context: "a\u001b[31mb", description: "x\ty", state: "pending" })]);
  const ran = await run(["checks", "ls", SHA]);
  expect(ran.stdout).not.toContain("\u001b");
  expect(ran.stdout.split("\t")[0]).toBe("pending");
  answerWith({}, []);
  expect((await run(["checks", "ls", SHA])).stderr).toBe(
    `No checks were reported for ${SHA.slice(0, 10)}.\n`,
  );
});

const onLog = "GET /projects/:p/checks/:c/log";

test("cr checks --log prints the log of a check that svc runs, and fails with it", async () => {
  const ran = await run(["cr", "checks", "3", "--log", "test"]);
  expect([ran.code, ran.stdout.split("\t").slice(1)]).toEqual([0, ["check", "80 passed\n"]]);
  expect(ran.stderr).toContain("test is success: Passed after 3 s.");
  api.on(onLog, () => ({
    check: check({ state: "failure", description: "Exit status 1\u001b[2J" }),
    lines: [{ at: null, source: "check", text: "\u001b]0;x\u0007\u001b[31mred" }],
    truncated: true,
  }));
  const failed = await run(["cr", "checks", "3", "--log", "test"]);
  expect(failed.code).toBe(1);
  expect(failed.stdout + failed.stderr).not.toMatch(/[\u001b\u0007]/);
  expect(failed.stderr).toContain("This is the end of a longer log.");
  const unknown = await run(["cr", "checks", "3", "--log", "lint"]);
  expect([unknown.code, unknown.stderr.includes("Those that svc runs: test")]).toEqual([1, true]);
  expect((await run(["cr", "checks", "3", "--log", "test", "--json"])).code).toBe(2);
});

test("cr checks --log --watch prints each line once, until the check has ended", async () => {
  const line = (text: string) => ({ at: null, source: "check", text });
  let reads = 0;
  api.on(onLog, () => ({
    check: check({ state: ++reads < 3 ? "running" : "success" }),
    lines: ["same", "same", "later"].slice(0, reads).map(line),
    truncated: false,
  }));
  const ran = await run(["cr", "checks", "3", "--log", "test", "--watch"]);
  expect(ran.code).toBe(0);
  expect(ran.stdout.split("\n").map((row) => row.split("\t")[2])).toEqual([
    "same",
    "same",
    "later",
    undefined,
  ]);
});

test("cr checks --log prints the output of a check run, waits for it, and fails with it", async () => {
  const output = { title: "2\u001b[2J", summary: "**Two**\u001b[31m", text: null };
  const made = (change: Partial<CheckRun>) =>
    checkRun({ output: { ...checkRun().output, ...output }, ...change });
  let reads = 0;
  let conclusion: CheckRun["conclusion"] = "failure";
  api.on("GET /projects/:p/commits/:n/check-runs", () => ({
    total_count: 1,
    check_runs: [++reads < 2 ? made({}) : made({ status: "completed", conclusion })],
  }));
  const note = {
    path: "a\u001b.ts",
    start_line: 3,
    annotation_level: "failure",
    title: "t",
    message: "m\nn",
  };
  api.on("GET /projects/:p/check-runs/:n/annotations", () => [note, { ...note, title: null, start_line: 4 }]);
  const failed = await run(["cr", "checks", "3", "--log", "lint", "--watch"]);
  expect(reads).toBe(2);
  expect([failed.code, failed.stdout]).toEqual([
    1,
    "**Two**\\x1b[31m\n\na\\x1b.ts:3: failure: t: m\nn\na\\x1b.ts:4: failure: m\nn\n",
  ]);
  expect(failed.stderr).toContain("lint is failure: 2\\x1b[2J");
  conclusion = "skipped";
  const passed = await run(["cr", "checks", "3", "--log", "lint"]);
  expect([passed.code, passed.stderr.includes("lint is skipped")]).toEqual([0, true]);
});

test("cr checks --rerun runs one again, and --send sends those that failed", async () => {
  answerWith({ state: "pending", total: 1, pending: 1 }, [status({ state: "pending" })]);
  const again = await run(["cr", "checks", "3", "--rerun", "test"]);
  expect([again.code, again.stdout.split("\t").slice(0, 2)]).toEqual([1, ["pending", "test"]]);
  expect(again.stderr).toContain("test is queued (attempt 2).");
  expect(api.seen.find(({ path }) => path.endsWith("/checks/rerun"))?.body).toEqual({ name: "test" });
  const sent = await run(["cr", "checks", "3", "--send"]);
  expect([sent.code, sent.stdout]).toEqual([
    0,
    "Sent the failed checks to the session 77777777-7777-4777-8777-000000000001.\n",
  ]);
  expect((await run(["cr", "checks", "3", "--send", "--rerun", "test"])).code).toBe(2);
});
