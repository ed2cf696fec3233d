import { existsSync, linkSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BINARIES, type Binary, DIST, MUSL_BINARIES, ROOT } from "./binaries.ts";
import { buildDashboard } from "./dashboard.ts";
import { makeSnapshot } from "./embedded-snapshot.ts";
import { run } from "./run.ts";
import { digest, readStamp, writeStamp } from "./stamp.ts";

/** The compiler's words are the message. */
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

/** Builds the binaries in `dist/` whose sources changed since they were built. */
export async function build(binaries = BINARIES): Promise<void> {
  const stale = binaries.filter(isStale);
  if (stale.length === 0) return;
  process.stderr.write(`svc: building ${stale.map((binary) => binary.name).join(", ")} …\n`);
  const begun = performance.now();
  const parts = Promise.all([makeSnapshot(), buildDashboard()]);
  await Promise.all(
    stale.map(async (binary) => {
      if (binary.flags.some((flag) => flag.startsWith("--asset="))) await parts;
      await compile(binary);
    }),
  );
  process.stderr.write(`svc: built in ${((performance.now() - begun) / 1000).toFixed(1)} s\n`);
}

function isStale(binary: Binary): boolean {
  const names = [binary.name, ...(binary.alias ? [binary.alias] : [])];
  return !names.every((name) => existsSync(join(DIST, name))) || readStamp(binary.name) !== digestOf(binary);
}

/** Into a folder of its own and then renamed: a binary that is running is not written to. */
async function compile(binary: Binary): Promise<void> {
  const stamp = digestOf(binary);
  const folder = join(DIST, `.${binary.name}-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  try {
    // The file's name is part of the binary, so it is the final one from the start: equal sources, equal bytes.
    const outfile = join(folder, binary.name);
    const command = [process.execPath, "build", ...binary.flags, `--outfile=${outfile}`, binary.entry];
    const { code, out, err } = await run(command, { cwd: ROOT });
    if (code !== 0) throw new BuildError(`${binary.name} could not be built:\n${out}${err}`);
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
  // a checkout that was moved is not built again
  const flags = binary.flags.map((flag) => flag.replace(ROOT, ""));
  return digest(binary.inputs, [binary.entry, ...flags]);
}
