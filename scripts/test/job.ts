import { existsSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { ROOT } from "../binaries.ts";
import { type FileReport, readJunit, type TestCounts } from "./junit.ts";
import type { Batch, Job, TestFile } from "./plan.ts";

/** For a test that sets no limit of its own: only a hang reaches it, on the slowest machine. */
export const TEST_LIMIT_MS = 180_000;

/** A file that takes longer hangs; the whole run has to end in minutes. Those in their whole length take hours. */
const FILE_LIMIT_MS = { usual: 20 * 60_000, full: 6 * 3_600_000 };
/** What is left of a test process's children after this long is killed. */
const GRACE_MS = 5_000;
/** How bun says that an error belongs to no test. */
const BETWEEN_TESTS = "# Unhandled error between tests";
const NOTHING: TestCounts = { passed: 0, failed: [], skipped: [] };

/** What a job is run with. */
export interface RunOptions {
  /** Takes its report, and all that it writes. */
  folder: string;
  seed: number;
  /** Only the tests with this in their names. */
  only?: string | null;
  full?: boolean;
  runs?: number | null;
  /** For a test that sets none of its own. */
  testLimitMs?: number;
  /** Added to this process's environment. */
  env?: Record<string, string>;
}

export interface JobResult extends TestCounts {
  job: Job;
  seed: number;
  /** What failed without being a test: the file did not load, a hook threw, the process was killed. */
  broken: boolean;
  /** What the process said, in the order in which it said it. */
  output: string;
  seconds: number;
}

/** Runs a check, or files of tests one after the other, in a process of their own. */
export async function runBatch(batch: Batch, options: RunOptions): Promise<JobResult[]> {
  const { folder, seed, only, full = false, runs, env = {} } = options;
  const begun = performance.now();
  const report = join(folder, `${crypto.randomUUID()}.xml`);
  const { code, output } = await execute(
    batch.kind === "check" ? batch.check.command : command(batch.files, report, options),
    full ? FILE_LIMIT_MS.full : FILE_LIMIT_MS.usual,
    {
      ...process.env,
      ...env,
      TMPDIR: folder,
      SVC_TEST_SEED: String(seed),
      ...(full ? { SVC_TEST_FULL: "1" } : {}),
      ...(runs ? { SVC_TEST_RUNS: String(runs) } : {}),
      ...(batch.kind === "files" && batch.files.some(({ binaries }) => binaries)
        ? { SVC_TEST_DIST: "1" }
        : {}),
    },
  );
  const seconds = (performance.now() - begun) / 1000;
  if (batch.kind === "check") {
    const passed = code === 0;
    return [{ ...NOTHING, passed: Number(passed), broken: !passed, job: batch.check, seed, output, seconds }];
  }
  const reports = existsSync(report) ? readReport(report) : null;
  const texts = textOfEach(batch.files, output);
  const results = batch.files.map((job, index): JobResult => {
    const of = reports?.get(resolve(ROOT, job.path));
    const text = texts[index] ?? "";
    // A crash, a failed import or a failed hook is no test case, and a failure all the same; so is an exit without report.
    const told = of !== undefined && !text.includes(BETWEEN_TESTS);
    return {
      passed: of?.passed ?? 0,
      failed: of?.failed ?? [],
      // tests that were not asked for
      skipped: only ? [] : (of?.skipped ?? []),
      job,
      seed,
      broken: !of?.failed.length && (reports === null || (code !== 0 && !told)),
      output: text,
      seconds: batch.files.length > 1 && of ? of.seconds : seconds,
    };
  });
  const last = results.at(-1);
  if (code !== 0 && last && !results.some(hasFailed)) Object.assign(last, { broken: true, output });
  return results;
}

/** By the absolute path of a file: bun names those in its working folder as seen from there. */
function readReport(path: string): Map<string, FileReport> {
  return new Map([...readJunit(readFileSync(path, "utf8"))].map(([file, of]) => [resolve(ROOT, file), of]));
}

export function hasFailed({ failed, broken }: JobResult): boolean {
  return broken || failed.length > 0;
}

/** What was said while each file ran: its path stands before it. */
function textOfEach(files: readonly TestFile[], output: string): string[] {
  if (files.length === 1) return [output];
  const heads = files.map(({ path }) => `\n${relative(ROOT, resolve(ROOT, path))}:\n`);
  const begins = heads.map((head) => `\n${output}`.indexOf(head));
  return begins.map((begin) => {
    const end = Math.min(...begins.filter((other) => other > begin), output.length);
    return begin < 0 ? "(it was not run: the process had ended)\n" : output.slice(begin, end);
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
    // a file of which nothing is asked for has not failed
    ...(only ? [`--test-name-pattern=${asPattern(only)}`, "--pass-with-no-tests"] : []),
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    ...files.map(({ path }) => resolve(ROOT, path)),
  ];
}

/** A regular expression that finds these words. */
function asPattern(words: string): string {
  return words.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}

async function execute(command: string[], limitMs: number, env: Record<string, string | undefined>) {
  // One pipe for both streams keeps their order.
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
  // A child that outlives it would hold the pipe open: its exit decides, not the pipe's end.
  const text = new Response(child.stdout).text();
  const code = await child.exited;
  const held = Promise.withResolvers<string>();
  timers.push(setTimeout(() => held.resolve("(a process of this test is still running)\n"), GRACE_MS));
  const output = await Promise.race([text, held.promise]);
  for (const timer of timers) clearTimeout(timer);
  return { code, output: late ? `${output}\nended after ${limitMs / 60_000} minutes\n` : output };
}
