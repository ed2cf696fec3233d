import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ROOT } from "../binaries.ts";
import { readJunit, type TestCounts } from "./junit.ts";
import type { Job, TestFile } from "./plan.ts";

/** A file that takes longer hangs; the whole run has to end in minutes. Those in their whole length take hours. */
const FILE_LIMIT_MS = { usual: 20 * 60_000, full: 6 * 3_600_000 };
/** What is left of a test process's children after this long is killed. */
const GRACE_MS = 5_000;

/** What a job is run with. */
export interface RunOptions {
  /** Takes its report, and all that it writes. */
  folder: string;
  seed: number;
  /** Only the tests with this in their names. */
  only?: string | null;
  full?: boolean;
  runs?: number | null;
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

/** Runs one job in a process of its own. */
export async function runJob(job: Job, options: RunOptions): Promise<JobResult> {
  const { folder, seed, only, full = false, runs, env = {} } = options;
  const begun = performance.now();
  const report = join(folder, `${crypto.randomUUID()}.xml`);
  const limitMs = full ? FILE_LIMIT_MS.full : FILE_LIMIT_MS.usual;
  const { code, output } = await execute(
    job.kind === "check" ? job.command : command(job, report, only),
    limitMs,
    {
      ...process.env,
      ...env,
      TMPDIR: folder,
      SVC_TEST_SEED: String(seed),
      ...(full ? { SVC_TEST_FULL: "1" } : {}),
      ...(runs ? { SVC_TEST_RUNS: String(runs) } : {}),
      ...(job.kind === "file" && job.binaries ? { SVC_TEST_DIST: "1" } : {}),
    },
  );
  const isReported = existsSync(report);
  const counts = isReported
    ? readJunit(readFileSync(report, "utf8"))
    : { passed: 0, failed: [], skipped: [] };
  if (job.kind === "check" && code === 0) counts.passed = 1;
  // tests that were not asked for
  if (only) counts.skipped = [];
  // A crash, a failed import or a failed hook is no test case, and a failure all the same; so is an exit without report.
  const broken = counts.failed.length === 0 && (code !== 0 || (job.kind === "file" && !isReported));
  return { ...counts, job, seed, broken, output, seconds: (performance.now() - begun) / 1000 };
}

function command(job: TestFile, report: string, only: string | null | undefined): string[] {
  return [
    process.execPath,
    "test",
    "--no-orphans",
    // a file of which nothing is asked for has not failed
    ...(only ? [`--test-name-pattern=${asPattern(only)}`, "--pass-with-no-tests"] : []),
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    resolve(ROOT, job.path),
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
