import { dirname, join } from "node:path";
import { SNAPSHOT_FOLDER } from "../db/snapshot.ts";

export const ROOT = dirname(import.meta.dir);
export const DIST = join(ROOT, "dist");

export interface Binary {
  name: string;
  entry: string;
  /** Folders and files, relative to the root, that decide what comes out. */
  inputs: string[];
  flags: string[];
}

/**
 * Without the two `autoload` flags a binary runs the bunfig.toml and takes the .env of the folder it is started in:
 * the code of whatever repository that is.
 */
const EVERY_BINARY = [
  "--compile",
  "--bytecode",
  "--format=esm",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
  '--define=process.env.NODE_ENV="production"',
];
const COMMON_INPUTS = ["package.json", "bun.lock", "tsconfig.json", "patches", "scripts/binaries.ts", "src"];

export const BINARIES: readonly Binary[] = [
  {
    name: "svc-api",
    entry: "src/main.ts",
    inputs: [...COMMON_INPUTS, "db"],
    flags: [
      ...EVERY_BINARY,
      // Elysia reads the names of handlers' parameters: identifiers stay as they are.
      "--minify-whitespace",
      "--minify-syntax",
      // A log's stack traces name the source files.
      "--sourcemap",
      "--asset=db/migrations",
      `--asset=${SNAPSHOT_FOLDER}`,
    ],
  },
  {
    name: "svc",
    entry: "cli/main.ts",
    inputs: [...COMMON_INPUTS, "cli"],
    // A command is a module of its own, loaded when it is asked for.
    flags: [...EVERY_BINARY, "--minify", "--splitting"],
  },
];
