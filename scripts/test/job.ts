import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../binaries.ts";
import { type FileReport, readJunit, type TestCounts } from "./junit.ts";
import { TEST_LIMIT_MS } from "./limit.ts";
import { type Batch, hasOwnProcess, type Job, type TestFile } from "./plan.ts";

/**
 * Time limit of a process; with `--full`, of hours. Each test has a limit of its own (`TEST_LIMIT_MS`), so this one ends only a
 * process that no longer runs tests, even on a machine that is five times slower than usual.
 */
const PROCESS_LIMIT_MS = { usual: 60 * 60_000, full: 6 * 3_600_000 };
/** Children of a test process are killed this long after it exits. */
const GRACE_MS = 5_000;
/** The marker of bun for errors outside of tests. */
const BETWEEN_TESTS = "# Unhandled error between tests";
/**
 * Memory that was freed is used again instead of returned to the system: half of the page faults of a test process. Suites that
 * measure memory go without: they would not see a buffer that fits into what was freed before.
 */
const KEEP_MEMORY = { MIMALLOC_PURGE_DELAY: "-1" };
const NOTHING: TestCounts = { passed: 0, failed: [], skipped: [] };

/** The context of a job. */
export interface RunOptions {
  /** The folder for its report and its temporary files. */
  folder: string;
  seed: number;
  /** A substring of the names of tests to run. */
  only?: string | null;
  full?: boolean;
  runs?: number | null;
  /** The default time limit of a test. */
  testLimitMs?: number;
  /** Added to the environment of this process. */
  env?: Record<string, string>;
}

export interface JobResult extends TestCounts {
  job: Job;
  seed: number;
  /** Failures outside of tests: the file did not load, a hook threw, the process was killed. */
  broken: boolean;
  /** The output of the process, stdout and stderr in order. */
  output: string;
  seconds: number;
  /** Processor time, which hardly depends on what else the machine does. */
  cpuSeconds: number;
}

/** Runs a check, or files of tests one after the other, in one process. */
export async function runBatch(batch: Batch, options: RunOptions): Promise<JobResult[]> {
  const { folder, seed, full = false } = options;
  const begun = performance.now();
  const report = join(folder, `${crypto.randomUUID()}.xml`);
  const { code, output, cpuSeconds } = await execute(
    batch.kind === "check" ? batch.check.command : command(batch.files, report, options),
    full ? PROCESS_LIMIT_MS.full : PROCESS_LIMIT_MS.usual,
    environment(batch, options),
  );
  const seconds = (performance.now() - begun) / 1000;
  if (batch.kind === "files")
    return readResults(batch.files, report, { code, output, seconds, cpuSeconds }, options);
  const { check: job } = batch;
  const passed = Number(code === 0);
  return [{ ...NOTHING, passed, broken: code !== 0, job, seed, output, seconds, cpuSeconds }];
}

function environment(
  batch: Batch,
  { folder, seed, full, runs, testLimitMs = TEST_LIMIT_MS, env }: RunOptions,
) {
  return {
    ...process.env,
    ...env,
    TMPDIR: folder,
    SVC_TEST_SEED: String(seed),
    SVC_TEST_LIMIT_MS: String(testLimitMs),
    ...(full ? { SVC_TEST_FULL: "1" } : {}),
    ...(runs ? { SVC_TEST_RUNS: String(runs) } : {}),
    ...(batch.kind === "files" && batch.files.some(({ binaries }) => binaries) ? { SVC_TEST_DIST: "1" } : {}),
    ...(batch.kind === "files" && !batch.files.some(hasOwnProcess) ? KEEP_MEMORY : {}),
  };
}

interface Ran {
  code: number;
  output: string;
  seconds: number;
  cpuSeconds: number;
}

