import { dirname, join } from "node:path";
import { SNAPSHOT_FOLDER } from "../db/snapshot.ts";
import { DASHBOARD_FOLDER } from "../src/edge/dashboard/files.ts";

export const ROOT = dirname(import.meta.dir);
export const DIST = join(ROOT, "dist");

export interface Binary {
  name: string;
  entry: string;
  /** Folders and files, relative to the root, that decide what comes out. */
  inputs: string[];
  flags: string[];
  /** Another name in `dist/` for the same file, by which it does something else. */
  alias?: string;
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
const EVERY_INPUT = ["package.json", "bun.lock", "tsconfig.json", "patches", "scripts/binaries.ts"];
const COMMON_INPUTS = [...EVERY_INPUT, "src"];

export const BINARIES: readonly Binary[] = [
  {
    name: "svc-api",
    entry: "src/main.ts",
    inputs: [...COMMON_INPUTS, "db", "dashboard", "scripts/dashboard.ts"],
    flags: [
      ...EVERY_BINARY,
      // Elysia reads the names of handlers' parameters: identifiers stay as they are.
      "--minify-whitespace",
      "--minify-syntax",
      // The Docker client's ssh part asks for it, and does without: it is native code.
      "--external=cpu-features",
      // A log's stack traces name the source files.
      "--sourcemap",
      "--asset=db/migrations",
      `--asset=${SNAPSHOT_FOLDER}`,
      `--asset=${DASHBOARD_FOLDER}`,
    ],
  },
  {
    name: "svc",
    entry: "cli/main.ts",
    inputs: [...COMMON_INPUTS, "cli"],
    // A command is a module of its own, loaded when it is asked for.
    flags: [...EVERY_BINARY, "--minify", "--splitting"],
  },
  {
    name: "svc-agent",
    entry: "daemon/main.ts",
    inputs: [...EVERY_INPUT, "src/contract", "src/splice", "daemon"],
    flags: [...EVERY_BINARY, "--minify"],
    alias: "svc-entrypoint",
  },
];

/** What runs in a sandbox, for images on musl (Alpine): built only when it is asked for, with a Bun that is fetched. */
export const MUSL_BINARIES: readonly Binary[] = BINARIES.filter(({ name }) => name !== "svc-api").map(
  ({ alias, ...binary }) => ({
    ...binary,
    name: `${binary.name}-musl`,
    flags: [...binary.flags, `--target=bun-linux-${process.arch}-musl`],
    ...(alias && { alias: `${alias}-musl` }),
  }),
);
