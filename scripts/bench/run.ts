import { BuildError, build } from "../build.ts";
import { chat } from "./chat.ts";
import { cli } from "./cli.ts";
import { diff } from "./diff.ts";
import { docker } from "./docker.ts";
import { gitGateway } from "./git-gateway.ts";
import { listing } from "./listing.ts";
import { memory } from "./memory.ts";
import { merge } from "./merge.ts";
import { preview } from "./preview.ts";
import { proxy } from "./proxy.ts";
import { readers } from "./readers.ts";
import { Report } from "./report.ts";
import { sessions } from "./sessions.ts";
import { start } from "./start.ts";
import { webhooks } from "./webhooks.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

/** Name → bench, in the order in which they run. */
export const BENCHES: Record<string, (bench: Workbench) => Promise<void>> = {
  merge,
  preview,
  diff,
  listing,
  readers,
  "git-gateway": gitGateway,
  proxy,
  sessions,
  docker,
  chat,
  cli,
  memory,
  start,
  webhooks,
};

/** Measures the programs in dist/ as they are. */
const NO_BUILD = "--no-build";
/** Runs each for a moment, to see that it still does. */
const SMOKE = "--smoke";

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

/** They are no tests: a bar that does not hold is said, and the exit status is 0 all the same. */
async function main(words: readonly string[]): Promise<number> {
  const names = words.filter((word) => word !== NO_BUILD && word !== SMOKE);
  const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
  if (unknown.length > 0) {
    const known = Object.keys(BENCHES).join(", ");
    return fail(`there is no bench ${unknown.join(", ")}; there are: ${known}`);
  }
  try {
    if (!words.includes(NO_BUILD)) await build();
  } catch (error) {
    if (error instanceof BuildError) return fail(error.message);
    throw error;
  }
  const report = new Report({ smoke: words.includes(SMOKE) });
  using bench = openWorkbench(report);
  for (const [name, run] of Object.entries(BENCHES)) {
    if (names.length === 0 || names.includes(name)) await run(bench);
  }
  process.stdout.write(`\n${report.summary()}\n`);
  return 0;
}

function fail(sentence: string): number {
  process.stderr.write(`bench: ${sentence}\n`);
  return 2;
}
