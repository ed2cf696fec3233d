import { exemptLoopback } from "../../src/contract/proxy.ts";
import { BuildError, build } from "../build.ts";
import { chat } from "./chat.ts";
import { cli } from "./cli.ts";
import { diff } from "./diff.ts";
import { docker } from "./docker.ts";
import { gitGateway } from "./git-gateway.ts";
import { idle } from "./idle.ts";
import { listing } from "./listing.ts";
import { longList } from "./long-list.ts";
import { merge } from "./merge.ts";
import { models } from "./models.ts";
import { page } from "./page.ts";
import { preview } from "./preview.ts";
import { proxy } from "./proxy.ts";
import { readers } from "./readers.ts";
import { Report } from "./report.ts";
import { scrolling } from "./scrolling.ts";
import { search } from "./search.ts";
import { sessions } from "./sessions.ts";
import { stored } from "./stored.ts";
import { talking } from "./talking.ts";
import { webhooks } from "./webhooks.ts";
import { openWorkbench, type Workbench } from "./workbench.ts";

/** The benchmarks by name, in the order in which they run. */
export const BENCHES: Record<string, (bench: Workbench) => Promise<void>> = {
  merge,
  preview,
  diff,
  listing,
  readers,
  search,
  "git-gateway": gitGateway,
  proxy,
  sessions,
  docker,
  chat,
  cli,
  page,
  scrolling,
  "long-list": longList,
  stored,
  talking,
  webhooks,
  models,
  idle,
};

/** Skips the build and measures the programs in dist/. */
const NO_BUILD = "--no-build";
/** Runs each benchmark with minimal amounts, to check that it works. */
const SMOKE = "--smoke";

exemptLoopback(process.env);
if (import.meta.main) process.exitCode = await main(process.argv.slice(2));

/** Benchmarks are not tests: a bar that does not hold is reported, but the exit status is 0. */
async function main(words: readonly string[]): Promise<number> {
  const names = words.filter((word) => word !== NO_BUILD && word !== SMOKE);
  const unknown = names.filter((name) => !Object.hasOwn(BENCHES, name));
  if (unknown.length > 0) {
    const known = Object.keys(BENCHES).join(", ");
    return fail(`unknown benchmark: ${unknown.join(", ")}. Known benchmarks: ${known}`);
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
