import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync } from "node:fs";
import { availableParallelism, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { build } from "./build.ts";
import { startDockerEngine } from "./docker-engine.ts";
import { startPostgres } from "./postgres-server.ts";
import { type JobResult, runJob } from "./test-job.ts";
import { goTogether, type Job, planTests, runsAlone, usesDocker } from "./test-plan.ts";

/** An embedded database takes up to 1.1 GB while it is made, and a file may have two. */
const MEMORY_PER_JOB = 3 * 1024 ** 3;
const MAX_AT_ONCE = 4;
/** A file waits for about a third of its time, for what it has started or for a time to pass: another uses that. */
const JOBS_PER_CORE = 1.5;

const jobs = planTests(process.argv.slice(2));
if (jobs.length === 0) {
  process.stderr.write("no check and no test file has that in its name\n");
  process.exit(1);
}
/** All that tests write is in here, and goes with the run. Like /tmp it is open: sandboxes have users of their own. */
const folder = mkdtempSync(join(tmpdir(), "svc-test-"));
chmodSync(folder, 0o1777);
process.on("exit", () => spawnSync("rm", ["-rf", folder]));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(130));

await build();
const postgres = await startPostgres();
if ("missing" in postgres) process.stdout.write(`no real Postgres here: ${postgres.missing}\n`);
const docker = await dockerHost();
const skips = join(folder, "skips");
const env = {
  TMPDIR: folder,
  SVC_TEST_SKIPS: skips,
  TEST_DATABASE_URL: "url" in postgres ? postgres.url : "",
  TEST_DOCKER_HOST: docker.host,
};

const results: JobResult[] = [];
await work(
  jobs.filter((job) => !runsAlone(job)),
  atOnce(),
);
await work(jobs.filter(runsAlone), 1);
if ("url" in postgres) postgres.stop();
await docker.stop();
report();
// Not `process.exit`: it would cut off what a slow reader has not read yet.
process.exitCode = results.some(({ failed }) => failed > 0) ? 1 : 0;

/** An engine that was named is used as it is. */
async function dockerHost(): Promise<{ host: string; stop(): Promise<void> }> {
  const given = { host: process.env["TEST_DOCKER_HOST"] ?? "", stop: async () => {} };
  if (given.host !== "" || !jobs.some(usesDocker)) return given;
  const engine = await startDockerEngine();
  if ("host" in engine) return engine;
  process.stdout.write(`no Docker engine here: ${engine.missing}\n`);
  return given;
}

/** Runs jobs, so many at once: each as soon as there is room for it beside those that run. */
async function work(waiting: Job[], atOnce: number): Promise<void> {
  const running = new Map<Job, Promise<void>>();
  while (waiting.length + running.size > 0) {
    const next = waiting.findIndex((job) => [...running.keys()].every((other) => goTogether(job, other)));
    const [job] = running.size < atOnce && next >= 0 ? waiting.splice(next, 1) : [];
    if (job) {
      const end = run(job).finally(() => running.delete(job));
      running.set(job, end);
    } else await Promise.race(running.values());
  }
}

async function run(job: Job): Promise<void> {
  const result = await runJob(job, folder, env);
  results.push(result);
  const { passed, failed, skipped, seconds, output } = result;
  const counts = [`${passed} passed`, ...(failed ? [`${failed} FAILED`] : []), ...countOf(skipped)].join(
    ", ",
  );
  process.stdout.write(`${failed ? "FAIL" : "ok  "}  ${job.name}: ${counts} (${seconds.toFixed(1)} s)\n`);
  if (failed > 0) process.stdout.write(`${withoutPassed(output).replace(/^/gm, "      ")}\n`);
}

/** What a reader of a failure looks for: a log of CI may be cut, and the tests that passed say nothing. */
function withoutPassed(output: string): string {
  return output.replace(/^\(pass\) .*\n/gm, "").trim();
}

function countOf(skipped: string[]): string[] {
  return skipped.length > 0 ? [`${skipped.length} skipped`] : [];
}

function atOnce(): number {
  const byMemory = Math.floor(totalmem() / MEMORY_PER_JOB);
  return Math.max(1, Math.min(Math.ceil(availableParallelism() * JOBS_PER_CORE), byMemory, MAX_AT_ONCE));
}

/** What this machine lacks, by name, then the totals in the last line. */
function report(): void {
  const lines = existsSync(skips) ? readFileSync(skips, "utf8").trim().split("\n") : [];
  const named = lines.map((line): { name: string; title: string } => JSON.parse(line));
  for (const [name, tests] of Map.groupBy(named, ({ name }) => name)) {
    process.stdout.write(`skipped, for want of ${name}: ${tests.length}\n`);
    for (const { title } of tests ?? []) process.stdout.write(`  ${title}\n`);
  }
  const known = new Set(named.map(({ title }) => title));
  const others = results.flatMap(({ skipped }) => skipped).filter((title) => !known.has(title));
  if (others.length > 0) process.stdout.write(`skipped for other reasons: ${others.length}\n`);
  for (const title of others) process.stdout.write(`  ${title}\n`);

  const sum = (count: (result: JobResult) => number) =>
    results.reduce((total, result) => total + count(result), 0);
  const skipped = sum(({ skipped }) => skipped.length);
  const totals = [`${sum(({ passed }) => passed)} passed`, `${sum(({ failed }) => failed)} failed`];
  process.stdout.write(`${[...totals, ...(skipped > 0 ? [`${skipped} skipped`] : [])].join(", ")}\n`);
}
