import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { PLATFORMS, type Platform, type Program } from "../../src/contract/release.ts";
import { DIST } from "../binaries.ts";
import { PROGRAMS } from "./targets.ts";

export interface ReleaseArguments {
  platforms: readonly Platform[];
  programs: readonly Program[];
  /** The folder of all releases. */
  out: string;
  isFast: boolean;
}

/** An invalid command line; exit status 2. */
export class ReleaseUsageError extends Error {
  override readonly name = "ReleaseUsageError";
}

export const RELEASE_USAGE = `Builds a release: programs, checksums, signature, bill of materials and npm packages (docs/release.md).

  npm run release [-- <options>]

  --only <platform>     only this platform; repeat for more. One of
                        ${PLATFORMS.join(", ")}
  --program <program>   only this program; repeat for more. One of ${PROGRAMS.join(", ")}
  --out <folder>        the folder of all releases (dist/releases)
  --fast                do not compress the archives: for trying the build
  --help                print this text

SVC_RELEASE_KEY names the file of the private key (Ed25519, PKCS#8 PEM). Without it, a key of your own is used, which is
created once in ~/.config/svc-release.
`;

/**
 * @returns null if the usage is to be printed
 * @throws ReleaseUsageError
 */
export function readReleaseArguments(argv: string[]): ReleaseArguments | null {
  const { help, only = [], program = [], out, fast = false } = parse(argv);
  if (help) return null;
  return {
    platforms: only.length > 0 ? chosen("--only", only, PLATFORMS) : PLATFORMS,
    programs: program.length > 0 ? chosen("--program", program, PROGRAMS) : PROGRAMS,
    out: out === undefined ? join(DIST, "releases") : resolve(out),
    isFast: fast,
  };
}

function parse(args: string[]) {
  try {
    return parseArgs({
      args,
      options: {
        only: { type: "string", multiple: true },
        program: { type: "string", multiple: true },
        out: { type: "string" },
        fast: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new ReleaseUsageError(error instanceof Error ? error.message : String(error));
  }
}

function chosen<T extends string>(flag: string, words: readonly string[], all: readonly T[]): readonly T[] {
  return words.map((word) => {
    const found = all.find((each) => each === word);
    if (found === undefined)
      throw new ReleaseUsageError(`${flag} must be one of ${all.join(", ")}, not "${word}".`);
    return found;
  });
}
