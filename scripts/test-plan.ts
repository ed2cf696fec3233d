import { statSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { ROOT } from "./binaries.ts";
import { CHECKS } from "./checks.ts";

/** Suites that run a second time against `dist/`: a compiled binary is not the same program. */
const ALSO_BINARIES = ["test/api/", "test/cli/", "test/daemon/", "test/sandboxes/docker/session"];
/** Among them, those that call the source itself. */
const ONLY_SOURCE = [
  ...["test/daemon/app.", "test/daemon/saved", "test/daemon/prompt-outcome"],
  ...["test/cli/chat-conversation", "test/cli/chat-screen", "test/cli/table"],
];
/** Suites about the binaries themselves, or that take too long to run twice. */
const ONLY_BINARIES = [
  ...["test/e2e/", "test/daemon/opencode"],
  ...["test/api/git-clients", "test/api/hostile-input"],
];

/** Suites that hold a bound in seconds or bytes: another file's load would be in what they measure. */
const ALONE = ["test/api/hostile-repository", "test/dashboard/budget", "test/e2e/load", "test/git/hostile"];

/** Whether a job runs after the others, with the machine to itself. */
export function runsAlone(job: Job): boolean {
  return ALONE.some((name) => job.name.startsWith(name));
}

/** Whether a job has sandboxes in Docker; starting an engine takes some seconds. */
export function usesDocker(job: Job): boolean {
  return job.name.includes("docker");
}

/**
 * Whether two jobs may run at once. An engine gives the machine networks and takes them away, and at each change of these
 * a browser drops what it is loading (`ERR_NETWORK_CHANGED`).
 */
export function goTogether(one: Job, other: Job): boolean {
  return !(usesDocker(one) && usesBrowser(other)) && !(usesBrowser(one) && usesDocker(other));
}

function usesBrowser(job: Job): boolean {
  return job.name.includes("dashboard");
}

/** One process of the test run: a check, which counts as one test, or a file of tests. */
export type Job = { kind: "check"; name: string; command: string[] } | TestFile;
export interface TestFile {
  kind: "file";
  name: string;
  path: string;
  binaries: boolean;
}

/** @param patterns parts of names; none: everything. */
export function planTests(patterns: readonly string[]): Job[] {
  const jobs: Job[] = [...CHECKS.map((check): Job => ({ kind: "check", ...check })), ...testFiles()];
  return jobs.filter(({ name }) => patterns.length === 0 || patterns.some((part) => name.includes(part)));
}

/** The largest first, so that the run does not end with one long file on one processor. */
function testFiles(): TestFile[] {
  const size = (path: string) => statSync(join(ROOT, path)).size;
  const paths = [...new Glob("test/**/*.test.ts").scanSync({ cwd: ROOT })].sort((a, b) => size(b) - size(a));
  const under = (folders: string[]) => (path: string) => folders.some((folder) => path.startsWith(folder));
  const [also, not, only] = [under(ALSO_BINARIES), under(ONLY_SOURCE), under(ONLY_BINARIES)];
  const source = paths.filter((path) => !only(path)).map((path) => ({ path, binaries: false }));
  const binaries = paths
    .filter((path) => only(path) || (also(path) && !not(path)))
    .map((path) => ({ path, binaries: true }));
  return [...binaries, ...source].map((file) => ({
    kind: "file",
    name: file.binaries ? `${file.path} (binaries)` : file.path,
    ...file,
  }));
}
