import { expect, test } from "bun:test";
import { readArguments } from "../../../scripts/test/arguments.ts";
import { canOverlap, jobsOf, makeBatches, needs, planTests, runsAlone } from "../../../scripts/test/plan.ts";

const jobs = planTests([]);
const batch = (...some: typeof jobs) => makeBatches(some, 1)[0] ?? expect.unreachable();
const job = (name: string) => jobs.find((job) => job.name.startsWith(name)) ?? expect.unreachable();

test("suites that measure memory share no process; what compares response times runs with nothing beside it", () => {
  const files = jobs.filter((job) => job.kind === "file");
  const own = ["test/api/hostile-repository", "test/api/under-attack", "test/e2e/load", "test/git/hostile"];
  const batches = makeBatches(files, 1).map((one) => jobsOf(one).map(({ name }) => name));
  for (const part of own)
    expect(batches.find((names) => names.some((name) => name.startsWith(part)))).toHaveLength(1);
  expect(jobs.filter(runsAlone).map(({ name }) => name)).toEqual(["test/api/under-attack.test.ts"]);
});

test("nothing that aborts a browser's loading runs beside it", () => {
  const [engine, page, other] = [job("test/sandboxes/docker/"), job("test/dashboard/bud"), job("test/git/")];
  const [chat, offline] = [job("test/e2e/dashboard-chat"), job("test/e2e/agent-offline")];
  const pairs = [
    [engine, page, false],
    [chat, engine, false],
    [offline, chat, false],
    [engine, offline, true],
    [page, chat, true],
    [engine, other, true],
    [other, page, true],
  ] as const;
  for (const [one, two, may] of pairs)
    expect([one.name, two.name, canOverlap(batch(one), batch(two))]).toEqual([one.name, two.name, may]);
});

test("files of one kind share a process, and every job runs once", () => {
  const batches = makeBatches(jobs, 2).map(jobsOf);
  const names = batches.flatMap((batch) => batch.map(({ name }) => name));
  expect(names.toSorted()).toEqual(jobs.map(({ name }) => name).toSorted());
  const shared = batches.filter(({ length }) => length > 1);
  expect(shared.length).toBeGreaterThan(10);
  for (const files of shared) {
    expect(files.reduce((sum, { seconds }) => sum + seconds, 0)).toBeLessThanOrEqual(90);
    const kinds = files.map((file) => [
      file.kind === "file" && file.binaries,
      needs(file, "browser"),
      needs(file, "docker"),
      runsAlone(file),
    ]);
    const [kind] = kinds;
    expect(kinds).toEqual(
      kinds.map(() => [kind?.[0], kind?.[0] ? expect.any(Boolean) : kind?.[1], kind?.[2], false]),
    );
  }
  expect(batches.length).toBeLessThan(jobs.length / 2);
});

test("the programs of the tests are compiled for the files that start them, and for no others", () => {
  const programs = (name: string) => {
    const found = job(name);
    return found.kind === "file" ? found.needs.programs : null;
  };
  for (const name of ["test/faults/merge.", "test/faults/triggers."])
    expect(programs(name)).toEqual(["SVC_TEST_SERVER"]);
  expect(programs("test/faults/sessions.")).toEqual(
    expect.arrayContaining(["SVC_TEST_SERVER", "SVC_TEST_RUNTIME"]),
  );
  expect(programs("test/sandboxes/docker.")).toEqual(["SVC_TEST_RUNTIME", "SVC_TEST_SANDBOX"]);
  expect(programs("test/git/parity.")).toEqual([]);
});

test("the daemon is compiled for the files that start it, also through a helper, and for no others", () => {
  const names = [
    "test/daemon/control.",
    "test/acp/choice.",
    "test/faults/saved-killed.",
    "test/daemon/tree.",
  ];
  expect(names.map((name) => needs(job(name), "agent"))).toEqual([true, true, true, false]);
  expect(needs(job("test/daemon/control."), "binaries")).toBe(false);
});

test("files share a process only if every processor still has enough work", () => {
  const few = jobs.filter(({ name }) => name.startsWith("test/contract/"));
  expect(few.length).toBeGreaterThan(5);
  expect(makeBatches(few, 64).map(jobsOf)).toEqual(few.map((each) => [each]));
  expect(makeBatches(jobs, Number.POSITIVE_INFINITY)).toHaveLength(jobs.length);
});

test("detects a file's requirements from its imports", () => {
  const needed = (name: string) =>
    (["binaries", "postgres", "docker", "browser"] as const).filter((what) => needs(job(name), what));
  expect(needed("test/slug")).toEqual([]);
  expect(needed("test/jobs/gone")).toEqual(["postgres"]);
  expect(needed("test/dashboard/budget")).toContain("browser");
  expect(needed("test/sandboxes/docker/session")).toEqual(expect.arrayContaining(["binaries", "docker"]));
  expect(needed("test/e2e/readme")).toContain("binaries");
  expect(needs(job("types (tsc)"), "binaries")).toBe(false);
});

test("a suite runs once: from source or against the compiled binaries", () => {
  const runs = (name: string) => jobs.filter((job) => job.name.startsWith(name)).map(({ name }) => name);
  expect(runs("test/api/auth.")).toEqual(["test/api/auth.test.ts (binaries)"]);
  expect(runs("test/cli/table.")).toEqual(["test/cli/table.test.ts"]);
  expect(runs("test/e2e/start.")).toEqual(["test/e2e/start.test.ts (binaries)"]);
  const paths = jobs.flatMap((job) => (job.kind === "file" ? [job.path] : []));
  expect(new Set(paths).size).toBe(paths.length);
  const compiled = jobs.filter(({ name }) => name.endsWith(" (binaries)"));
  expect(compiled.length).toBeGreaterThanOrEqual(24);
});

test("files with a Docker engine run first, then the longest batches", () => {
  const engines = makeBatches(jobs, 2).map((each) => jobsOf(each).some((job) => needs(job, "docker")));
  expect(engines.toSorted((a, b) => Number(b) - Number(a))).toEqual(engines);
  expect(engines.filter(Boolean).length).toBeGreaterThan(2);
});

test("the longest file runs first", () => {
  expect(jobs.map(({ seconds }) => seconds)).toEqual(
    jobs.map(({ seconds }) => seconds).sort((a, b) => b - a),
  );
});

const NONE = {
  patterns: [],
  only: null,
  seed: null,
  repeat: 1,
  load: 0,
  full: false,
  runs: null,
  record: false,
};
test.each([
  [[], {}],
  [["merge", "biome"], { patterns: ["merge", "biome"] }],
  [["--seed", "0", "--only", "a b", "x"], { seed: 0, only: "a b", patterns: ["x"] }],
  [
    ["--repeat=50", "--load=2", "--full", "--runs", "9", "--record"],
    { repeat: 50, load: 2, full: true, runs: 9, record: true },
  ],
])("parses arguments %p as %p", (argv, wanted) => {
  expect(readArguments(argv)).toEqual({ ...NONE, ...wanted });
});

test.each(["--repeat 0", "--seed x", "--seed", "--only=", "--load -1", "--runs 1.5", "--nope"])(
  "rejects arguments %p",
  (line) => {
    expect(() => readArguments(line.split(" "))).toThrow(/--[a-z]+/.exec(line)?.[0]);
  },
);
