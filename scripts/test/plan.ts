import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { ROOT } from "../binaries.ts";
import { CHECKS } from "../checks.ts";
import { type Needs, needsOf } from "./needs.ts";

/** Suites that run against `dist/`: a compiled binary is not the same program. */
const BINARIES = [
  ...["auth", "git-clients", "git-http", "hostile-input", "listener", "server"].map(
    (name) => `test/api/${name}.`,
  ),
  ...["commands", "streams", "terminal"].map((name) => `test/cli/${name}.`),
  "test/daemon/entrypoint.",
  "test/sandboxes/docker/session.",
  "test/e2e/",
];

/**
 * Suites that fill memory or measure it, and one that reaps and ends processes as the daemon does: other files in their process
 * would distort the figures, or suffer.
 */
const OWN_PROCESS = [
  "test/daemon/app.",
  "test/api/hostile-repository",
  "test/api/under-attack",
  "test/e2e/load",
  "test/faults/push-wire",
  "test/git/blob",
  "test/git/diff.",
  "test/git/hostile",
  "test/git/log.",
  "test/splice/listen.",
];

/** Suites that compare response times, which other processes would distort. */
const ALONE = ["test/api/under-attack"];

/** A check, which counts as one test, or a test file. */
export type Job = Check | TestFile;
export interface Check {
  kind: "check";
  name: string;
  command: string[];
  seconds: number;
}
export interface TestFile {
  kind: "file";
  name: string;
  path: string;
  /** Whether it runs against `dist/`. */
  binaries: boolean;
  needs: Needs;
  /** The last stored processor time; an estimate for a new file. */
  seconds: number;
}

/** One process of the test run. */
export type Batch = { kind: "check"; check: Check } | { kind: "files"; files: readonly TestFile[] };

/**
 * Files share a process: loading svc and warming up costs 1 to 3 s of CPU time. A batch lasts at most this long; less if
 * batches of this size would leave processors idle.
 */
const BATCH_SECONDS = 90;
const BATCHES_PER_PROCESSOR = 10;

/**
 * Groups files into batches: those that run from source, those against the binaries, those with a browser, and those with a
 * Docker engine, of which each builds the images that it does not find.
 * @returns those with a Docker engine first, since they keep browsers waiting; then the longest first
 */
export function makeBatches(jobs: readonly Job[], processors: number): Batch[] {
  const total = jobs.reduce((sum, { seconds }) => sum + seconds, 0);
  const most = Math.min(BATCH_SECONDS, total / processors / BATCHES_PER_PROCESSOR);
  const batches: { batch: Batch; seconds: number }[] = [];
  const groups = new Map<string, TestFile[]>();
  for (const job of jobs) {
    if (job.kind === "check") batches.push({ batch: { kind: "check", check: job }, seconds: job.seconds });
    else {
      const group = groupOf(job);
      groups.set(group, [...(groups.get(group) ?? []), job]);
    }
  }
  for (const files of groups.values()) batches.push(...packed(files, most));
  const usesDocker = ({ batch }: (typeof batches)[number]) =>
    Number(jobsOf(batch).some((job) => needs(job, "docker")));
  return batches
    .sort((a, b) => usesDocker(b) - usesDocker(a) || b.seconds - a.seconds)
    .map(({ batch }) => batch);
}

/**
 * Files of one group may share a process; a file that is alone in its group has its own. Those with an engine run one after
 * the other, so that an image of 350 MB is built once.
 */
function groupOf(job: TestFile): string {
  if (hasOwnProcess(job)) return job.name;
  if (job.needs.docker) return job.binaries ? job.name : "docker";
  if (job.binaries) return "binaries";
  return job.needs.browser ? "browser" : "source";
}

/** Whether a file shares its process with no other. */
export function hasOwnProcess({ name }: TestFile): boolean {
  return OWN_PROCESS.some((part) => name.startsWith(part));
}

/** Fills each batch with the longest file that is left, then with the shortest. */
function packed(files: readonly TestFile[], most: number): { batch: Batch; seconds: number }[] {
  const waiting = files.toSorted((a, b) => b.seconds - a.seconds);
  const batches: { batch: Batch; seconds: number }[] = [];
  for (let file = waiting.shift(); file; file = waiting.shift()) {
    const batch = [file];
    let seconds = file.seconds;
    for (let next = waiting.at(-1); next && seconds + next.seconds <= most; next = waiting.at(-1)) {
      batch.push(next);
      waiting.pop();
      seconds += next.seconds;
    }
    batches.push({ batch: { kind: "files", files: batch }, seconds });
  }
  return batches;
}

export function jobsOf(batch: Batch): readonly Job[] {
  return batch.kind === "check" ? [batch.check] : batch.files;
}

/** Whether a job runs after the others, with the machine to itself. */
export function runsAlone(job: Job): boolean {
  return ALONE.some((name) => job.name.startsWith(name));
}

/** Whether two batches may run at once. */
export function canOverlap(one: Batch, other: Batch): boolean {
  return jobsOf(one).every((job) => jobsOf(other).every((beside) => mayRunBeside(job, beside)));
}

/**
 * Whether two jobs may run at once. A Docker engine adds and removes networks, and at each change a browser aborts its
 * requests (`ERR_NETWORK_CHANGED`).
 */
function mayRunBeside(one: Job, other: Job): boolean {
  return (
    !(needs(one, "docker") && needs(other, "browser")) && !(needs(one, "browser") && needs(other, "docker"))
  );
}

/** Whether a job needs something. */
export function needs(job: Job, what: Exclude<keyof Needs, "programs">): boolean {
  return job.kind === "file" && (job.needs[what] || (what === "binaries" && job.binaries));
}

/**
 * The jobs to run, the longest first, so that the run does not end with one long file on one processor.
 * @param patterns substrings of names; empty: all
 */
export function planTests(patterns: readonly string[]): Job[] {
  const durations = readDurations();
  const jobs = [...CHECKS.map((check): Job => ({ kind: "check", seconds: 0, ...check })), ...testFiles()];
  return jobs
    .filter(({ name }) => patterns.length === 0 || patterns.some((part) => name.includes(part)))
    .map((job) => ({ ...job, seconds: durations[job.name] ?? job.seconds }))
    .sort((a, b) => b.seconds - a.seconds);
}

function testFiles(): TestFile[] {
  const paths = [...new Glob("test/**/*.test.ts").scanSync({ cwd: ROOT })].sort();
  return paths.map((path) => {
    const binaries = BINARIES.some((part) => path.startsWith(part));
    return {
      kind: "file",
      name: binaries ? `${path} (binaries)` : path,
      path,
      binaries,
      needs: needsOf(path),
      seconds: statSync(join(ROOT, path)).size / BYTES_A_SECOND,
    };
  });
}

/** An estimate by size, for a file without a stored duration. */
const BYTES_A_SECOND = 1_000;
const DURATIONS = join(ROOT, "test/durations.json");

function readDurations(): Readonly<Record<string, number>> {
  return existsSync(DURATIONS) ? JSON.parse(readFileSync(DURATIONS, "utf8")) : {};
}

/**
 * Stores what each file took in whole seconds, at least one, so that the file rarely changes. It is processor time:
 * what else the machine did during this run does not count.
 */
export function recordDurations(took: readonly { name: string; cpuSeconds: number }[]): void {
  const whole = took.map(({ name, cpuSeconds }) => [name, Math.max(1, Math.round(cpuSeconds))]);
  const sorted = Object.fromEntries(whole.sort());
  writeFileSync(DURATIONS, `${JSON.stringify(sorted, null, 2)}\n`);
}
