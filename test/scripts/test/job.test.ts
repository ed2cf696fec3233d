import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunOptions, runJob } from "../../../scripts/test/job.ts";
import type { TestFile } from "../../../scripts/test/plan.ts";
import { failureText, hasFailed, reportText } from "../../../scripts/test/report.ts";

const HELPERS = join(import.meta.dir, "../../helpers");
const NOTHING = { binaries: false, postgres: false, docker: false, browser: false };

/** Runs a file of tests as the test command does. */
async function runFile(text: string, options: Partial<RunOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "svc-job-"));
  try {
    const path = join(folder, "a.test.ts");
    const skips = join(folder, "skips");
    writeFileSync(path, text);
    writeFileSync(skips, "");
    const job: TestFile = {
      kind: "file",
      name: "a.test.ts",
      path,
      binaries: false,
      needs: NOTHING,
      seconds: 0,
    };
    const result = await runJob(job, { folder, seed: 7, env: { SVC_TEST_SKIPS: skips }, ...options });
    return { result, recorded: readFileSync(skips, "utf8"), report: reportText([result], skips) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const MIXED = `
  import { expect, test } from "bun:test";
  import { needs } from ${JSON.stringify(join(HELPERS, "needs.ts"))};
  import { SEED, share } from ${JSON.stringify(join(HELPERS, "random.ts"))};
  test("fine", () => {});
  test("it's wrong [1]", () => expect(1).toBe(2));
  test("it's wrong", () => {});
  test("draws", () => console.log("drew", SEED, share(3, 9)));
  needs("a moon", false)("walks on it", () => { throw new Error("ran"); });
  needs("an earth", true)("walks on it too", () => {});
`;

test("a file's tests are counted, what is missing is named, and each failure has a command that repeats it", async () => {
  const { result, recorded, report } = await runFile(MIXED);
  expect(result).toMatchObject({
    passed: 4,
    failed: ["it's wrong [1]"],
    skipped: ["walks on it"],
    broken: false,
  });
  expect(JSON.parse(recorded)).toEqual({ name: "a moon", title: "walks on it" });
  const again = `  npm test -- --seed 7 --only 'it'\\''s wrong [1]' a.test.ts`;
  expect(failureText(result)).toEndWith(again);
  expect(failureText(result)).not.toContain("(pass)");
  expect(report.split("\n")).toEqual([
    "skipped, for want of a moon: 1",
    "  walks on it",
    "to repeat what failed:",
    again,
    "4 passed, 1 failed, 1 skipped",
    "",
  ]);
});

test("only the tests with a name run, and no others count", async () => {
  const { result } = await runFile(MIXED, { only: "it's wrong [1]" });
  expect(result).toMatchObject({ passed: 0, failed: ["it's wrong [1]"], skipped: [] });
});

test.each([
  [{ seed: 41 }, "drew 41 3"],
  [{ full: true }, "drew 7 9"],
  [{ full: true, runs: 5 }, "drew 7 5"],
])("a property draws from the run's seed, as often as is asked for: %p", async (options, line) => {
  expect((await runFile(MIXED, options)).result.output).toContain(line);
});

test.each([
  ["does not load", `import "./nowhere.ts";`],
  [
    "ends its process",
    `import { test } from "bun:test"; test("x", () => process.exit(0)); test("y", () => {});`,
  ],
  [
    "kills its process",
    `import { test } from "bun:test"; test("x", () => process.kill(process.pid, "SIGKILL"));`,
  ],
  [
    "fails in a hook",
    `import { afterAll, test } from "bun:test"; afterAll(() => { throw 1; }); test("x", () => {});`,
  ],
])("a file that %s has failed", async (_, text) => {
  const { result, report } = await runFile(text);
  expect(hasFailed(result)).toBe(true);
  expect(report).toMatch(/\n {2}npm test -- --seed 7 (?:--only \S+ )?a\.test\.ts\n\d passed, 1 failed\n$/);
});
