import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runJob } from "../../scripts/test-job.ts";
import { goTogether, planTests, runsAlone } from "../../scripts/test-plan.ts";

const HELPER = join(import.meta.dir, "../helpers/needs.ts");

/** Runs a file of tests as the test command does. */
async function runFile(text: string) {
  const folder = mkdtempSync(join(tmpdir(), "svc-job-"));
  try {
    const path = join(folder, "a.test.ts");
    const skips = join(folder, "skips");
    writeFileSync(path, text);
    writeFileSync(skips, "");
    const job = { kind: "file", name: "a", path, binaries: false } as const;
    const { passed, failed, skipped, output } = await runJob(job, folder, { SVC_TEST_SKIPS: skips });
    return { passed, failed, skipped, output, recorded: readFileSync(skips, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("a file's passed, failed and skipped tests are counted, and what is missing is recorded by name", async () => {
  const ran = await runFile(`
    import { expect, test } from "bun:test";
    import { needs } from ${JSON.stringify(HELPER)};
    test("fine", () => {});
    test("wrong", () => expect(1).toBe(2));
    needs("a moon", false)("walks on it", () => { throw new Error("ran"); });
    needs("an earth", true)("walks on it too", () => {});
  `);
  expect(ran).toMatchObject({ passed: 2, failed: 1, skipped: ["walks on it"] });
  expect(JSON.parse(ran.recorded)).toEqual({ name: "a moon", title: "walks on it" });
});

for (const [name, text] of [
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
] as const) {
  test(`a file that ${name} has failed`, async () => {
    expect((await runFile(text)).failed).toBeGreaterThan(0);
  });
}

test("the suites that hold a bound in seconds have the machine to themselves", () => {
  const alone = planTests(["test/"])
    .filter(runsAlone)
    .map(({ name }) => name);
  expect(alone.toSorted()).toEqual([
    "test/api/hostile-repository.test.ts",
    "test/api/hostile-repository.test.ts (binaries)",
    "test/dashboard/budget-diff.test.ts",
    "test/dashboard/budget.test.ts",
    "test/e2e/load.test.ts (binaries)",
    "test/git/hostile.test.ts",
  ]);
});

test("nothing runs beside a browser that has it drop what it is loading", () => {
  const jobs = planTests(["test/"]);
  const job = (name: string) => jobs.find((job) => job.name.startsWith(name)) ?? expect.unreachable();
  const [engine, page, other] = [job("test/sandboxes/docker/"), job("test/dashboard/"), job("test/git/")];
  const chat = job("test/e2e/dashboard-chat");
  const pairs = [
    [engine, page, false],
    [chat, engine, false],
    [engine, engine, true],
    [page, chat, true],
    [engine, other, true],
    [other, page, true],
  ] as const;
  for (const [one, two, may] of pairs)
    expect([one.name, two.name, goTogether(one, two)]).toEqual([one.name, two.name, may]);
});

test("the suites of the API and the CLI run twice, those about one kind of program once", () => {
  const names = planTests(["test/"]).map(({ name }) => name);
  const runs = (folder: string) =>
    new Set(names.filter((name) => name.startsWith(folder)).map((name) => name.endsWith(" (binaries)")));
  expect(runs("test/api/auth")).toEqual(new Set([true, false]));
  expect(runs("test/cli/sessions")).toEqual(new Set([true, false]));
  expect(runs("test/cli/table")).toEqual(new Set([false]));
  expect(runs("test/git/")).toEqual(new Set([false]));
  expect(runs("test/e2e/")).toEqual(new Set([true]));
  expect(runs("test/daemon/opencode")).toEqual(new Set([true]));
  expect(new Set(names).size).toBe(names.length);
});