/** Failures outside of tests: a crash, a failed import, a failed hook, an exit without a report. */
function readResults(
  files: readonly TestFile[],
  report: string,
  { code, output, seconds, cpuSeconds }: Ran,
  { seed, only }: RunOptions,
): JobResult[] {
  const reports = existsSync(report) ? readReport(report) : null;
  const texts = splitByFile(files, output);
  const measured = files.map(({ path }) => reports?.get(resolve(ROOT, path))?.seconds ?? 0);
  const inAll = measured.reduce((sum, each) => sum + each, 0);
  const results = files.map((job, index): JobResult => {
    const { seconds: ownSeconds, ...counts } = reports?.get(resolve(ROOT, job.path)) ?? {
      ...NOTHING,
      seconds: null,
    };
    const text = texts[index] ?? "";
    const isTold = ownSeconds !== null && !text.includes(BETWEEN_TESTS);
    return {
      ...counts,
      // tests that were not selected
      skipped: only ? [] : counts.skipped,
      job,
      seed,
      broken: counts.failed.length === 0 && (reports === null || (code !== 0 && !isTold)),
      output: text,
      seconds: files.length > 1 && ownSeconds !== null ? ownSeconds : seconds,
      // the time of the process, divided by how long each file took
      cpuSeconds: inAll > 0 ? (cpuSeconds * (measured[index] ?? 0)) / inAll : cpuSeconds / files.length,
    };
  });
  if (code === 0 || results.some(hasFailed)) return results;
  // the file that caused it is unknown: report it for the last one
  return results.map((result, index) =>
    index === results.length - 1 ? { ...result, broken: true, output } : result,
  );
}

/** By the absolute path of a file: bun prints paths relative to its working directory. */
function readReport(path: string): Map<string, FileReport> {
  return new Map([...readJunit(readFileSync(path, "utf8"))].map(([file, of]) => [resolve(ROOT, file), of]));
}

export function hasFailed({ failed, broken }: JobResult): boolean {
  return broken || failed.length > 0;
}

/** Splits the output of a process by file: bun prints the path of a file before its output. */
function splitByFile(files: readonly TestFile[], output: string): string[] {
  if (files.length === 1) return [output];
  const heads = files.map(({ path }) => `\n${relative(ROOT, resolve(ROOT, path))}:\n`);
  const begins = heads.map((head) => `\n${output}`.indexOf(head));
  return begins.map((begin) => {
    const end = Math.min(...begins.filter((other) => other > begin), output.length);
    return begin < 0 ? "(not run: the process had already exited)\n" : output.slice(begin, end);
  });
}

function command(
  files: readonly TestFile[],
  report: string,
  { only, testLimitMs = TEST_LIMIT_MS }: RunOptions,
): string[] {
  return [
    process.execPath,
    "test",
    "--no-orphans",
    `--timeout=${testLimitMs}`,
    // a file without selected tests has not failed
    ...(only ? [`--test-name-pattern=${asPattern(only)}`, "--pass-with-no-tests"] : []),
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    ...files.map(({ path }) => resolve(ROOT, path)),
  ];
}

/** A regular expression that matches this text. */
function asPattern(words: string): string {
  return words.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

/** The processor time is that of the process and of all children that were waited for. */
async function execute(command: string[], limitMs: number, env: Record<string, string | undefined>) {
  // one pipe for both streams keeps their order
  const child = Bun.spawn(["sh", "-c", 'exec "$@" 2>&1', "sh", ...command], {
    cwd: ROOT,
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  let late = false;
  const timers = [
    setTimeout(() => {
      late = true;
      child.kill("SIGTERM");
    }, limitMs),
    setTimeout(() => child.kill("SIGKILL"), limitMs + GRACE_MS),
  ];
  // wait for the exit, not for the end of the pipe, which a surviving child would keep open
  const text = new Response(child.stdout).text();
  const code = await child.exited;
  const held = Promise.withResolvers<string>();
  timers.push(setTimeout(() => held.resolve("(a process of this test is still running)\n"), GRACE_MS));
  const output = await Promise.race([text, held.promise]);
  for (const timer of timers) clearTimeout(timer);
  const cpuSeconds = Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1e6;
  return { code, output: late ? `${output}\nended after ${limitMs / 60_000} minutes\n` : output, cpuSeconds };
}
