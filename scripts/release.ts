import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import manifest from "../package.json" with { type: "json" };
import { isVersion, SBOM_FILE } from "../src/contract/release.ts";
import { ROOT } from "./binaries.ts";
import { buildDashboard } from "./dashboard.ts";
import { makeSnapshot } from "./embedded-snapshot.ts";
import {
  RELEASE_USAGE,
  type ReleaseArguments,
  ReleaseUsageError,
  readReleaseArguments,
} from "./release/arguments.ts";
import { type Artifact, makeArtifact } from "./release/artifact.ts";
import { ReleaseBuildError } from "./release/failure.ts";
import { signingKey } from "./release/key.ts";
import { mainPackage, type NpmPackage, platformPackage } from "./release/npm-packages.ts";
import { publishRelease } from "./release/publish.ts";
import { sbomOf } from "./release/sbom.ts";
import { targetsOf } from "./release/targets.ts";

/** gzip of the npm packages. */
const [NPM_LEVEL, NPM_FAST_LEVEL] = [9, 1];

try {
  const wanted = readReleaseArguments(process.argv.slice(2));
  if (wanted) await release(wanted);
  else process.stdout.write(RELEASE_USAGE);
} catch (error) {
  if (!(error instanceof ReleaseUsageError || error instanceof ReleaseBuildError)) throw error;
  process.stderr.write(`FAIL  ${error.message}\n`);
  process.exitCode = error instanceof ReleaseUsageError ? 2 : 1;
}

/** Builds everything before it writes anything: a check that fails leaves the last release as it is. */
async function release(wanted: ReleaseArguments): Promise<void> {
  const begun = performance.now();
  const { version } = manifest;
  if (!isVersion(version))
    throw new ReleaseBuildError(`The version of package.json, ${version}, is not semver.`);
  const key = signingKey(process.env);
  const targets = targetsOf(wanted.programs, wanted.platforms);
  if (targets.length === 0) throw new ReleaseBuildError("No program exists for the chosen platforms.");
  if (wanted.programs.includes("svc-api")) await Promise.all([makeSnapshot(), buildDashboard()]);
  const folder = mkdtempSync(join(tmpdir(), "svc-release-"));
  try {
    const context = { version, publicKey: key.publicKey, folder, isFast: wanted.isFast };
    const files = new Map<string, Uint8Array>();
    const packages: NpmPackage[] = [];
    await inLanes(targets, async (target) => {
      const artifact = await makeArtifact(target, context);
      files.set(artifact.name, artifact.archive);
      if (target.program === "svc") packages.push(await packageOf(artifact, version, wanted.isFast));
    });
    files.set(SBOM_FILE, Buffer.from(sbomOf(ROOT)));
    if (packages.length > 0) writePackages(wanted.out, version, [await mainPackage(version), ...packages]);
    publishRelease(wanted.out, version, files, key);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const seconds = Math.round((performance.now() - begun) / 1000);
  process.stdout.write(`release ${version} is in ${join(wanted.out, version)} (${seconds} s)\n`);
}

function packageOf({ target, program }: Artifact, version: string, isFast: boolean): Promise<NpmPackage> {
  return platformPackage(target.platform, version, program, isFast ? NPM_FAST_LEVEL : NPM_LEVEL);
}

/** Beside the versions, so that a server does not offer them as files of a release. */
function writePackages(out: string, version: string, packages: readonly NpmPackage[]): void {
  const folder = join(out, "npm", version);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const { file, bytes } of packages) writeFileSync(join(folder, file), bytes);
}

/** Calls `work` for each item, as many at once as there are processors. The first failure ends it. */
async function inLanes<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const lane = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}
