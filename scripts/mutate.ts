import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { generator, pick } from "../test/helpers/random.ts";
import { ROOT } from "./binaries.ts";
import { AREAS, type Area } from "./mutate/areas.ts";
import { type Mutant, mutantsOf } from "./mutate/mutants.ts";
import { SAME } from "./mutate/same.ts";
import { startPostgres } from "./postgres-server.ts";
import { makeRunFolder } from "./test/folder.ts";
import { TEST_LIMIT_MS } from "./test/limit.ts";
import { showProgress } from "./test/progress.ts";
import { seedOfCommit } from "./test/seed.ts";

const USAGE = `npm run mutate -- [--count N] [--seed N] [part of a path ...]

Changes one token of the source at a time, and lists the changes that no test of its area detects.
  --count N  so many changes, drawn by the seed (60); 0: all
`;
/** Time limit: a mutant that makes a test hang counts as detected. */
const SLOWER = 4;
const PATIENCE_MS = 15_000;

interface Trial extends Mutant {
  path: string;
  area: Area;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    count: { type: "string", default: "60" },
    seed: { type: "string" },
    help: { type: "boolean", short: "h" },
  },
});
try {
  if (values.help) process.stdout.write(USAGE);
  else
    process.exitCode = await mutate(whole(values.count), values.seed ? whole(values.seed) : seedOfCommit());
} catch (error) {
  process.stderr.write(`npm run mutate: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 2;
}

function whole(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new Error(`--count and --seed must be an integer, not "${text}"`);
}

/** @returns the exit status: 1 if a mutant was not detected */
async function mutate(count: number, seed: number): Promise<number> {
  const all = allTrials();
  const trials = pick(count || all.length, all, generator(seed));
  process.stdout.write(`seed ${seed}: ${trials.length} changes\n`);
  const folder = await makeRunFolder(() => {});
  const postgres = await startPostgres();
  const env = {
    ...process.env,
    TMPDIR: folder.path,
    SVC_TEST_SKIPS: join(folder.path, "skips"),
    TEST_DATABASE_URL: "url" in postgres ? postgres.url : "",
  };
  try {
    const tree = copyTree(join(folder.path, "tree"));
    const usual = new Map<Area, number>();
    let survived = 0;
    const progress = showProgress(process.stdout, trials.length);
    for (const [done, trial] of trials.entries()) {
      progress.show([trial.path], done, survived);
      const known = usual.get(trial.area) ?? (await timeOf(tree, trial.area, env));
      usual.set(trial.area, known);
      const file = join(tree, trial.path);
      writeFileSync(file, trial.text);
      const passed = await testsPass(tree, trial.area, env, known * SLOWER + PATIENCE_MS);
      writeFileSync(file, readFileSync(join(ROOT, trial.path)));
      if (passed) {
        survived++;
        progress.print(`${trial.path}:${trial.line}\n  - ${trial.before}\n  + ${trial.after}`);
      }
    }
    progress.end();
    process.stdout.write(`${trials.length - survived} of ${trials.length} noticed\n`);
    return survived === 0 ? 0 : 1;
  } finally {
    if ("stop" in postgres) await postgres.stop();
    await folder.remove();
  }
}

function allTrials(): Trial[] {
  return AREAS.flatMap((area) =>
    area.sources
      .filter((path) => positionals.length === 0 || positionals.some((part) => path.includes(part)))
      .flatMap((path) =>
        mutantsOf(path, readFileSync(join(ROOT, path), "utf8"))
          .filter(({ after }) => !SAME.has(`${path}: ${after}`))
          .map((mutant) => ({ ...mutant, path, area })),
      ),
  );
}

/** Copies the tracked files of the work tree, so that mutants never change the originals. */
function copyTree(to: string): string {
  const listed = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: ROOT,
  });
  for (const path of listed.stdout.toString().split("\0").filter(Boolean)) {
    mkdirSync(dirname(join(to, path)), { recursive: true });
    cpSync(join(ROOT, path), join(to, path));
  }
  for (const path of ["node_modules", "dist"]) symlinkSync(join(ROOT, path), join(to, path));
  return to;
}

/** Milliseconds that the tests take. @throws if they fail without a mutant */
async function timeOf(tree: string, area: Area, env: Record<string, string | undefined>): Promise<number> {
  const begun = performance.now();
  if (await testsPass(tree, area, env, Number.MAX_SAFE_INTEGER)) return performance.now() - begun;
  throw new Error(`these tests fail without a mutant: ${area.tests.join(", ")}`);
}

async function testsPass(
  tree: string,
  area: Area,
  env: Record<string, string | undefined>,
  limitMs: number,
): Promise<boolean> {
  const files = area.tests.map((name) => `test/${name}.test.ts`);
  const child = Bun.spawn(
    [process.execPath, "test", "--no-orphans", "--bail", `--timeout=${TEST_LIMIT_MS}`, ...files],
    {
      cwd: tree,
      env,
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    },
  );
  const timer = setTimeout(() => child.kill("SIGKILL"), Math.min(limitMs, 2 ** 31 - 1));
  const passed = (await child.exited) === 0;
  clearTimeout(timer);
  return passed;
}
