import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { hasFailed, type RunOptions, runBatch } from "../../../scripts/test/job.ts";
import type { TestFile } from "../../../scripts/test/plan.ts";
import { failureText, reportText } from "../../../scripts/test/report.ts";
import { sample } from "../../helpers/random.ts";

const HELPERS = join(import.meta.dir, "../../helpers");
const NOTHING = {
  ...{ binaries: false, agent: false, programs: [] },
  ...{ postgres: false, docker: false, browser: false },
};

/** Runs files of tests in one process, as the test command does. */
async function runFiles(texts: Record<string, string>, options: Partial<RunOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "svc-job-"));
  try {
    const skips = join(folder, "skips");
    writeFileSync(skips, "");
    const files = Object.entries(texts).map(([name, text]): TestFile => {
      const path = join(folder, basename(name));
      writeFileSync(path, text);
      return { kind: "file", name, path, binaries: false, needs: NOTHING, seconds: 0 };
    });
    const asked = { folder, seed: 7, env: { SVC_TEST_SKIPS: skips }, ...options };
    const results = await runBatch({ kind: "files", files }, asked);
    return { results, recorded: readFileSync(skips, "utf8"), report: reportText(results, skips) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runFile(text: string, options: Partial<RunOptions> = {}) {
  const { results, ...rest } = await runFiles({ "a.test.ts": text }, options);
  return { result: results[0] ?? expect.unreachable(), ...rest };
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

test("counts a file's tests, names missing requirements, and prints a command that repeats each failure", async () => {
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
    "skipped, requires a moon: 1",
    "  walks on it",
    "to repeat what failed:",
    again,
    "4 passed, 1 failed, 1 skipped",
    "",
  ]);
});

test("runs and counts only the tests with a matching name", async () => {
  const { result } = await runFile(MIXED, { only: "it's wrong [1]" });
  expect(result).toMatchObject({ passed: 0, failed: ["it's wrong [1]"], skipped: [] });
});

test.each([
  [{ seed: 41 }, "drew 41 3"],
  [{ full: true }, "drew 7 9"],
  [{ full: true, runs: 5 }, "drew 7 5"],
])("a property uses the run's seed and number of runs: %p", async (options, line) => {
  expect((await runFile(MIXED, options)).result.output).toContain(line);
});

test.each(
  sample<[string, string]>(2, [
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
  ]),
)("a file that %s has failed", async (_, text) => {
  const { result, report } = await runFile(text);
  expect(hasFailed(result)).toBe(true);
  expect(report).toMatch(/\n {2}npm test -- --seed 7 (?:--only \S+ )?a\.test\.ts\n\d passed, 1 failed\n$/);
});

test.each([
  ["test/git/refs.test.ts", "-1"],
  ["test/git/log.test.ts", "7"],
])("a process keeps the memory that it freed, unless its file measures memory: %s", async (name, delay) => {
  const text = `
    import { test } from "bun:test";
    test("says it", () => console.log("delay:", process.env.MIMALLOC_PURGE_DELAY));
  `;
  const { results } = await runFiles({ [name]: text }, { env: { MIMALLOC_PURGE_DELAY: "7" } });
  expect(results[0]?.output).toContain(`delay: ${delay}\n`);
});

const FINE = `import { test } from "bun:test"; test("fine", () => console.log("said by", import.meta.file));`;
const FAILS = `import { test } from "bun:test"; test("wrong", () => { throw new Error("it is wrong"); });`;

test("files that share a process have separate results, output, durations and commands", async () => {
  const texts = { "a.test.ts": FINE, "b.test.ts": FAILS, "c.test.ts": FINE };
  const { results, report } = await runFiles(texts);
  expect(results.map(({ job, passed, failed, broken }) => [job.name, passed, failed, broken])).toEqual([
    ["a.test.ts", 1, [], false],
    ["b.test.ts", 0, ["wrong"], false],
    ["c.test.ts", 1, [], false],
  ]);
  const [a, b, c] = results.map(({ output }) => output);
  expect(a).toContain("said by a.test.ts");
  expect(b).toContain("it is wrong");
  expect(b).not.toContain("said by");
  expect(c).toContain("said by c.test.ts");
  expect(results.every(({ seconds }) => seconds < 30)).toBe(true);
  expect(report).toEndWith("npm test -- --seed 7 --only wrong b.test.ts\n2 passed, 1 failed\n");
});

test("a file has the processor time of its process and of its children, but not the time that it waited", async () => {
  const burn = "for (const end = performance.now() + 300; performance.now() < end; );";
  const works = `import { test } from "bun:test"; test("works", () => {
    Bun.spawnSync([process.execPath, "-e", ${JSON.stringify(burn)}]);
    ${burn}
  });`;
  const waits = `import { test } from "bun:test"; test("waits", () => Bun.sleep(1_000));`;
  const [[alone], shared] = await Promise.all([
    runFiles({ "a.test.ts": waits }).then(({ results }) => results),
    runFiles({ "a.test.ts": works, "b.test.ts": FINE }).then(({ results }) => results),
  ]);
  expect(alone?.cpuSeconds).toBeGreaterThan(0);
  expect(alone?.cpuSeconds).toBeLessThan(alone?.seconds ?? 0);
  expect(shared.map(({ cpuSeconds }) => cpuSeconds > 0)).toEqual([true, true]);
  expect(shared[0]?.cpuSeconds).toBeGreaterThan(shared[1]?.cpuSeconds ?? 0);
});

test("the report lists the files with the most processor time, if there are many", async () => {
  const { results } = await runFiles({ "a.test.ts": FINE });
  const [one] = results;
  if (!one) return expect.unreachable();
  const many = Array.from({ length: 11 }, (_, index) => ({
    ...one,
    job: { ...one.job, name: `f${index}` },
    cpuSeconds: index,
    seconds: 20 - index,
  }));
  const lines = reportText(many, "/nowhere").split("\n");
  expect(lines[0]).toBe("55 s of processor time; the files with the most, and how long they took:");
  expect(lines[1]).toBe("    10.0 s    10.0 s  f10");
  expect(lines.slice(1, 11).map((line) => line.split("  ").at(-1))).not.toContain("f0");
});

test("the default timeout is the same in each file of a process", async () => {
  const late = `import { test } from "bun:test"; test("late", () => Bun.sleep(60_000));`;
  const { results } = await runFiles({ "a.test.ts": late, "b.test.ts": late }, { testLimitMs: 50 });
  for (const { output } of results) expect(output).toContain("timed out after 50ms");
  expect(results.map(({ failed }) => failed)).toEqual([["late"], ["late"]]);
});

test.each(
  sample<[string, string, string]>(2, [
    ["does not load", `import "./nowhere.ts";`, "b"],
    ["ends its process", `import { test } from "bun:test"; test("x", () => process.exit(0));`, "a b c"],
    ["kills its process", `process.kill(process.pid, "SIGKILL");`, "a b c"],
    ["sets a status", `import { test } from "bun:test"; test("x", () => void (process.exitCode = 3));`, "c"],
    [
      "fails in a hook",
      `import { afterAll, test } from "bun:test"; afterAll(() => { throw 1; }); test("x", () => {});`,
      "b",
    ],
  ]),
)("a file that %s has failed, and is named, among files that share its process", async (_, text, blamed) => {
  const { results } = await runFiles({ "a.test.ts": FINE, "b.test.ts": text, "c.test.ts": FINE });
  expect(
    results
      .filter(hasFailed)
      .map(({ job }) => job.name[0])
      .join(" "),
  ).toBe(blamed);
});
