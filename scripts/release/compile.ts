import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { filesInArchive } from "../../src/contract/release.ts";
import { BINARIES, ROOT } from "../binaries.ts";
import { run } from "../run.ts";
import { bunRuntime } from "./bun-runtime.ts";
import { ReleaseBuildError } from "./failure.ts";
import { signAdHoc } from "./macho-sign.ts";
import { withoutSourceTexts } from "./source-map.ts";
import { BUN_NAMES, type Target } from "./targets.ts";

/**
 * Compiles a program for a platform into `folder`: equal sources and keys give equal bytes. Uses no network if the Bun of
 * the platform is in the cache.
 * @param publicKey the key that the program trusts releases of, in PEM
 * @returns the path of the program
 * @throws ReleaseBuildError
 */
export async function compileTarget(target: Target, publicKey: string, folder: string): Promise<string> {
  const binary = BINARIES.find(({ name }) => name === target.program);
  if (!binary) throw new ReleaseBuildError(`${target.program} is not in scripts/binaries.ts.`);
  const [name = ""] = filesInArchive(target.program, target.platform);
  // the program contains its file name, but not its folder
  const outfile = join(folder, `${target.program}-${target.platform}`, name);
  mkdirSync(dirname(outfile), { recursive: true });
  const { code, out, err } = await run(
    [
      ...[process.execPath, "build", ...binary.flags],
      `--target=${BUN_NAMES[target.platform].target}`,
      `--compile-executable-path=${await bunRuntime(target.platform)}`,
      `--define=SVC_BUILD_RELEASE_KEY=${JSON.stringify(publicKey)}`,
      ...[`--outfile=${outfile}`, binary.entry],
    ],
    { cwd: ROOT },
  );
  if (code !== 0)
    throw new ReleaseBuildError(`Cannot compile ${target.program} for ${target.platform}:\n${out}${err}`);
  // for this platform Bun leaves the signature of its own program, which does not match, and macOS would not run it
  if (target.platform === "macos-x64")
    await Bun.write(outfile, signAdHoc(await Bun.file(outfile).bytes(), target.program));
  if (binary.flags.includes("--sourcemap"))
    await Bun.write(outfile, withoutSourceTexts(await Bun.file(outfile).bytes()));
  return outfile;
}
