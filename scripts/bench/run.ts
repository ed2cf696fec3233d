import { build } from "../build.ts";
import { cli } from "./cli.ts";
import { diff } from "./diff.ts";
import { listing } from "./listing.ts";
import { memory } from "./memory.ts";
import { merge } from "./merge.ts";
import { preview } from "./preview.ts";
import { readers } from "./readers.ts";
import { Report } from "./report.ts";
import { start } from "./start.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

/** Name → bench, in the order in which they run. */
const BENCHES: Record<string, (bench: Workbench) => Promise<void>> = {
  merge,
  preview,
  diff,
  listing,
  readers,
  cli,
  memory,
  start,
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name) && name !== "--no-build");
if (unknown.length > 0) {
  process.stderr.write(
    `bench: no such bench: ${unknown.join(", ")}. There are: ${Object.keys(BENCHES).join(", ")}\n`,
  );
  process.exit(2);
}
if (!names.includes("--no-build")) await build();
await runAll(names.filter((name) => name !== "--no-build"));

/** Runs the benches named, or all. They are no tests: a bar that does not hold is said, and no failure. */
async function runAll(wanted: readonly string[]): Promise<void> {
  const report = new Report();
  using bench = openWorkbench(report);
  for (const [name, run] of Object.entries(BENCHES)) {
    if (wanted.length === 0 || wanted.includes(name)) await run(bench);
  }
  process.stdout.write(`\n${report.summary()}\n`);
}
