import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ROOT } from "./binaries.ts";
import { readJunit, type TestCounts } from "./junit.ts";
import type { Job, TestFile } from "./test-plan.ts";

/** A file that takes longer hangs; the whole run has to end in minutes. */
const FILE_LIMIT_MS = 10 * 60_000;
/** For a test that sets no limit of its own: a loaded machine is slow, and a hang is found all the same. */
const TEST_LIMIT_MS = 120_000;
/** What is left of a test process's children after this long is killed. */
const GRACE_MS = 5_000;

export interface JobResult extends TestCounts {
  /** What the process said, in the order in which it said it. */
  output: string;
  seconds: number;
}

/** Runs one job in a process of its own. `folder` takes its report; `env` is added to this process's. */
export async function runJob(job: Job, folder: string, env: Record<string, string>): Promise<JobResult> {
  const begun = performance.now();
  const report = join(folder, `${crypto.randomUUID()}.xml`);
  const { code, output } = await execute(job.kind === "check" ? job.command : command(job, report), {
    ...process.env,
    ...env,
    ...(job.kind === "file" && job.binaries ? { SVC_TEST_DIST: "1" } : {}),
  });
  const counts = existsSync(report)
    ? readJunit(readFileSync(report, "utf8"))
    : { passed: 0, failed: 0, skipped: [] };
  if (job.kind === "check" && code === 0) counts.passed = 1;
  // A crash, a failed import or a failed hook is no test case, and a failure all the same; so is an exit without report.
  const whole = job.kind === "check" || existsSync(report);
  if ((code !== 0 || !whole) && counts.failed === 0) counts.failed = 1;
  return { ...counts, output, seconds: (performance.now() - begun) / 1000 };
}

function command(job: TestFile, report: string): string[] {
  return [
    process.execPath,
    "test",
    "--no-orphans",
    `--timeout=${TEST_LIMIT_MS}`,
    "--reporter=junit",
    `--reporter-outfile=${report}`,
    resolve(ROOT, job.path),
  ];
}

async function execute(command: string[], env: Record<string, string | undefined>) {
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
    }, FILE_LIMIT_MS),
    setTimeout(() => child.kill("SIGKILL"), FILE_LIMIT_MS + GRACE_MS),
  ];
  // A child that outlives it would hold the pipe open: its exit decides, not the pipe's end.
  const text = new Response(child.stdout).text();
  const code = await child.exited;
  for (const timer of timers) clearTimeout(timer);
  const output = await Promise.race([
    text,
    Bun.sleep(GRACE_MS).then(() => "(a process of this test is still running)\n"),
  ]);
  return { code, output: late ? `${output}\nended after ${FILE_LIMIT_MS / 60_000} minutes\n` : output };
}
