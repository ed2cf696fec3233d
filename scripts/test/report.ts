import { existsSync, readFileSync } from "node:fs";
import { hasFailed, type JobResult } from "./job.ts";

/** Number of files to list that took the most processor time. */
const MOST = 10;

/** The text of a failure: its output and the commands to repeat it. */
export function failureText(result: JobResult): string {
  const output = withoutPassed(result.output).replace(/^/gm, "      ");
  return [`FAIL  ${result.job.name} (seed ${result.seed})`, output, ...commandsOf(result)].join("\n");
}

/**
 * The summary of a run: missing requirements, the files that took the most processor time, one command for each failure,
 * and the totals in the last line.
 * @param skipsFile written by `test/helpers/needs.ts`: one line of JSON for each skipped test
 */
export function reportText(results: readonly JobResult[], skipsFile: string): string {
  const failures = results.filter(hasFailed);
  return [
    ...skipLines(results, skipsFile),
    ...costLines(results),
    ...(failures.length > 0 ? ["to repeat what failed:", ...failures.flatMap(commandsOf)] : []),
    totals(results),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function skipLines(results: readonly JobResult[], skipsFile: string): string[] {
  const lines = existsSync(skipsFile) ? readFileSync(skipsFile, "utf8").trim().split("\n") : [];
  const named = lines.filter(Boolean).map((line): { name: string; title: string } => JSON.parse(line));
  const known = new Set(named.map(({ title }) => title));
  const others = results.flatMap(({ skipped }) => skipped).filter((title) => !known.has(title));
  return [
    ...[...Map.groupBy(named, ({ name }) => name)].flatMap(([name, tests]) =>
      group(
        `skipped, requires ${name}`,
        tests.map(({ title }) => title),
      ),
    ),
    ...(others.length > 0 ? group("skipped for other reasons", others) : []),
  ];
}

function group(heading: string, titles: readonly string[]): string[] {
  return [`${heading}: ${titles.length}`, ...titles.map((title) => `  ${title}`)];
}

function costLines(results: readonly JobResult[]): string[] {
  if (results.length <= MOST) return [];
  const most = results.toSorted((a, b) => b.cpuSeconds - a.cpuSeconds).slice(0, MOST);
  const total = results.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0);
  return [
    `${total.toFixed(0)} s of processor time; the files with the most, and how long they took:`,
    ...most.map(
      ({ job, cpuSeconds, seconds }) => `  ${inColumn(cpuSeconds)}  ${inColumn(seconds)}  ${job.name}`,
    ),
  ];
}

function inColumn(seconds: number): string {
  return `${seconds.toFixed(1).padStart(6)} s`;
}

/** The command that runs the file, for failures outside of tests. */
function commandsOf({ job, seed, failed }: JobResult): string[] {
  const words = ["  npm test --", "--seed", seed];
  const name = quote(job.name);
  if (failed.length === 0) return [[...words, name].join(" ")];
  return failed.map((title) => [...words, "--only", quote(title), name].join(" "));
}

/** Quotes a word for a POSIX shell. */
function quote(text: string): string {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function totals(results: readonly JobResult[]): string {
  const sum = (count: (result: JobResult) => number) =>
    results.reduce((total, result) => total + count(result), 0);
  const skipped = sum(({ skipped }) => skipped.length);
  const failed = sum(({ failed, broken }) => failed.length + Number(broken));
  const parts = [`${sum(({ passed }) => passed)} passed`, `${failed} failed`];
  return [...parts, ...(skipped > 0 ? [`${skipped} skipped`] : [])].join(", ");
}

/** The relevant lines of the output: CI may truncate logs, so passed tests are left out. */
function withoutPassed(output: string): string {
  return output.replace(/^\(pass\) .*\n/gm, "").trim();
}
