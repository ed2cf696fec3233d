import { availableParallelism, totalmem } from "node:os";
import { join } from "node:path";
import { exemptLoopback } from "../src/contract/proxy.ts";
import { AGENT, BINARIES, DIST } from "./binaries.ts";
import { build } from "./build.ts";
import { startDockerEngine } from "./docker-engine.ts";
import { startPostgres } from "./postgres-server.ts";
import { type Options, readArguments, USAGE } from "./test/arguments.ts";
import { makeRunFolder } from "./test/folder.ts";
import { hasFailed, type JobResult, type RunOptions, runBatch } from "./test/job.ts";
import { startLoad } from "./test/load.ts";
import {
  type Batch,
  canOverlap,
  type Job,
  jobsOf,
  makeBatches,
  needs,
  planTests,
  recordDurations,
  runsAlone,
} from "./test/plan.ts";
import { PROGRAMS } from "./test/programs.ts";
import { type Progress, showProgress } from "./test/progress.ts";
import { failureText, reportText } from "./test/report.ts";
import { seedOfCommit } from "./test/seed.ts";

/** A test file may start a browser or several servers. */
const MEMORY_PER_JOB = 3 * 1024 ** 3;
const MAX_AT_ONCE = 6;
/**
 * Disables the last JIT tier, which does not pay off in test processes that live for seconds: a run takes a fifth less CPU
 * time. It stays enabled for full runs.
 */
const WITHOUT_LAST_TIER = { BUN_JSC_useFTLJIT: "0", BUN_JSC_useOMGJIT: "0" };
/** More threads for one garbage collection only take turns with the other test processes: 4 % of the CPU time of a run. */
const ONE_GC_THREAD = { BUN_JSC_numberOfGCMarkers: "1" };
/** A test file waits for about half of its time, which other files can use. */
const JOBS_PER_CORE = 2.5;

// no `process.exit` after success: it would truncate the output for a slow reader
exemptLoopback(process.env);
try {
  const wanted = readArguments(process.argv.slice(2));
  if (wanted === "help") process.stdout.write(USAGE);
  else process.exitCode = await test(wanted);
} catch (error) {
  process.stderr.write(`npm test: ${error instanceof Error ? error.message : error}\n`);
  process.exit(2);
}

/** @returns the exit status */
async function test(wanted: Options): Promise<number> {
  const jobs = planTests(wanted.patterns);
  if (jobs.length === 0) throw new Error("no check or test file matches");
  const seed = wanted.seed ?? seedOfCommit();
  process.stdout.write(`seed ${seed}${wanted.full ? ", in full" : ""}\n`);
  const needed = (what: Parameters<typeof needs>[1]) => jobs.some((job) => needs(job, what));
  const programs = PROGRAMS.filter(({ variable }) =>
    jobs.some((job) => job.kind === "file" && job.needs.programs.includes(variable)),
  );
  const agent = needed("agent") ? AGENT : [];
  await build([...(needed("binaries") ? BINARIES : agent), ...programs]);
  const folder = await makeRunFolder((processes) =>
    process.stdout.write(`removed the folder and ${processes} processes of a killed run\n`),
  );
  const ends: (() => unknown)[] = [() => folder.remove()];
  const end = async () => {
    for (const each of ends.splice(0).reverse()) await each();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => void end().finally(() => process.exit(130)));
  try {
    // for the temporary files of this process and its helpers
    process.env["TMPDIR"] = folder.path;
    const skips = join(folder.path, "skips");
    const options = {
      ...wanted,
      folder: folder.path,
      seed,
      env: {
        SVC_TEST_SKIPS: skips,
        ...Object.fromEntries(agent.map(({ name }) => ["SVC_TEST_AGENT", join(DIST, name)])),
        ...Object.fromEntries(programs.map(({ name, variable }) => [variable, join(DIST, name)])),
        ...ONE_GC_THREAD,
        ...(!wanted.full && WITHOUT_LAST_TIER),
        ...(await shared(jobs, ends)),
      },
    };
    ends.push(startLoad(wanted.load).stop);
    const results = await runAll(jobs, options, wanted.repeat);
    if (wanted.record)
      recordDurations(results.map(({ job, cpuSeconds }) => ({ name: job.name, cpuSeconds })));
    process.stdout.write(reportText(results, skips));
    return results.some(hasFailed) ? 1 : 0;
  } finally {
    await end();
  }
}

/** Starts the servers that test files share, if a job needs them. @returns their environment variables */
async function shared(jobs: readonly Job[], ends: (() => unknown)[]): Promise<Record<string, string>> {
  const env: Record<string, string> = {};
  if (jobs.some((job) => needs(job, "postgres"))) {
    const postgres = await startPostgres();
    if ("missing" in postgres) process.stdout.write(`Postgres is not available: ${postgres.missing}\n`);
    else ends.push(postgres.stop);
    env["TEST_DATABASE_URL"] = "url" in postgres ? postgres.url : "";
  }
  // TEST_DOCKER_HOST names an existing engine
  if (jobs.some((job) => needs(job, "docker")) && !process.env["TEST_DOCKER_HOST"]) {
    const docker = await startDockerEngine();
    if ("missing" in docker) process.stdout.write(`Docker is not available: ${docker.missing}\n`);
    else ends.push(docker.stop);
    env["TEST_DOCKER_HOST"] = "host" in docker ? docker.host : "";
  }
  return env;
}

/** Runs all jobs, `repeat` times, each time with another seed. */
async function runAll(jobs: readonly Job[], options: RunOptions, repeat: number): Promise<JobResult[]> {
  const results: JobResult[] = [];
  const progress = showProgress(process.stdout, jobs.length * repeat);
  for (let round = 0; round < repeat; round++) {
    const inRound = { ...options, seed: options.seed + round };
    await work(
      inBatches(
        jobs.filter((job) => !runsAlone(job)),
        options,
      ),
      atOnce(),
      inRound,
      results,
      progress,
    );
    await work(inBatches(jobs.filter(runsAlone), options), 1, inRound, results, progress);
  }
  progress.end();
  return results;
}

/** With `--full` every file takes long, and runs in a separate process. */
function inBatches(jobs: readonly Job[], { full }: RunOptions): Batch[] {
  return makeBatches(jobs, full ? Number.POSITIVE_INFINITY : availableParallelism());
}

/** Runs batches, at most `atOnce` at a time: each as soon as it can run beside the others. */
async function work(
  waiting: Batch[],
  atOnce: number,
  options: RunOptions,
  results: JobResult[],
  progress: Progress,
): Promise<void> {
  const running = new Map<Batch, Promise<void>>();
  while (waiting.length + running.size > 0) {
    const next = waiting.findIndex((batch) => [...running.keys()].every((other) => canOverlap(batch, other)));
    const [batch] = running.size < atOnce && next >= 0 ? waiting.splice(next, 1) : [];
    if (batch) {
      const ended = runBatch(batch, options).then((ofBatch) => {
        running.delete(batch);
        results.push(...ofBatch);
        for (const result of ofBatch.filter(hasFailed)) progress.print(failureText(result));
      });
      running.set(batch, ended);
    } else await Promise.race(running.values());
    progress.show(
      [...running.keys()].flatMap((each) => jobsOf(each).map(({ name }) => name)),
      results.length,
      results.filter(hasFailed).length,
    );
  }
}

function atOnce(): number {
  const byMemory = Math.floor(totalmem() / MEMORY_PER_JOB);
  return Math.max(1, Math.min(Math.ceil(availableParallelism() * JOBS_PER_CORE), byMemory, MAX_AT_ONCE));
}
