import { dirname, join } from "node:path";
import { SNAPSHOT_FOLDER } from "../db/snapshot.ts";
import { DASHBOARD_FOLDER } from "../src/edge/dashboard/files.ts";

export const ROOT = dirname(import.meta.dir);
export const DIST = join(ROOT, "dist");

export interface Binary {
  name: string;
  entry: string;
  /** The inputs of the build: folders and files, relative to the root. */
  inputs: string[];
  flags: string[];
  /** A second name of the same file in `dist/`, which selects another mode. */
  alias?: string;
}

/**
 * Without the two `autoload` flags a binary loads the bunfig.toml and the .env of its working directory, which may be an
 * untrusted repository.
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
    inputs: [
      ...COMMON_INPUTS,
      ...["db", "dashboard", "scripts/dashboard.ts", "scripts/dashboard-documents.ts", "scripts/install.sh"],
    ],
    flags: [
      ...EVERY_BINARY,
      // do not minify identifiers: Elysia reads the parameter names of handlers
      "--minify-whitespace",
      "--minify-syntax",
      // an optional native dependency of the Docker client's ssh support
      "--external=cpu-features",
      // for source files in the stack traces of logs
      "--sourcemap",
      "--asset=db/migrations",
      `--asset=${SNAPSHOT_FOLDER}`,
      `--asset=${DASHBOARD_FOLDER}`,
      "--asset=scripts/install.sh",
    ],
  },
  {
    name: "svc",
    entry: "cli/main.ts",
    inputs: [...COMMON_INPUTS, "cli"],
    // each command is a module that is loaded on demand
    flags: [...EVERY_BINARY, "--minify", "--splitting"],
  },
  {
    name: "svc-agent",
    entry: "daemon/main.ts",
    inputs: [...EVERY_INPUT, "src/contract", "src/splice", "daemon"],
    // an optional native dependency of ssh2, which is slower without it
    flags: [...EVERY_BINARY, "--minify", "--external=cpu-features"],
    alias: "svc-entrypoint",
  },
];

const SERVER = BINARIES.filter(({ name }) => name === "svc-api");

/** The daemon alone, for tests that start nothing else from `dist/`. */
export const AGENT = BINARIES.filter(({ name }) => name === "svc-agent");

/**
 * Programs of the tests, which only the test command builds: the servers, which may stop or die between two steps, and the
 * stand-in of the agent runtime. Each has the environment variable by which tests find it.
 */
export const TEST_PROGRAMS: readonly (Binary & { variable: string })[] = [
  ...SERVER.map(({ inputs, flags }) => ({
    variable: "SVC_TEST_SERVER",
    name: "svc-test-server",
    entry: "test/helpers/test-server.ts",
    inputs: [...inputs, "test/helpers"],
    flags,
  })),
  {
    variable: "SVC_TEST_RUNTIME",
    name: "svc-test-opencode",
    entry: "test/helpers/opencode.ts",
    inputs: [...EVERY_INPUT, "src/contract", "test/helpers"],
    flags: [...EVERY_BINARY, "--external=cpu-features"],
  },
];

/** svc-agent for sandbox images with musl (Alpine). Built on demand, with a Bun that is downloaded. */
export const MUSL_BINARIES: readonly Binary[] = BINARIES.filter(({ name }) => name !== "svc-api").map(
  ({ alias, ...binary }) => ({
    ...binary,
    name: `${binary.name}-musl`,
    flags: [...binary.flags, `--target=bun-linux-${process.arch}-musl`],
    ...(alias && { alias: `${alias}-musl` }),
  }),
);
