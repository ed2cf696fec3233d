import { existsSync, linkSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BINARIES, type Binary, DIST, MUSL_BINARIES, ROOT } from "./binaries.ts";
import { buildDashboard } from "./dashboard.ts";
import { makeSnapshot } from "./embedded-snapshot.ts";
import { run } from "./run.ts";
import { digest, readStamp, writeStamp } from "./stamp.ts";

/** The message is the output of the compiler. */
export class BuildError extends Error {
  override readonly name = "BuildError";
}

if (import.meta.main) {
  await build(process.argv.includes("--musl") ? [...BINARIES, ...MUSL_BINARIES] : BINARIES).catch(
    (error: unknown) => {
      if (!(error instanceof BuildError)) throw error;
      process.stderr.write(`svc: ${error.message}\n`);
      process.exitCode = 1;
    },
  );
}

/** Builds the binaries in `dist/` whose sources have changed. */
export async function build(binaries = BINARIES): Promise<void> {
  const stale = binaries.filter(isStale);
  if (stale.length === 0) return;
  process.stderr.write(`svc: building ${stale.map((binary) => binary.name).join(", ")} …\n`);
  const begun = performance.now();
  const parts = stale.some(hasAssets) ? Promise.all([makeSnapshot(), buildDashboard()]) : null;
  await Promise.all(
    stale.map(async (binary) => {
      if (hasAssets(binary)) await parts;
      await compile(binary);
    }),
  );
  process.stderr.write(`svc: built in ${((performance.now() - begun) / 1000).toFixed(1)} s\n`);
}

function hasAssets({ flags }: Binary): boolean {
  return flags.some((flag) => flag.startsWith("--asset="));
}

function isStale(binary: Binary): boolean {
  const names = [binary.name, ...(binary.alias ? [binary.alias] : [])];
  return !names.every((name) => existsSync(join(DIST, name))) || readStamp(binary.name) !== digestOf(binary);
}

/** Builds in a temporary folder, then renames: a running binary cannot be written to. */
async function compile(binary: Binary): Promise<void> {
  const stamp = digestOf(binary);
  const folder = join(DIST, `.${binary.name}-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    // the binary contains its file name, so build with the final name: equal sources, equal bytes
    const outfile = join(folder, binary.name);
    const command = [process.execPath, "build", ...binary.flags, `--outfile=${outfile}`, binary.entry];
    const { code, out, err } = await run(command, { cwd: ROOT });
    if (code !== 0) throw new BuildError(`Cannot build ${binary.name}:\n${out}${err}`);
    if (binary.alias) {
      linkSync(outfile, `${outfile}.alias`);
      renameSync(`${outfile}.alias`, join(DIST, binary.alias));
    }
    renameSync(outfile, join(DIST, binary.name));
    writeStamp(binary.name, stamp);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function digestOf(binary: Binary): string {
  // independent of the location of the checkout
  const flags = binary.flags.map((flag) => flag.replace(ROOT, ""));
  return digest(binary.inputs, [binary.entry, ...flags]);
}
