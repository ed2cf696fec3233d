import { afterEach, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { maskOf, runCheck } from "../../daemon/app/check.ts";
import { createLog } from "../../daemon/log.ts";
import { createChildren } from "../../daemon/process/children.ts";
import { readSettings } from "../../daemon/settings.ts";
import { WAIT_LIMIT_MS } from "../../scripts/test/limit.ts";
import { allProcesses, killFound } from "../helpers/processes.ts";
import { leastEnvironment } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** Runs the command of a check. @returns its result, and what it has logged */
async function run(
  command: string,
  { timeoutMs = WAIT_LIMIT_MS, secrets = {} }: { timeoutMs?: number; secrets?: Record<string, string> } = {},
) {
  const folder = mkdtempSync(join(tmpdir(), "svc-check-"));
  folders.push(folder);
  for (const name of ["workspace", "home"]) mkdirSync(join(folder, name));
  const settings = readSettings(
    {
      ...leastEnvironment(),
      ...secrets,
      SVC_PROJECT_SECRET_NAMES: Object.keys(secrets).join(","),
      SVC_WORKSPACE: join(folder, "workspace"),
      SVC_RUNTIME_HOME: join(folder, "home"),
    },
    null,
  );
  const check = { name: "test", command, timeoutMs };
  const app = {
    ...{ slug: "test", commit: "0".repeat(40), rootPath: ".", build: null, run: null, output: null },
    ...{ healthPath: null, env: {}, buildSecrets: {}, check },
  };
  let written = "";
  const log = createLog((text, done) => {
    written += text;
    done();
  });
  const context = { settings, app, children: createChildren(), log };
  const result = await runCheck(context, check, new AbortController().signal);
  const lines = written.split("\n").map((line) => line.split(" ").slice(1).join(" "));
  return { result, lines, workspace: settings.workspace };
}

test.each([
  ["true", { exit_code: 0, signal: null, timed_out: false }],
  ["exit 3", { exit_code: 3, signal: null, timed_out: false }],
  ["kill -9 $$", { exit_code: null, signal: "SIGKILL", timed_out: false }],
  ["not-a-program", { exit_code: 127, signal: null, timed_out: false }],
])("the command %s ends with its result", async (command, expected) => {
  const { result } = await run(command);
  expect(result).toEqual({ ...expected, duration_ms: expect.any(Number) });
});

test("a command is killed at its time limit, with all that it has started", async () => {
  const { result, workspace } = await run("sleep 1000 & (sleep 1000 &) ; sleep 1000", { timeoutMs: 300 });
  expect(result).toMatchObject({ exit_code: null, timed_out: true });
  const left = () =>
    allProcesses().filter(({ environment }) => environment.some((each) => each === `PWD=${workspace}`));
  await until("nothing is left", () => left().length === 0);
});

test("a process that a command leaves behind does not keep it from ending", async () => {
  const { result, lines, workspace } = await run("sleep 1000 & echo begun");
  // in a sandbox the daemon adopts it and ends it; here it still has the output open
  for (const { pid, environment } of allProcesses())
    if (environment.some((each) => each === `PWD=${workspace}`)) killFound(pid, "SIGKILL");
  expect([result.exit_code, lines[0]]).toEqual([0, "check begun"]);
});

test("its environment has its secrets and CI, and nothing of svc's that grants access", async () => {
  const { lines } = await run("env; env | grep -c KEY_VALUE", { secrets: { KEY: "KEY_VALUE" } });
  const said = lines.join("\n");
  expect(lines).toContain("check CI=true");
  expect(lines).toContain("check SVC_CHECK_NAME=test");
  expect(lines).toContain("check KEY=***");
  expect(said.match(/\bSVC_\w+=/g)?.toSorted()).toEqual(["SVC_CHECK_COMMIT=", "SVC_CHECK_NAME="]);
});

test("every line of the output is logged until the command ends, and a limited number of them", async () => {
  const { lines } = await run(
    "echo out; echo err >&2; printf '\\033[1;31mred\\033[0m \\033]0;title\\007\\033[2Jend\\007 last'",
  );
  expect(lines).toContain("check out");
  expect(lines).toContain("check err");
  expect(lines).toContain("check red end  last");
  const many = await run("seq 1 30000");
  expect(many.lines).toContain("agent the check printed 20000 lines; the rest is dropped");
  expect(many.lines.filter((line) => line.startsWith("check "))).toHaveLength(20_000);
});

test("secrets are masked, also of several lines, and short words are not", () => {
  const mask = maskOf(["hunter22", "hunter22-and-more", "short", "first line\nsecond line"]);
  expect(mask("a hunter22-and-more b hunter22 short")).toBe("a *** b *** short");
  expect(mask("first line, second line")).toBe("***, ***");
});
