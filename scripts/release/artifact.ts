import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ARCHIVE_BYTES_MAX, archiveName, filesInArchive, type Program } from "../../src/contract/release.ts";
import { ROOT } from "../binaries.ts";
import { type ArchiveFile, type Compression, tar, xz } from "./archive.ts";
import { FormatError } from "./bytes.ts";
import { compileTarget } from "./compile.ts";
import { ReleaseBuildError } from "./failure.ts";
import { inspectProgram } from "./inspect.ts";
import type { Target } from "./targets.ts";
import { trialRun } from "./trial-run.ts";
import { storeAsXz } from "./xz-stored.ts";

export interface Artifact {
  target: Target;
  /** The name of the archive. */
  name: string;
  archive: Buffer;
  /** The program in it, as compiled. */
  program: Uint8Array;
}

/**
 * Compiles, checks and archives a program. Prints a line for it to stdout, and the steps, which take minutes, to stderr.
 * @throws ReleaseBuildError
 */
export async function makeArtifact(
  target: Target,
  {
    version,
    publicKey,
    folder,
    isFast,
  }: { version: string; publicKey: string; folder: string; isFast: boolean },
): Promise<Artifact> {
  const label = `${target.program} ${target.platform}`;
  const step = (name: string) => process.stderr.write(`      ${label}: ${name} …\n`);
  step("building");
  const path = await compileTarget(target, publicKey, folder);
  try {
    const program = await Bun.file(path).bytes();
    const found = inspectProgram(program, target.platform);
    const ran = await trialRun(target, path, version);
    const unpacked = await tar(filesOf(target, program, await license()));
    step("compressing");
    const archive = isFast ? storeAsXz(unpacked) : await xz(unpacked, compressionFor(target));
    if (!isFast) checkSize(archive.length, target.program);
    process.stdout.write(`ok    ${label}: ${found}; ${ran}; ${megabytes(archive.length)}\n`);
    const name = archiveName(target.program, version, target.platform);
    return { target, name, archive, program };
  } catch (error) {
    if (!(error instanceof ReleaseBuildError || error instanceof FormatError)) throw error;
    throw new ReleaseBuildError(`${label}: ${error.message}`);
  } finally {
    rmSync(dirname(path), { recursive: true, force: true });
  }
}

/** svc-api is unpacked on servers only, with liblzma; the others also with busybox, on Alpine. */
function compressionFor({ program, platform }: Target): Compression {
  if (program !== "svc-api") return "common";
  return platform.includes("arm64") ? "arm64" : "x64";
}

function checkSize(bytes: number, program: Program): void {
  const limit = ARCHIVE_BYTES_MAX[program];
  if (bytes > limit)
    throw new ReleaseBuildError(`the archive has ${megabytes(bytes)}; the limit is ${megabytes(limit)}`);
}

export function license(): Promise<Uint8Array> {
  return Bun.file(join(ROOT, "LICENSE")).bytes();
}

function filesOf({ program, platform }: Target, bytes: Uint8Array, text: Uint8Array): ArchiveFile[] {
  const [name = ""] = filesInArchive(program, platform);
  return filesInArchive(program, platform).map((each): ArchiveFile => {
    if (each === "LICENSE") return { name: each, isProgram: false, bytes: text };
    return each === name ? { name, isProgram: true, bytes } : { name: each, isProgram: true, linkTo: name };
  });
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
